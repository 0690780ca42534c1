"""A trie of path patterns. The deepest pattern wins, and `/?` over `/*`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cosmos_emulator.indexing_policy.paths import Path, Step


@dataclass(slots=True)
class PatternNode:
    """`leaf` is the value of `…/?`, `subtree` the value of `…/*`; None means no pattern."""

    children: dict[str | Step, PatternNode] = field(default_factory=dict)
    leaf: bool | None = None
    subtree: bool | None = None


def build_trie(patterns: Mapping[tuple[Path, str], bool]) -> PatternNode:
    """Build the trie of patterns."""
    root = PatternNode()
    for (steps, wildcard), included in patterns.items():
        node = root
        for step in steps:
            node = node.children.setdefault(step, PatternNode())
        if wildcard == "?":
            node.leaf = included
        else:
            node.subtree = included
    return root


def child_of(node: PatternNode | None, step: str | Step) -> PatternNode | None:
    """Return the next node, None below the last pattern."""
    return None if node is None else node.children.get(step)


def subtree_indexed(node: PatternNode | None, inherited: bool) -> bool:
    """Return whether the subtree is indexed; inherited by default."""
    return inherited if node is None or node.subtree is None else node.subtree


def leaf_indexed(node: PatternNode | None, inherited: bool) -> bool:
    """Return whether the scalar is indexed; like the subtree by default."""
    return inherited if node is None or node.leaf is None else node.leaf


def path_indexed(root: PatternNode, path: Path) -> bool:
    """Return whether a scalar at this path is indexed."""
    node, inherited = root, bool(root.subtree)
    for step in path:
        if step not in node.children:
            return inherited
        node = node.children[step]
        inherited = inherited if node.subtree is None else node.subtree
    return inherited if node.leaf is None else node.leaf
