"""A container's indexing policy: what it says about a path, and the index terms that it gives an item.

Rules: learn.microsoft.com/azure/cosmos-db/index-policy, unless another source stands beside them.
"""

from local.cosmos.indexing.document import CompositeIndex, IndexingMode, OrderedPath
from local.cosmos.indexing.paths import Item, Json, Path, Step
from local.cosmos.indexing.policy import IndexingPolicy
from local.cosmos.indexing.terms import IndexTerms

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
