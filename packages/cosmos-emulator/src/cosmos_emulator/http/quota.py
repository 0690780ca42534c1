"""What a container may hold and holds, in the form of the service's headers. Sizes are not measured: all read 0."""

from __future__ import annotations


def resource_quota() -> str:
    """`documentSize` in MB, `documentsSize` and `collectionSize` in KB, -1 for no bound."""
    return (
        "functions=50;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;"
        "collectionSize=10485760;"
    )


def resource_usage() -> str:
    """The same properties, nothing counted."""
    return (
        "functions=0;storedProcedures=0;triggers=0;documentSize=0;documentsSize=0;documentsCount=-1;collectionSize=0;"
    )
