"""Container quota and usage, as in the service's headers."""

from typing import Final

# documentSize is in MB, the other sizes in KB; -1 means no limit. Only the number of items is measured, and only when a
# container is read with `x-ms-documentdb-populatequotainfo`. Microsoft's Spark connector relies on the number
# (azure-sdk-for-java, azure-cosmos-spark_3, `estimateStatistics`).
QUOTA: Final = (
    "functions=50;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;"
    "collectionSize=10485760;"
)
_USAGE: Final = (
    "functions=0;storedProcedures=0;triggers=0;documentSize=0;documentsSize=0;documentsCount={};collectionSize=0;"
)


def usage(items: int = -1) -> str:
    """Return the usage of a container with so many items; -1 if they are not counted."""
    return _USAGE.format(items)
