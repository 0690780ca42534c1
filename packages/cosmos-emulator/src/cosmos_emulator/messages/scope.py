"""The part of a container that a request reads: a logical partition, a range of keys, or all.

A query runs in the gateway, or range by range in the client. Source: PartitionRoutingHelper.cs of the .NET SDK. If
results must be merged, a cross-partition query fails with 400/1004 and its plan, and the SDK merges. With a header
unknown to the service, this emulator merges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.sessions import known_lsn, session_lsns
from cosmos_emulator.partitioning.ranges import END, FIRST, KeyRange
from cosmos_emulator.query import QueryFeatures, combined_across_partitions
from cosmos_emulator.reads.query_text import QueryText
from cosmos_emulator.reads.slices import Slice, slice_of, slices_of_key, slices_of_range
from cosmos_emulator.store.account import Container
from cosmos_emulator.vocabulary.consistency import STALENESS_PREFIX

RANGE_GONE: Final = 1002
NEEDS_PLAN: Final = 1004


def slices_of(request: Request, container: Container) -> list[Slice]:
    """Return the slices in the headers, in key order, or the whole container."""
    key = request.optional_partition_key(container)
    return _slices_without_key(request, container) if key is None else slices_of_key(container, key)


def _slices_without_key(request: Request, container: Container) -> list[Slice]:
    """Return the slices in the headers of a request without a partition key."""
    bounds = KeyRange(request.headers.get(h.START_EPK, FIRST), request.headers.get(h.END_EPK, END))
    range_id = request.headers.get(h.PARTITION_KEY_RANGE_ID)
    if range_id is None:
        return slices_of_range(container, bounds)
    partition = container.partition_by_id(range_id.rpartition(",")[2])
    if partition is None:
        raise CosmosError(410, f"Partition key range {range_id} is gone.", sub_status=RANGE_GONE)
    return [slice_of(partition, bounds)]


def slices_of_query(request: Request, container: Container, text: QueryText) -> list[Slice]:
    """Return the slices that the query reads.

    Raises 400 without a required cross-partition flag, 400/1004 if the client must merge.
    """
    slices = _slices(request, container, text)
    if text.features.reads_combined_rows and len(slices) > 1 and not request.flag(h.MERGE_PARTITIONS):
        raise combined_across_partitions()
    return slices


def _slices(request: Request, container: Container, text: QueryText) -> list[Slice]:
    key = request.optional_partition_key(container)
    if key is not None:
        return slices_of_key(container, key)
    slices = _slices_without_key(request, container)
    if h.PARTITION_KEY_RANGE_ID in request.headers:
        return slices
    ranges = [_key_range(one) for one in text.ranges(container.definition.partition_key)]
    is_pinned = len(ranges) == 1 and ranges[0].end == f"{ranges[0].start}0"
    if not is_pinned and not request.flag(h.CROSS_PARTITION):
        raise cross_partition_disabled()
    if _client_must_merge(request, text.features, is_pinned=is_pinned):
        plan = text.plan(container.definition.partition_key, None, in_one_partition=len(slices) == 1)
        raise CosmosError(
            400,
            "The provided cross partition query can not be directly served by the gateway. This is a first chance "
            "(internal) exception that all newer clients will know how to handle gracefully.",
            sub_status=NEEDS_PLAN,
            details={"additionalErrorInfo": json_text.dump(plan).decode()},
        )
    if is_pinned:
        return slices_of_range(container, ranges[0])
    # Without a match in the range of the request, one slice answers.
    return [one for one in slices if any(one.partition.range.overlaps(part) for part in ranges)] or slices[:1]


def _key_range(matches: JsonObject) -> KeyRange:
    """Return the EPKs of matches; a single EPK is a range, too."""
    start = str(matches["min"])
    return KeyRange(start, f"{start}0" if start == matches["max"] else str(matches["max"]))


def cross_partition_disabled() -> CosmosError:
    """Return the service's error for a query without a partition key and without the flag."""
    return CosmosError(
        400,
        "Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition "
        "to true, specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.",
    )


def _client_must_merge(request: Request, features: QueryFeatures, *, is_pinned: bool) -> bool:
    if not features.has_from or request.flag(h.MERGE_PARTITIONS):
        return False
    if not is_pinned:
        return features.needs_plan or request.flag(h.PARALLELIZE)
    if features.has_distinct or features.has_group_by:
        return True
    return features.has_aggregates and request.headers.get(h.CONTINUATION_EXPECTED, "").lower() == "false"


def at_replicas(request: Request, slices: list[Slice]) -> list[Slice]:
    """Return the slices as replicas see them, as new as the consistency level of the request demands."""
    settings = request.gateway.settings
    lag = settings.replica_lag
    if lag is None or (level := request.consistency) == "Strong":
        return slices
    session = session_lsns(request) if level == "Session" else {}

    def seen(one: Slice) -> Slice:
        is_bounded = level == "BoundedStaleness"
        at_least = one.partition.lsn - STALENESS_PREFIX if is_bounded else known_lsn(session, one.partition)
        return replace(one, items=one.partition.replicas.state(lag, settings.random, at_least))

    return [seen(one) for one in slices]
