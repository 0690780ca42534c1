"""Indexing policies: which paths are indexed, and the index terms of an item.

Source, unless noted: learn.microsoft.com/azure/cosmos-db/index-policy.
"""

from cosmos_emulator.indexing.document import CompositeIndex, IndexingMode, OrderedPath
from cosmos_emulator.indexing.paths import Item, Json, Path, Step
from cosmos_emulator.indexing.policy import IndexingPolicy
from cosmos_emulator.indexing.terms import IndexTerms

__all__ = [
    "CompositeIndex",
    "IndexTerms",
    "IndexingMode",
    "IndexingPolicy",
    "Item",
    "Json",
    "OrderedPath",
    "Path",
    "Step",
]
