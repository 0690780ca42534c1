"""The part of a container that a request reads: a logical partition, a range of keys, or all."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.sessions import known_lsn, session_lsns
from cosmos_emulator.partitioning.ranges import END, FIRST, KeyRange
from cosmos_emulator.reads.slices import Slice, slice_of, slices_of_key, slices_of_range
from cosmos_emulator.store.account import Container
from cosmos_emulator.vocabulary.consistency import STALENESS_PREFIX

RANGE_GONE: Final = 1002


def slices_of(request: Request, container: Container) -> list[Slice]:
    """Return the slices in the headers, in key order, or the whole container."""
    key = request.optional_partition_key(container)
    return slices_without_key(request, container) if key is None else slices_of_key(container, key)


def slices_without_key(request: Request, container: Container) -> list[Slice]:
    """Return the slices in the headers of a request without a partition key."""
    bounds = KeyRange(request.headers.get(h.START_EPK, FIRST), request.headers.get(h.END_EPK, END))
    range_id = request.headers.get(h.PARTITION_KEY_RANGE_ID)
    if range_id is None:
        return slices_of_range(container, bounds)
    partition = container.partition_by_id(range_id.rpartition(",")[2])
    if partition is None:
        raise CosmosError(410, f"Partition key range {range_id} is gone.", sub_status=RANGE_GONE)
    return [slice_of(partition, bounds)]


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
