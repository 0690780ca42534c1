"""The published charges by item size, interpolated linearly.

Source: learn.microsoft.com/azure/cosmos-db/understand-request-unit-consumption (2026). Sizes are KB of item JSON.
Writes exclude index terms and are counted in units of 4/21 RU.
"""

from __future__ import annotations

from bisect import bisect_right

UNITS_PER_RU = 21 / 4
"""One unit is 4/21 RU: the full-precision charges of recorded batches are multiples of it."""

SIZES_KB = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0)
READ_RU = (1.00, 1.04, 1.14, 1.33, 1.67, 2.19, 4.76, 9.95, 20.28, 40.95, 145.90, 291.80)
WRITE_RU = (4.95, 6.29, 6.67, 7.04, 9.52, 11.23, 22.67, 48.19, 98.29, 184.57, 625.00, 1250.00)

SMALLEST_WRITE_UNITS = 26.0
"""Units of a write of up to 1 KB: exactly 26 in recorded charges (4.95 RU, rounded)."""

WRITE_UNITS = (SMALLEST_WRITE_UNITS, *(ru * UNITS_PER_RU for ru in WRITE_RU[1:]))


def read_ru(size_kb: float) -> float:
    """Return the RU of a point read."""
    return _interpolate(READ_RU, size_kb)


def write_units(size_kb: float) -> float:
    """Return the units (4/21 RU) of a write, without index terms."""
    return _interpolate(WRITE_UNITS, size_kb)


def _interpolate(column: tuple[float, ...], size_kb: float) -> float:
    """Interpolate a column: constant up to 1 KB, and with the last slope above 2,048 KB."""
    if size_kb <= SIZES_KB[0]:
        return column[0]
    upper = min(bisect_right(SIZES_KB, size_kb), len(SIZES_KB) - 1)
    lower = upper - 1
    slope = (column[upper] - column[lower]) / (SIZES_KB[upper] - SIZES_KB[lower])
    return column[lower] + slope * (size_kb - SIZES_KB[lower])
