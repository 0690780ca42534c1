"""Physical partitions."""

from __future__ import annotations

from dataclasses import dataclass

from azure.cosmos.aio import ContainerProxy

from .lease import FeedRange


@dataclass(frozen=True)
class PhysicalPartition:
    """A partition key range."""

    id: str
    feed_range: FeedRange


async def read_partitions(container: ContainerProxy) -> list[PhysicalPartition]:
    """Read the current partition key ranges.

    The public `read_feed_ranges` omits their IDs, so this calls the private method behind it (azure-cosmos
    _cosmos_client_connection_async.py).
    """
    pager = container.client_connection._ReadPartitionKeyRanges(container.container_link)
    return [
        PhysicalPartition(item["id"], FeedRange(item["minInclusive"], item["maxExclusive"])) async for item in pager
    ]
