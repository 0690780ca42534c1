"""The compiled policy: asked about paths and orders, and walked along each item that is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cosmos_emulator.indexing.document import (
    CompositeIndex,
    complete_document,
    parse_composite_indexes,
    parse_mode,
    parse_patterns,
)
from cosmos_emulator.indexing.paths import Item, Json, Path
from cosmos_emulator.indexing.patterns import build_trie, path_indexed
from cosmos_emulator.indexing.terms import IndexTerms, changed_units, collect_terms

ALWAYS_INDEXED: frozenset[Path] = frozenset({("id",), ("_ts",)})
NO_TERMS = IndexTerms({}, 0, 0, None)


class IndexingPolicy:
    """A validated indexing policy of one container. Parse it once and keep it: `terms` runs on each write.

    `document` is the policy as the service answers it, with everything filled in. `mode` is `consistent` or
    `none`; in mode `none` nothing is indexed, not even `id` and `_ts`, and every filter is a scan. `named_paths`
    are the included paths to a scalar, `/…/?`, that step into no array.
    """

    def __init__(self, document: Mapping[str, Json] | None, partition_key_paths: Sequence[str]) -> None:
        given = document or {}
        self.mode = parse_mode(given)
        self.document = complete_document(given, self.mode)
        self.composite_indexes = parse_composite_indexes(self.document)
        patterns = parse_patterns(self.document)
        self.named_paths = _named_paths(patterns) if self.mode == "consistent" else ()
        self._patterns = build_trie(patterns)
        self._key_units = 0 if list(partition_key_paths) == ["/id"] else 1

    @classmethod
    def parse(cls, document: Mapping[str, Json] | None, partition_key_paths: Sequence[str]) -> IndexingPolicy:
        """Validate and compile a policy document; None and `{}` are the default policy.

        `partition_key_paths` are written as in a container's definition, `["/userId"]`. Raises CosmosError
        400, in the service's words where they are known.
        """
        return cls(document, partition_key_paths)

    def indexes(self, path: Path) -> bool:
        """Whether a scalar at this path is indexed. `Step.ELEMENT` stands for the elements of an array."""
        if self.mode == "none":
            return False
        return path in ALWAYS_INDEXED or path_indexed(self._patterns, path)

    def terms(self, item: Item) -> IndexTerms:
        """The index terms of an item; nothing at all in mode `none`."""
        if self.mode == "none":
            return NO_TERMS
        return collect_terms(item, self._patterns, self._key_units)

    @staticmethod
    def changed(old_terms: IndexTerms, new_terms: IndexTerms) -> int:
        """The index units that a replace of one set of terms by another changes, `_ts` aside."""
        return changed_units(old_terms, new_terms)

    def serves_filter(self, path: Path) -> bool:
        """Whether an index finds the items whose scalar at this path satisfies a comparison."""
        return self.indexes(path)

    def serves_order_by(self, order_by: Sequence[tuple[Path, bool]], equality_paths: Iterable[Path] = ()) -> bool:
        """Whether an index yields the items in this order of (path, descending).

        One path needs to be indexed. Several need a composite index of these paths in this sequence, with
        every direction as asked or every one reversed. `equality_paths` are those that the filter holds
        constant; a composite index may have them in front. Such an index can serve the query, although the
        service uses it only where ORDER BY names these paths too: leave them out to ask what the service
        accepts.
        """
        if not order_by:
            return True
        if self.mode == "none":
            return False
        if len(order_by) == 1 and self.indexes(order_by[0][0]):
            return True
        constant = set(equality_paths)
        return any(_serves(index, order_by, constant) for index in self.composite_indexes)


def _named_paths(patterns: Mapping[tuple[Path, str], bool]) -> tuple[tuple[str, ...], ...]:
    found = []
    for (steps, wildcard), included in patterns.items():
        names = tuple(step for step in steps if isinstance(step, str))
        if included and wildcard == "?" and len(names) == len(steps):
            found.append(names)
    return tuple(found)


def _serves(index: CompositeIndex, order_by: Sequence[tuple[Path, bool]], constant: set[Path]) -> bool:
    """Whether a composite index, behind a prefix of constant paths, has this order or its exact reverse."""
    prefix, ordered = index[: -len(order_by)], index[-len(order_by) :]
    if any(part.path not in constant for part in prefix):
        return False
    asked = [(path, descending) for path, descending in order_by]
    as_written = [(part.path, part.descending) for part in ordered]
    reversed_ = [(part.path, not part.descending) for part in ordered]
    return asked in (as_written, reversed_)
