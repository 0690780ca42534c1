"""A container's indexing policy: what it says about a path, and the index terms that it gives an item.

Rules: learn.microsoft.com/azure/cosmos-db/index-policy, unless another source stands beside them.
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
