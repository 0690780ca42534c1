"""The published prices by item size, and the line between two of them.

Source: learn.microsoft.com/azure/cosmos-db/understand-request-unit-consumption (2026), reads and writes by
size. Sizes are KB of 1,024 bytes of item JSON, system properties included. The write column is published
without the item's index terms, in request units; writes are computed in units of 4/21 RU, the grid on which
recorded charges lie.
"""

from __future__ import annotations

from bisect import bisect_right

UNITS_PER_RU = 21 / 4
"""One unit is 4/21 RU: full-precision charges in recorded batches are whole multiples of it."""

SIZES_KB = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0)
READ_RU = (1.00, 1.04, 1.14, 1.33, 1.67, 2.19, 4.76, 9.95, 20.28, 40.95, 145.90, 291.80)
WRITE_RU = (4.95, 6.29, 6.67, 7.04, 9.52, 11.23, 22.67, 48.19, 98.29, 184.57, 625.00, 1250.00)

SMALLEST_WRITE_UNITS = 26.0
"""A write of up to 1 KB. Recorded charges give exactly 26; the published 4.95 RU is its rounding."""

WRITE_UNITS = (SMALLEST_WRITE_UNITS, *(ru * UNITS_PER_RU for ru in WRITE_RU[1:]))


def read_ru(size_kb: float) -> float:
    """Request units of a point read of an item of `size_kb`."""
    return _interpolate(READ_RU, size_kb)


def write_units(size_kb: float) -> float:
    """Units (4/21 RU) of a write of `size_kb`, index terms aside; a fraction between two published sizes."""
    return _interpolate(WRITE_UNITS, size_kb)


def _interpolate(column: tuple[float, ...], size_kb: float) -> float:
    """The column at a size: flat below 1 KB, linear between sizes, the last slope kept above 2,048 KB."""
    if size_kb <= SIZES_KB[0]:
        return column[0]
    upper = min(bisect_right(SIZES_KB, size_kb), len(SIZES_KB) - 1)
    lower = upper - 1
    slope = (column[upper] - column[lower]) / (SIZES_KB[upper] - SIZES_KB[lower])
    return column[lower] + slope * (size_kb - SIZES_KB[lower])
