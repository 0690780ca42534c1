"""Values at the limits of their types, which damage can put into any property."""

from __future__ import annotations

DATES = ["0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z"]
DATES += ["2026-01-01T00:00:00.000Z", "/Date(0)/", "2026-W01", "24:00"]
NUMBERS = [0, -0.0, 1, -1, 2, 1.5, 1e308, -1e308, 5e-324, 2**31 - 1, 2**53, 2**63, 10**30, True, False]
TEXTS = [
    "",
    " ",
    "\u200b",
    "\u0000",
    "\n",
    "x" * 300,
    "x" * 7_000,
    "😀",
    "\U0010ffff",
    "../..",
    "..",
    "a/b",
    "a ",
    "%",
    "'\"`",
]
