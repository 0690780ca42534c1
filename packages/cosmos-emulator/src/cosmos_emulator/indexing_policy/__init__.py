"""Indexing policies: which paths are indexed, and the index terms of an item.

Source, unless noted: learn.microsoft.com/azure/cosmos-db/index-policy.
"""

from cosmos_emulator.indexing_policy.document import CompositeIndex, IndexingMode, OrderedPath
from cosmos_emulator.indexing_policy.paths import Item, Json, Path, Step
from cosmos_emulator.indexing_policy.policy import IndexingPolicy
from cosmos_emulator.indexing_policy.terms import IndexTerms

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
