"""Quota and usage of a container as the service's headers state them. Usage is not measured: it is always 0."""

from __future__ import annotations


def resource_quota() -> str:
    """Return the quota: `documentSize` in MB, `documentsSize` and `collectionSize` in KB, -1 for no limit."""
    return (
        "functions=50;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;"
        "collectionSize=10485760;"
    )


def resource_usage() -> str:
    """Return the usage, with the same properties."""
    return (
        "functions=0;storedProcedures=0;triggers=0;documentSize=0;documentsSize=0;documentsCount=-1;collectionSize=0;"
    )
