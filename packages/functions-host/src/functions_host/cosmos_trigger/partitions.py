"""The physical partitions of a container, as the service lists them."""

from __future__ import annotations

from dataclasses import dataclass

from azure.cosmos.aio import ContainerProxy

from .lease import FeedRange


@dataclass(frozen=True)
class PhysicalPartition:
    """A partition key range: its id and the keys it holds."""

    id: str
    feed_range: FeedRange


async def read_partitions(container: ContainerProxy) -> list[PhysicalPartition]:
    """The present ranges, read from the service.

    The SDK's public `read_feed_ranges` hides the ids, which lease documents are named after; the method behind it
    (azure-cosmos _cosmos_client_connection_async.py) gives them.
    """
    pager = container.client_connection._ReadPartitionKeyRanges(container.container_link)
    return [
        PhysicalPartition(item["id"], FeedRange(item["minInclusive"], item["maxExclusive"])) async for item in pager
    ]
