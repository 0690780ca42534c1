"""Container quota and usage, as in the service's headers."""

from typing import Final

# documentSize is in MB, the other sizes in KB; -1 means no limit. Usage is not measured.
QUOTA: Final = (
    "functions=50;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;"
    "collectionSize=10485760;"
)
USAGE: Final = (
    "functions=0;storedProcedures=0;triggers=0;documentSize=0;documentsSize=0;documentsCount=-1;collectionSize=0;"
)
