"""The index terms of an item, in units of 4/21 RU (charges/model.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from cosmos_emulator.indexing_policy.paths import Item, Json, Path, Step
from cosmos_emulator.indexing_policy.patterns import PatternNode, child_of, leaf_indexed, subtree_indexed

ID_PATH: Path = ("id",)
SYSTEM_PROPERTIES = frozenset({"_rid", "_self", "_etag", "_attachments", "_ts"})


@dataclass(frozen=True, slots=True)
class IndexTerms:
    """The index terms of one item.

    `leaves` maps indexed paths to values: scalars, `{}` and `[]`; array elements share a path. `containers` counts
    objects and arrays with an indexed leaf. `key_units` is 1 unless the partition key is `/id`. `timestamp` is `_ts`,
    free on create and delete.
    """

    leaves: Mapping[Path, list[Json]]
    containers: int
    key_units: int
    timestamp: Json

    @property
    def units(self) -> int:
        """The units of a create or delete: for each leaf, one for its path and one for its value."""
        return 2 * sum(map(len, self.leaves.values())) + self.containers + self.key_units


def collect_terms(item: Item, root: PatternNode, key_units: int) -> IndexTerms:
    """Return the terms of an item. Of the system properties, only `id` counts."""
    walk = _Walk()
    inherited = subtree_indexed(root, False)
    for name, value in item.items():
        if name == "id":
            walk.leaves[ID_PATH] = [value]
        elif name not in SYSTEM_PROPERTIES:
            walk.visit(value, (name,), root.children.get(name), inherited)
    return IndexTerms(walk.leaves, walk.containers, key_units, item.get("_ts"))


def changed_units(old: IndexTerms, new: IndexTerms) -> int:
    """Return the units of a replace, without `_ts`: two per changed leaf, and the difference in containers."""
    units = abs(old.containers - new.containers)
    for path, values in old.leaves.items():
        units += 2 * _differing(values, new.leaves.get(path, []))
    for path, values in new.leaves.items():
        if path not in old.leaves:
            units += 2 * len(values)
    return units


class _Walk:
    def __init__(self) -> None:
        self.leaves: dict[Path, list[Json]] = {}
        self.containers = 0

    def visit(self, value: Json, path: Path, node: PatternNode | None, inherited: bool) -> bool:
        """Collect the indexed leaves of a value; return whether there are any."""
        inherited = subtree_indexed(node, inherited)
        if node is None and not inherited:
            return False
        if isinstance(value, dict) and value:
            found = [self.visit(child, (*path, name), child_of(node, name), inherited) for name, child in value.items()]
        elif isinstance(value, list) and value:
            elements, below = (*path, Step.ELEMENT), child_of(node, Step.ELEMENT)
            found = [self.visit(child, elements, below, inherited) for child in value]
        else:
            return self._visit_leaf(value, path, leaf_indexed(node, inherited))
        holds_leaf = any(found)
        self.containers += holds_leaf
        return holds_leaf

    def _visit_leaf(self, value: Json, path: Path, indexed: bool) -> bool:
        if indexed:
            self.leaves.setdefault(path, []).append(value)
        return indexed


def _differing(old: list[Json], new: list[Json]) -> int:
    if len(old) == len(new) == 1:
        return int(_value_term(old[0]) != _value_term(new[0]))
    before, after = Counter(map(_value_term, old)), Counter(map(_value_term, new))
    return max((before - after).total(), (after - before).total())


def _value_term(value: Json) -> Hashable:
    """Return a key that equals only keys of the same type: true is not 1."""
    if isinstance(value, bool | dict | list):
        return type(value), bool(value)
    return value
