"""The part of a text that a result shows, with the words of the search."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from addons.search.query import WORD_CHARACTER, stem

SHOWN: Final = 240
_BEFORE: Final = 80


@dataclass(frozen=True)
class Part:
    """A part of a text, which is one of the words or between them."""

    text: str
    is_match: bool


def highlighted(text: str, words: Sequence[str]) -> list[Part]:
    """Return about 240 characters around the first word."""
    found = _pattern(words).search(_normal(text))
    first = found.start() if found else 0
    start = max(0, first - _BEFORE)
    if start:
        start = text.find(" ", start, first) + 1 or start
    cut = text[start : start + SHOWN]
    if start + SHOWN < len(text):
        cut = cut.rpartition(" ")[0] or cut
    return parts(("…" if start else "") + cut + ("…" if start + len(cut) < len(text) else ""), words)


def parts(text: str, words: Sequence[str]) -> list[Part]:
    """Divide a text at the words."""
    found: list[Part] = []
    end = 0
    for match in _pattern(words).finditer(_normal(text)):
        start, stop = match.span()
        found += [Part(text[end:start], is_match=False), Part(text[start:stop], is_match=True)]
        end = stop
    found.append(Part(text[end:], is_match=False))
    return [part for part in found if part.text]


def _pattern(words: Sequence[str]) -> Any:
    """Match words that start like the words of the search."""
    import regex  # type: ignore[import-untyped]  # has no annotations, and is slow to import

    starts = {regex.escape(_normal(stem(word))) for word in words}
    alternatives = "|".join(sorted(starts, key=len, reverse=True))
    return regex.compile(rf"(?<!{WORD_CHARACTER})(?:{alternatives}){WORD_CHARACTER}*", regex.IGNORECASE)


def _normal(text: str) -> str:
    """Replace each character: letters by those without an accent, so that `Haus` also matches `Häuser`."""
    return text if text.isascii() else text.translate(_NORMAL)


class _Normal(dict[int, str]):
    def __missing__(self, character: int) -> str:
        decomposed = unicodedata.normalize("NFD", chr(character))
        # The parts of a Hangul syllable are no marks.
        has_marks = all(map(unicodedata.combining, decomposed[1:]))
        self[character] = decomposed[0] if has_marks else chr(character)
        return self[character]


_NORMAL: Final = _Normal({ord("’"): "'"})
