"""The built-in functions by name in capitals (learn.microsoft.com/azure/cosmos-db/nosql/query)."""

from __future__ import annotations

from cosmos_emulator.query.functions.arrays import ARRAY_FUNCTIONS
from cosmos_emulator.query.functions.conversions import CONVERSION_FUNCTIONS
from cosmos_emulator.query.functions.dates import DATE_FUNCTIONS
from cosmos_emulator.query.functions.function import Evaluated, Function
from cosmos_emulator.query.functions.integers import INTEGER_FUNCTIONS
from cosmos_emulator.query.functions.numbers import NUMBER_FUNCTIONS
from cosmos_emulator.query.functions.spatial import PLANAR_FUNCTIONS, SPATIAL_FUNCTIONS
from cosmos_emulator.query.functions.strings import STRING_FUNCTIONS
from cosmos_emulator.query.functions.types import TYPE_FUNCTIONS

FUNCTIONS: dict[str, Function] = {
    **TYPE_FUNCTIONS,
    **STRING_FUNCTIONS,
    **ARRAY_FUNCTIONS,
    **NUMBER_FUNCTIONS,
    **INTEGER_FUNCTIONS,
    **DATE_FUNCTIONS,
    **CONVERSION_FUNCTIONS,
    **SPATIAL_FUNCTIONS,
}

SEARCH_FUNCTIONS = frozenset(
    {
        "FULLTEXTCONTAINS",
        "FULLTEXTCONTAINSALL",
        "FULLTEXTCONTAINSANY",
        "FULLTEXTSCORE",
        "RRF",
        "VECTORDISTANCE",
    }
)
"""Functions of a container's dialect (search/functions.py), which others, as of computed properties, lack."""

__all__ = ["FUNCTIONS", "PLANAR_FUNCTIONS", "SEARCH_FUNCTIONS", "Evaluated", "Function"]
