"""Full text: terms, phrases and BM25.

The service splits texts into words, removes stop words in English, and stems the rest (learn.microsoft.com/azure/
cosmos-db/gen-ai/full-text-search). Its rules are not documented. Here, a word is a run of letters with their marks, and
digits, with apostrophes inside, and the stemmer is Snowball's. The terms of a phrase follow each other.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

import numpy as np
import regex  # type: ignore[import-untyped]  # has no annotations
import snowballstemmer
from numpy.typing import NDArray

from cosmos_emulator.search.stop_words import STOP_WORDS

Terms: TypeAlias = "tuple[str, ...]"
Floats: TypeAlias = "NDArray[np.float64]"
Numbers: TypeAlias = "NDArray[np.int64]"
Codes: TypeAlias = "NDArray[np.int32]"
Value = TypeVar("Value", float, Floats)

K1: Final = 1.2
B: Final = 0.75

# A mark extends its letter: https://www.unicode.org/reports/tr29/#WB4
_RUN: Final = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*+"
_WORD: Final = regex.compile(rf"{_RUN}(?:['’]{_RUN})*+")
_ALGORITHMS: Final = {
    "en": "english",
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
}
_STEMMERS: Final = {name: snowballstemmer.stemmer(algorithm) for name, algorithm in _ALGORITHMS.items()}
_STEMMING: Final = threading.Lock()  # a stemmer has state
_KEPT_TEXT: Final = 16384  # characters


def terms(text: str, language: str) -> Terms:
    """Return the terms of a text."""
    return _kept_terms(text, language) if len(text) <= _KEPT_TEXT else _terms(text, language)


def occurrences(found: Terms, phrase: Terms) -> int:
    """Return how often the terms of a phrase follow each other. A phrase without terms never does."""
    if len(phrase) <= 1:
        return found.count(phrase[0]) if phrase else 0
    last = len(found) - len(phrase)
    return sum(found[i : i + len(phrase)] == phrase for i in range(last + 1) if found[i] == phrase[0])


def bm25(frequency: Value, length: Value, documents: float, words: float, hits: float) -> Value:
    """Return the part of a phrase in the BM25 score of texts.

    `frequency` is how often they have it, `length` their number of terms. Of all `documents`, which have `words` terms
    together, `hits` have the phrase.
    """
    rarity = float(np.log1p((documents - hits + 0.5) / (hits + 0.5))) if documents >= hits else 0.0
    relative = length * (documents / words) if words else length
    return rarity * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * relative))


class Vocabulary(dict[str, int]):
    """The code of each word of a language: its stem's, or -1 for a stop word."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._stems: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        stem = _stem(word, self._language)
        code = -1 if stem is None else self._stems.setdefault(stem, len(self._stems))
        self[word] = code
        return code

    def encode(self, text: str) -> Codes:
        """Return the codes of the terms of a text."""
        # Without operations of NumPy, which give up the GIL for longer arrays: a thread that does so more than once per
        # switch interval gets it back before the event loop does.
        return np.array([code for word in _words(text) if (code := self[word]) >= 0], np.int32)

    def code(self, term: str) -> int:
        """Return the code of a term, or -1 if no text has it."""
        return self._stems.get(term, -1)


class TextIndex:
    """The terms of items, those without a text included, by position."""

    def __init__(self, values: Sequence[Codes | None], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        empty = np.zeros(0, np.int32)
        codes = [empty if one is None else one for one in values]
        self.lengths: Numbers = np.array([len(one) for one in codes], np.int64)
        self._ends: Numbers = np.cumsum(self.lengths)
        self._codes: Codes = np.concatenate([empty, *codes])
        parts = np.split(self._codes, self._ends)
        self.values = [None if one is None else part for one, part in zip(values, parts, strict=False)]

    @property
    def size_bytes(self) -> int:
        """About how much memory the index uses."""
        return self._codes.nbytes + 300 * len(self.values) + 100 * len(self.vocabulary)

    @property
    def words(self) -> int:
        """The number of terms of all texts."""
        return len(self._codes)

    def frequencies(self, phrase: Terms) -> Numbers:
        """Return how often each item has a phrase."""
        codes = [self.vocabulary.code(term) for term in phrase]
        if not codes or min(codes) < 0:
            return np.zeros(len(self.values), np.int64)
        places = np.flatnonzero(self._codes == codes[0])
        items = np.searchsorted(self._ends, places, "right")
        fits = places + len(codes) <= self._ends[items]
        places, items = places[fits], items[fits]
        for offset, code in enumerate(codes[1:], start=1):
            fits = self._codes[places + offset] == code
            places, items = places[fits], items[fits]
        return np.bincount(items, minlength=len(self.values))


@lru_cache(maxsize=1024)
def _kept_terms(text: str, language: str) -> Terms:
    # Cached, because a query often scores an item more than once.
    return _terms(text, language)


def _terms(text: str, language: str) -> Terms:
    return tuple(stem for word in _words(text) if (stem := _stem(word, language)) is not None)


def _words(text: str) -> list[str]:
    # Python makes two characters of "İ", the second of which is a mark.
    return list(_WORD.findall(text.replace("İ", "i").lower()))


@lru_cache(maxsize=1 << 16)
def _stem(word: str, language: str) -> str | None:
    """Return the stem of a word, None for a stop word. There is no list of stop words for other languages."""
    name = language[:2]
    word = word.replace("’", "'")
    if name == "en" and word in STOP_WORDS:
        return None
    with _STEMMING:
        return str(_STEMMERS[name].stemWord(word))
