"""A compiled indexing policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cosmos_emulator.indexing_policy.document import (
    CompositeIndex,
    check_spatial_indexes,
    complete_document,
    parse_composite_indexes,
    parse_mode,
    parse_patterns,
)
from cosmos_emulator.indexing_policy.paths import Item, Json, Path
from cosmos_emulator.indexing_policy.patterns import PatternNode, build_trie, path_indexed
from cosmos_emulator.indexing_policy.terms import IndexTerms, changed_units, collect_terms

ALWAYS_INDEXED: frozenset[Path] = frozenset({("id",), ("_ts",)})
NO_TERMS = IndexTerms({}, 0, 0, None)


class IndexingPolicy:
    """A valid indexing policy, compiled because `terms` runs on each write.

    `document` has the service's defaults. Mode `none` indexes nothing, not even `id` and `_ts`. `named_paths` are the
    included paths `/…/?` without array elements. `computed` are the names of computed properties, which only their own
    paths index (learn.microsoft.com/azure/cosmos-db/nosql/query/computed-properties).
    """

    def __init__(
        self,
        document: Mapping[str, Json] | None,
        partition_key_paths: Sequence[str],
        computed: Collection[str] = (),
        *,
        is_planar: bool = False,
    ) -> None:
        """Compile a policy; None and `{}` are the default policy. Raises 400 if it is invalid.

        `partition_key_paths` are as in a container's definition, `["/userId"]`.
        """
        given = document or {}
        self.mode = parse_mode(given)
        self.document = complete_document(given, self.mode)
        self.composite_indexes = parse_composite_indexes(self.document)
        patterns = parse_patterns(self.document)
        self.named_paths = _named_paths(patterns) if self.mode == "consistent" else ()
        check_spatial_indexes(self.document, computed, is_planar=is_planar)
        self._patterns = build_trie(patterns)
        self.computed = frozenset(computed)
        self._key_units = 0 if list(partition_key_paths) == ["/id"] else 1

    def indexes(self, path: Path) -> bool:
        """Return whether a scalar at this path is indexed, so that an index serves a comparison with it."""
        if self.mode == "none":
            return False
        if path and path[0] in self.computed:
            return path_indexed(self._patterns.children.get(path[0], PatternNode()), path[1:])
        return path in ALWAYS_INDEXED or path_indexed(self._patterns, path)

    def is_stored(self, path: Path) -> bool:
        """Return whether the path does not name a computed property."""
        return path[0] not in self.computed

    def terms(self, item: Item) -> IndexTerms:
        """Return the index terms of an item. Mode `none` has no terms."""
        if self.mode == "none":
            return NO_TERMS
        return collect_terms(item, self._patterns, self._key_units)

    @staticmethod
    def changed(old_terms: IndexTerms, new_terms: IndexTerms) -> int:
        """Return the index units that a replace changes, without `_ts`."""
        return changed_units(old_terms, new_terms)

    def serves_order_by(self, order_by: Sequence[tuple[Path, bool]]) -> bool:
        """Return whether an index provides this order of (path, descending).

        One path must be indexed. Several need a composite index of exactly these paths, all directions equal or all
        reversed. An index that starts with filtered paths serves only an ORDER BY that names them
        (learn.microsoft.com/azure/cosmos-db/index-policy, "Queries with a filter and ORDER BY").
        """
        if not order_by:
            return True
        if self.mode == "none":
            return False
        if len(order_by) == 1:
            return self.indexes(order_by[0][0])
        return any(_serves(index, order_by) for index in self.composite_indexes)


def _named_paths(patterns: Mapping[tuple[Path, str], bool]) -> tuple[tuple[str, ...], ...]:
    found = []
    for (steps, wildcard), included in patterns.items():
        names = tuple(step for step in steps if isinstance(step, str))
        if included and wildcard == "?" and len(names) == len(steps):
            found.append(names)
    return tuple(found)


def _serves(index: CompositeIndex, order_by: Sequence[tuple[Path, bool]]) -> bool:
    as_written = [(part.path, part.descending) for part in index]
    reversed_ = [(part.path, not part.descending) for part in index]
    return list(order_by) in (as_written, reversed_)
