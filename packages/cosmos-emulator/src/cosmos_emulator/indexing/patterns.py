"""The trie of path patterns: one descent decides whether what lies at a path is indexed.

The more precise pattern wins: the deeper one, and `/?` before `/*`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cosmos_emulator.indexing.paths import Path, Step


@dataclass(slots=True)
class PatternNode:
    """One place in the trie: `leaf` is what `…/?` says, `subtree` what `…/*` says, None is silence."""

    children: dict[str | Step, PatternNode] = field(default_factory=dict)
    leaf: bool | None = None
    subtree: bool | None = None


def build_trie(patterns: Mapping[tuple[Path, str], bool]) -> PatternNode:
    """The trie of patterns (steps, wildcard) → included."""
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
    """The node one step down; None below the last pattern."""
    return None if node is None else node.children.get(step)


def subtree_indexed(node: PatternNode | None, inherited: bool) -> bool:
    """What holds below this node unless a deeper pattern says otherwise; `inherited` held above it."""
    return inherited if node is None or node.subtree is None else node.subtree


def leaf_indexed(node: PatternNode | None, inherited: bool) -> bool:
    """Whether a scalar at this node is indexed, where `inherited` holds for the subtree."""
    return inherited if node is None or node.leaf is None else node.leaf


def path_indexed(root: PatternNode, path: Path) -> bool:
    """Whether a scalar at this path is indexed."""
    node: PatternNode | None = root
    inherited = subtree_indexed(node, False)
    for step in path:
        node = child_of(node, step)
        inherited = subtree_indexed(node, inherited)
    return leaf_indexed(node, inherited)
