"""The modeled request charge of each operation, in full precision.

The rules reproduce recorded responses: github.com/xo/dbimp, testdata/cosmos (a hosted account, 2026).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable

import orjson

from cosmos_emulator.charges.profiles import PROFILES, ProfileName
from cosmos_emulator.indexing_policy import IndexingPolicy, Item

UNITS_PER_RU = 21 / 4
"""One unit is 4/21 RU: the full-precision charges of recorded batches are multiples of it."""

# The published charges by item size: learn.microsoft.com/azure/cosmos-db/understand-request-unit-consumption (2026).
# Sizes are KB of item JSON. Writes exclude index terms.
SIZES_KB = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0)
READ_RU = (1.00, 1.04, 1.14, 1.33, 1.67, 2.19, 4.76, 9.95, 20.28, 40.95, 145.90, 291.80)
WRITE_RU = (4.95, 6.29, 6.67, 7.04, 9.52, 11.23, 22.67, 48.19, 98.29, 184.57, 625.00, 1250.00)

SMALLEST_WRITE_UNITS = 26.0
"""Units of a write of up to 1 KB: exactly 26 in recorded charges (4.95 RU, rounded)."""

WRITE_UNITS = (SMALLEST_WRITE_UNITS, *(ru * UNITS_PER_RU for ru in WRITE_RU[1:]))

BYTES_PER_KB = 1024
SMALLEST_PAGE_RU = 1.0
UNIQUE_KEY_RU = 1.48
PATCH_RU = 0.287
PATCH_OPERATION_RU = 0.0285
TIMESTAMP_UNITS = 2

# 404, 409, 412, 429 and 400 are recorded. Assumptions: 304 costs as much as an empty page, and other errors cost
# nothing, because they occur before an item is read.
REFUSAL_RU = {304: SMALLEST_PAGE_RU, 400: 0.0, 404: 1.0, 409: 1.48, 412: 1.24, 429: 0.38}


class ChargeModel:
    """The modeled charge of every operation under one profile, in RU.

    Items include their system properties; `size_bytes` is computed if omitted. A transactional batch costs the sum of
    its operations. Expiry and deletes by partition key are free, because the service runs them on spare throughput.
    """

    def __init__(self, profile: ProfileName = "service-2026") -> None:
        self.profile = PROFILES[profile]

    @property
    def label(self) -> str:
        """The label of the charges in headers and reports: `service-2026 (modeled)`."""
        return f"{self.profile.name} (modeled)"

    def point_read(self, size_bytes: int) -> float:
        """Return the charge of a point read; for a missing item, see `refusal`."""
        return interpolated(READ_RU, size_bytes)

    def feed(self, sizes_bytes: Iterable[int]) -> float:
        """Return the charge of a read feed page: a point read per item, or one for an empty page (assumption)."""
        items_ru = sum(map(self.point_read, sizes_bytes))
        return max(SMALLEST_PAGE_RU, items_ru)

    def change_feed(self, sizes_bytes: Iterable[int]) -> float:
        """Return the charge of a change feed page: the same as for a read feed. For an empty page, see `refusal`."""
        return self.feed(sizes_bytes)

    def create(
        self, item: Item, policy: IndexingPolicy, *, size_bytes: int | None = None, unique_keys: int = 0
    ) -> float:
        """Return the charge of a create, in a container with this number of unique keys."""
        units = _item_units(item, size_bytes) + policy.terms(item).units
        # Recorded with one unique key. The same cost for each additional key is an assumption.
        return units / UNITS_PER_RU + UNIQUE_KEY_RU * unique_keys

    def delete(self, item: Item, policy: IndexingPolicy, *, size_bytes: int | None = None) -> float:
        """Return the charge of a delete: the same as its create, without unique keys."""
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
        """Return the charge of a replace: both versions and the changed index terms.

        The term of `_ts` is free if it is unchanged, as in the second write of an item in a batch.
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
        """Return the charge of a patch: slightly more than the equivalent replace."""
        replace_ru = self.replace(old, new, policy, old_size_bytes=old_size_bytes, new_size_bytes=new_size_bytes)
        return replace_ru + PATCH_RU + PATCH_OPERATION_RU * operations

    def query(
        self,
        partitions: int,
        loaded_items: float,
        loaded_bytes: float,
        *,
        filtered: bool,
        passed_entries: int = 0,
        aggregate: bool = False,
    ) -> float:
        """Return the charge of a query page.

        `partitions` is the number visited. Loaded items are those that no index rules out, returned or not.
        `passed_entries` are entries of the ORDER BY index that a filter excludes. `filtered` means that the query has a
        WHERE; `aggregate`, that an index computes its aggregate.
        """
        if aggregate and self.profile.aggregate is not None:
            return partitions * self.profile.aggregate
        start_ru = self.profile.query_start if filtered else self.profile.query_start_unfiltered
        load_ru = loaded_items * self.profile.per_item + loaded_bytes / BYTES_PER_KB * self.profile.per_kb
        return partitions * start_ru + load_ru + passed_entries * self.profile.per_passed_entry

    def script(self, reads_ru: float, writes_ru: float) -> float:
        """Return the charge of a stored procedure, from the charges of its reads and writes."""
        return self.profile.script_start + reads_ru + self.profile.script_write_share * writes_ru

    def refusal(self, status: int) -> float:
        """Return the charge of a request that fails with this status."""
        return REFUSAL_RU.get(status, 0.0)


def item_size_bytes(item: Item) -> int:
    """Return the length of an item's UTF-8 JSON. Charges and limits use it."""
    try:
        return len(orjson.dumps(item))
    except TypeError:
        # orjson rejects integers beyond 64 bits and lone surrogates, which items can contain.
        text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode("utf-8", "surrogatepass"))


def _item_units(item: Item, size_bytes: int | None) -> float:
    return interpolated(WRITE_UNITS, item_size_bytes(item) if size_bytes is None else size_bytes)


def interpolated(column: tuple[float, ...], size_bytes: int) -> float:
    """Interpolate a published column linearly: constant up to 1 KB, and with the last slope above 2,048 KB."""
    size_kb = size_bytes / BYTES_PER_KB
    if size_kb <= SIZES_KB[0]:
        return column[0]
    upper = min(bisect_right(SIZES_KB, size_kb), len(SIZES_KB) - 1)
    lower = upper - 1
    slope = (column[upper] - column[lower]) / (SIZES_KB[upper] - SIZES_KB[lower])
    return column[lower] + slope * (size_kb - SIZES_KB[lower])
