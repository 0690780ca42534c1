"""Fills global secondary indexes from their sources, in the background.

A follower per index reads each physical partition of the source: first the items that are older than the source's log
of all changes, then that log, which starts with the first index. Applying a change again has no effect, so a crash
loses nothing. Indexes are behind the source by at least the simulated replica lag.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.definitions.secondary_index import ACTIVE, SecondaryIndexDefinition
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey, key_of_header
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.items import ItemScope, ItemTransaction
from cosmos_emulator.store.partition import Partition

_LOG: Final = logging.getLogger(__name__)
_POLL_S: Final = 0.02
_PAGE: Final = 10  # changes, which are applied between requests; few, because items can be large
_Change = tuple[str, JsonObject | None]
"""The index's id of an item, and its projection; None if it was deleted."""


class SecondaryIndexes:
    """Follows the sources of all indexes of an account, one after the other."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._task = asyncio.create_task(self._run(), name="cosmos-secondary-indexes")

    async def close(self) -> None:
        """Stop following. The next start continues."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            indexes = [one for one in self._gateway.account.containers if one.definition.source is not None]
            if not indexes:
                await self._gateway.indexes_changed.wait()
            self._gateway.indexes_changed.clear()
            has_more = False
            for index in indexes:
                try:
                    has_more |= await self._update(index)
                except Exception:  # noqa: BLE001 - the next turn tries it again
                    _LOG.exception("the global secondary index %s could not be updated", index.resource.id)
            await asyncio.sleep(0 if has_more else _POLL_S)

    async def _update(self, index: Container) -> bool:
        """Apply a page of changes from each partition of the source; return whether there are more."""
        account = self._gateway.account
        source = account.source_of(index)
        if source is None:
            return False
        if not source.is_source:
            await source.become_source()
        has_more = False
        for partition in source.partitions:
            if not _is_applied(index, partition):
                has_more |= await self._follow(index, source, partition)
        if all(_is_applied(index, partition) for partition in source.partitions):
            account.show_status(index, ACTIVE)
        return has_more

    async def _follow(self, index: Container, source: Container, partition: Partition) -> bool:
        until = partition.lsn
        lag = self._gateway.settings.replica_lag
        if lag is not None:
            await asyncio.sleep(lag.next_s(self._gateway.settings.random))
        async with self._gateway.gate:
            if index.is_closed or source.is_closed:
                return False
            with source.serving(), index.serving():
                changes, lsn = _changes(index, partition, until)
                await self._apply(index, partition, dict(changes), lsn)
        return lsn < until

    async def _apply(
        self, index: Container, partition: Partition, changes: dict[str, JsonObject | None], lsn: int
    ) -> None:
        keys = index.definition.partition_key
        placed: dict[str, str | None] = {}
        stored: list[tuple[PartitionKey, str, JsonObject | None]] = []
        removed: list[tuple[PartitionKey, str, JsonObject | None]] = []
        new: list[tuple[str, str]] = []
        for item_id, item in changes.items():
            key = None
            if item is not None:
                try:
                    key = keys.of_document(item)
                    stored.append((key, item_id, item))
                except CosmosError as error:
                    _LOG.warning("an item cannot be in the index %s: %s", index.resource.id, error.message)
            placed[item_id] = None if key is None else key.text
            before = index.progress.keys_of(item_id)
            if key is not None and key.text not in before:
                new.append((item_id, key.text))
            removed += [(key_of_header(keys, text), item_id, None) for text in before if text != placed[item_id]]
        if new:
            index.progress.prepare(new)
        # A reader can see an item that moves twice, but never none.
        for writes in (stored, removed):
            await self._write(index, writes)
        index.progress.commit(partition.id, lsn, placed)

    async def _write(self, index: Container, writes: list[tuple[PartitionKey, str, JsonObject | None]]) -> None:
        while writes:
            partition = await index.writable_partition_of(writes[0][0])
            async with partition.transaction() as items:
                own = [one for one in writes if index.partition_of(one[0]) is partition]
                for key, item_id, item in own:
                    self._write_one(index, partition, key, items, item_id, item)
            # After a split of the index, the others are in another partition.
            writes = [one for one in writes if one not in own]

    def _write_one(
        self,
        index: Container,
        partition: Partition,
        key: PartitionKey,
        items: ItemTransaction,
        item_id: str,
        item: JsonObject | None,
    ) -> None:
        now_s = int(self._gateway.settings.clock())
        target = LogicalPartition(index, partition, key, items, self._gateway.charges, now_s)
        found = items.get(key, item_id)
        if item is None:
            if found is not None:
                items.delete(found)
            return
        try:
            if found is None:
                target.add(item)
            else:
                target.overwrite(found, item)
        except CosmosError as error:
            _LOG.warning("an item cannot be in the index %s: %s", index.resource.id, error.message)


def _is_applied(index: Container, partition: Partition) -> bool:
    return index.progress.lsn(partition.lineage) >= partition.lsn


def _projected(source: SecondaryIndexDefinition, document: JsonObject) -> _Change:
    item_id = str(document["_rid"])
    return item_id, source.projected(document, item_id)


def _changes(index: Container, partition: Partition, until: int) -> tuple[Iterable[_Change], int]:
    """Return the next changes of a partition of the source, oldest first, and the LSN up to which they are complete."""
    source = index.definition.source
    assert source is not None  # noqa: S101 - an index
    items, applied = partition.committed, index.progress.lsn(partition.lineage)
    start = items.log_start()
    assert start is not None  # noqa: S101 - a source has a log
    if applied < start:
        old = items.changes(ItemScope(), applied, start, -1, _PAGE)
        found = [json_text.parse_stored(one.body) for one in old]
        return [_projected(source, document) for document in found], old[-1].lsn if old else start
    logged = items.logged_changes(ItemScope(), applied, until, _PAGE)
    changes: list[_Change] = []
    for one in logged:
        document = json_text.parse_stored(one.body)
        changes.append((str(document["_rid"]), None) if one.operation == "delete" else _projected(source, document))
    return changes, logged[-1].lsn if logged else until
