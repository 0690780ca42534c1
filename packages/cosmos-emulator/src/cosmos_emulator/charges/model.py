"""What each operation is charged, modelled.

Request units come back in full precision: a batch adds them up unrounded, and only the wire rounds to two
decimals. Recorded answers that the rules repeat: github.com/xo/dbimp, testdata/cosmos (a hosted account,
2026); the same rows are the cases of the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import orjson

from cosmos_emulator.charges.profiles import PROFILES, ProfileName
from cosmos_emulator.charges.tables import UNITS_PER_RU, read_ru, write_units
from cosmos_emulator.indexing import IndexingPolicy, Item

BYTES_PER_KB = 1024
SMALLEST_PAGE_RU = 1.0
UNIQUE_KEY_RU = 1.48
PATCH_RU = 0.287
PATCH_OPERATION_RU = 0.0285
TIMESTAMP_UNITS = 2

# 404, 409, 412, 429 and 400 are recorded. 304 is assumed to cost what an empty page does; every other refusal
# comes before an item is touched and is assumed to cost nothing.
REFUSAL_RU = {304: SMALLEST_PAGE_RU, 400: 0.0, 404: 1.0, 409: 1.48, 412: 1.24, 429: 0.38}

# learn.microsoft.com/azure/cosmos-db/optimize-cost-reads-writes: these two levels read from two replicas.
DOUBLED_READS = frozenset({"Strong", "BoundedStaleness"})


class ChargeModel:
    """The modelled charge of every operation under one profile.

    Items are given with their system properties. `size_bytes` is the length of the item's UTF-8 JSON; left
    out, it is computed. A transactional batch, and the writes of triggers, cost the sum of their operations;
    expired items and deletes by partition key cost nothing, since both run on left-over throughput.
    """

    def __init__(self, profile: ProfileName = "service-2026") -> None:
        self.profile = PROFILES[profile]

    @property
    def label(self) -> str:
        """How a header or a report names the numbers: `service-2026 (modelled)`."""
        return f"{self.profile.name} (modelled)"

    def point_read(self, size_bytes: int, *, consistency: str = "Session") -> float:
        """One item by id and partition key; a missing one is `refusal(404)`."""
        return read_ru(size_bytes / BYTES_PER_KB) * _replicas(consistency)

    def feed(self, sizes_bytes: Iterable[int], *, consistency: str = "Session") -> float:
        """One page of a read feed: its items as point reads, an empty page as one (assumption)."""
        items_ru = sum(read_ru(size / BYTES_PER_KB) for size in sizes_bytes)
        return max(SMALLEST_PAGE_RU, items_ru) * _replicas(consistency)

    def change_feed(self, sizes_bytes: Iterable[int]) -> float:
        """One page of the change feed: as a read feed; the 304 of an empty one is `refusal(304)`."""
        return self.feed(sizes_bytes)

    def create(
        self, item: Item, policy: IndexingPolicy, *, size_bytes: int | None = None, unique_keys: int = 0
    ) -> float:
        """A create, or an upsert that creates; `unique_keys` counts the container's unique keys."""
        units = _item_units(item, size_bytes) + policy.terms(item).units
        # One recorded container with one unique key; that each further key costs the same is a guess.
        return units / UNITS_PER_RU + UNIQUE_KEY_RU * unique_keys

    def delete(self, item: Item, policy: IndexingPolicy, *, size_bytes: int | None = None) -> float:
        """A delete costs what creating the item costs, unique keys aside."""
        return self.create(item, policy, size_bytes=size_bytes)

    def replace(
        self,
        old: Item,
        new: Item,
        policy: IndexingPolicy,
        *,
        old_size_bytes: int | None = None,
        new_size_bytes: int | None = None,
    ) -> float:
        """A replace, or an upsert over an existing item: both versions and the changed terms are paid.

        The term of `_ts` is free when it stays the same, as for the second write of an item in one batch.
        """
        old_terms, new_terms = policy.terms(old), policy.terms(new)
        units = _item_units(old, old_size_bytes) + _item_units(new, new_size_bytes)
        units += policy.changed(old_terms, new_terms)
        if old_terms.timestamp != new_terms.timestamp:
            units += TIMESTAMP_UNITS
        return units / UNITS_PER_RU

    def patch(
        self,
        old: Item,
        new: Item,
        operations: int,
        policy: IndexingPolicy,
        *,
        old_size_bytes: int | None = None,
        new_size_bytes: int | None = None,
    ) -> float:
        """A patch is the replace of the same change and a little more: it saves the read, not the write."""
        replace_ru = self.replace(old, new, policy, old_size_bytes=old_size_bytes, new_size_bytes=new_size_bytes)
        return replace_ru + PATCH_RU + PATCH_OPERATION_RU * operations

    def query(
        self,
        partitions: int,
        loaded_items: float,
        loaded_bytes: float,
        *,
        filtered: bool,
        aggregate: bool = False,
    ) -> float:
        """One page of a query.

        `partitions` are the physical partitions visited, 1 when the partition key is pinned. `loaded_items`
        are those that the index cannot rule out, returned or not; without an index on the filter, every item
        of the partitions visited; an average serves for a prediction. `filtered` says that there is a WHERE.
        `aggregate` says that the index answers an aggregate; one over an unindexed filter loads its items and
        passes False.
        """
        if aggregate and self.profile.aggregate is not None:
            return partitions * self.profile.aggregate
        start_ru = self.profile.query_start if filtered else self.profile.query_start_unfiltered
        load_ru = loaded_items * self.profile.per_item + loaded_bytes / BYTES_PER_KB * self.profile.per_kb
        return partitions * start_ru + load_ru

    def script(self, reads_ru: float, writes_ru: float) -> float:
        """A stored procedure that spent `reads_ru` on reads and queries and `writes_ru` on writes."""
        return self.profile.script_start + reads_ru + self.profile.script_write_share * writes_ru

    def refusal(self, status: int) -> float:
        """A request refused with this HTTP status."""
        return REFUSAL_RU.get(status, 0.0)


def item_size_bytes(item: Item) -> int:
    """The length of an item's UTF-8 JSON, the size that charges and limits go by."""
    try:
        return len(orjson.dumps(item))
    except TypeError:
        # orjson refuses integers beyond 64 bits and unpaired surrogates; both are legal in an item.
        text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode("utf-8", "surrogatepass"))


def _item_units(item: Item, size_bytes: int | None) -> float:
    size = item_size_bytes(item) if size_bytes is None else size_bytes
    return write_units(size / BYTES_PER_KB)


def _replicas(consistency: str) -> int:
    return 2 if consistency in DOUBLED_READS else 1
