"""Characters as readers see them: grapheme clusters, and characters that are not shown."""

from __future__ import annotations

from collections.abc import Iterator

import regex  # type: ignore[import-untyped]  # has no annotations

# https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundaries
_CLUSTER = regex.compile(r"\X")
# The rest are symbols that fonts show as nothing: the empty Braille pattern, annotations, a note without a head.
_INVISIBLE = regex.compile(
    r"[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffc\U0001d159]*+", regex.DOTALL
)
_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")


def cluster_ends(text: str) -> Iterator[int]:
    """Yield where each extended grapheme cluster of the text ends."""
    return (cluster.end() for cluster in _CLUSTER.finditer(text))


def is_blank(text: str) -> bool:
    """Return whether no character of the text is shown."""
    return _INVISIBLE.fullmatch(text) is not None


def has_invisible(text: str) -> bool:
    """Return whether the text has a default-ignorable code point, which is not shown, such as a Hangul filler."""
    return _IGNORABLE.search(text) is not None
