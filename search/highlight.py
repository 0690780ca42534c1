"""The part of a post that a result shows, with the words of the search."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.models.summary import plain_text

SHOWN: Final = 240
_BEFORE: Final = 80
_STEM: Final = 4


@dataclass(frozen=True)
class Part:
    """A part of a text, which is one of the words or between them."""

    text: str
    is_match: bool


def highlighted(markdown: str, words: Sequence[str]) -> list[Part]:
    """Return about 240 characters around the first word, from the plain text of Markdown."""
    text = plain_text(markdown)
    found = _pattern(words).search(_without_accents(text))
    start = max(0, (found.start() if found else 0) - _BEFORE)
    if start:
        start = text.find(" ", start) + 1 or start
    cut = text[start : start + SHOWN]
    if start + SHOWN < len(text):
        cut = cut.rpartition(" ")[0] or cut
    return parts(("…" if start else "") + cut + ("…" if start + len(cut) < len(text) else ""), words)


def parts(text: str, words: Sequence[str]) -> list[Part]:
    """Divide a text at the words."""
    found: list[Part] = []
    end = 0
    for match in _pattern(words).finditer(_without_accents(text)):
        start, stop = match.span()
        found += [Part(text[end:start], is_match=False), Part(text[start:stop], is_match=True)]
        end = stop
    found.append(Part(text[end:], is_match=False))
    return [part for part in found if part.text]


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Match words that start like those of the search: the database compares stems, which are not known here."""
    starts = {re.escape(_without_accents(word[: max(_STEM, len(word) - 3)])) for word in words}
    return re.compile(rf"\b(?:{'|'.join(sorted(starts, key=len, reverse=True))})\w*", re.IGNORECASE)


def _without_accents(text: str) -> str:
    """Replace each letter by the one without an accent, so that `Haus` also matches `Häuser`."""
    return text if text.isascii() else text.translate(_BASES)


class _Bases(dict[int, str]):
    def __missing__(self, character: int) -> str:
        self[character] = base = unicodedata.normalize("NFD", chr(character))[0]
        return base


_BASES: Final = _Bases()
