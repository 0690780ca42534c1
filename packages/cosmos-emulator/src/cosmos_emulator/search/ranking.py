"""The order of items by a score, or by the ranks that several scores give them (RRF).

The fusion is the SDKs' (azure-cosmos _execution_context/hybrid_search_aggregator.py): a rank counts the better
scores that differ, and the item with the lowest number is first among equals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.search.queries import (
    Component,
    Condition,
    Conditions,
    Order,
    Phrase,
    Statistics,
    TextScore,
    VectorScore,
)
from cosmos_emulator.search.search_indexes import AnyIndex, Items, SearchIndexes
from cosmos_emulator.search.texts import TextIndex, bm25, terms
from cosmos_emulator.search.vectors import Vector, VectorIndex, vector_of

RRF_CONSTANT: Final = 60

Mask: TypeAlias = "NDArray[np.bool_]"
Floats: TypeAlias = "NDArray[np.float64]"
Numbers: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, slots=True)
class Part:
    """The items of a physical partition that a query reads: of a key, of a range of EPKs, or all.

    All matches have one of the `numbers`, unless these are None.
    """

    items: Items
    key: str | None = None
    epks: tuple[str, str] | None = None
    numbers: Set[int] | None = None

    def read(self, index: AnyIndex) -> Numbers:
        """Return the numbers of the items of an index that the query reads, in order."""
        return index.numbers[self.mask(index)]

    def mask(self, index: AnyIndex) -> Mask:
        """Return which items of an index the query reads."""
        if self.key is not None:
            return np.array([key == self.key for key in index.keys], np.bool_)
        if self.epks is not None:
            return np.array([self.epks[0] <= epk < self.epks[1] for epk in index.epks], np.bool_)
        return np.ones(len(index.numbers), np.bool_)


class Ranker:
    """Answers searches from indexes."""

    def __init__(self, indexes: SearchIndexes) -> None:
        self._indexes = indexes

    def matches(self, part: Part, condition: Condition) -> Numbers:
        """Return the numbers of the items that meet a condition, in order."""
        phrase = condition
        while isinstance(phrase, Conditions):
            phrase = phrase.parts[0]
        index = self._indexes.texts(part.items, phrase)
        return np.intersect1d(part.read(index), self._met(part.items, condition))

    def statistics(self, parts: Sequence[Part], wanted: Sequence[Sequence[Phrase]]) -> JsonObject:
        """Return the row of a `globalStatisticsQuery` about phrases, by path."""
        found = [self._path_statistics(parts, phrases) for phrases in wanted]
        return {
            "documentCount": int(found[0].documents),
            "fullTextStatistics": [
                {"totalWordCount": int(one.words), "hitCounts": [int(hits) for hits in one.hits]} for one in found
            ],
        }

    def order(
        self,
        parts: Sequence[Part],
        order: Order,
        condition: Condition | None,
        matching: Callable[[int, Sequence[int]], set[int]] | None,
    ) -> list[tuple[int, int]]:
        """Return the items in an order, each as the index of its part and its number.

        Items that do not meet the condition are left out. For fused ranks, which depend on the other matches,
        `matching` returns which numbers of a part the query matches; None if it matches all.
        """
        numbers: list[Numbers] = []
        places: list[Numbers] = []
        columns: list[list[Floats]] = [[] for _ in order.components]
        statistics = [self._statistics(parts, component) for component in order.components]
        for place, part in enumerate(parts):
            indexes = [self._index(part.items, component) for component in order.components]
            # Their states can differ if items were written between.
            chosen = reduce(np.intersect1d, [index.numbers for index in indexes[1:]], part.read(indexes[0]))
            if part.numbers is not None:
                chosen = np.intersect1d(chosen, list(part.numbers))
            if condition is not None:
                chosen = np.intersect1d(chosen, self._met(part.items, condition))
            if matching is not None and order.is_fused:
                chosen = np.array(sorted(matching(place, chosen.tolist())), np.int64)
            numbers.append(chosen)
            places.append(np.full(len(chosen), place))
            for column, index, component, known in zip(columns, indexes, order.components, statistics, strict=True):
                column.append(_scores(index, component, known)[np.searchsorted(index.numbers, chosen)])
        scores = [np.concatenate(column) for column in columns]
        sequence = _fused(scores, order) if order.is_fused else _sorted(scores[0], order.components[0].weight)
        all_places, all_numbers = np.concatenate(places)[sequence], np.concatenate(numbers)[sequence]
        return list(zip(all_places.tolist(), all_numbers.tolist(), strict=True))

    def _index(self, items: Items, component: Component) -> AnyIndex:
        score = component.score
        if isinstance(score, VectorScore):
            return self._indexes.vectors(items, score)
        return self._indexes.texts(items, score.phrases[0])

    def _statistics(self, parts: Sequence[Part], component: Component) -> Statistics | None:
        score = component.score
        if isinstance(score, VectorScore):
            return None
        return score.statistics or self._path_statistics(parts, score.phrases)

    def _path_statistics(self, parts: Sequence[Part], phrases: Sequence[Phrase]) -> Statistics:
        documents, words, hits = 0, 0, [0] * len(phrases)
        for part in parts:
            index = self._indexes.texts(part.items, phrases[0])
            mask = part.mask(index)
            documents += int(mask.sum())
            words += int(index.content.lengths[mask].sum())
            for number, phrase in enumerate(phrases):
                hits[number] += int(((_frequencies(index.content, phrase) > 0) & mask).sum())
        return Statistics(documents, words, tuple(hits))

    def _met(self, items: Items, condition: Condition) -> Numbers:
        """Return the numbers of the items that meet a condition, in order."""
        if isinstance(condition, Phrase):
            index = self._indexes.texts(items, condition)
            return index.numbers[_frequencies(index.content, condition) > 0]
        found = [self._met(items, part) for part in condition.parts]
        return reduce(np.union1d if condition.needs == "ANY" else np.intersect1d, found)


def _frequencies(content: TextIndex, phrase: Phrase) -> Numbers:
    return content.frequencies(terms(phrase.text, phrase.language))


def _scores(index: AnyIndex, component: Component, statistics: Statistics | None) -> Floats:
    score, content = component.score, index.content
    if isinstance(score, VectorScore):
        vector: Vector | None = vector_of(list(score.vector), score.embedding.data_type)
        if vector is None or not isinstance(content, VectorIndex):
            return np.full(len(index.numbers), np.nan)
        return content.scores(vector, score.embedding.distance)
    assert isinstance(content, TextIndex)  # noqa: S101 - by `_index`
    assert statistics is not None  # noqa: S101 - by `_statistics`
    return _text_scores(content, score, statistics)


def _text_scores(content: TextIndex, score: TextScore, statistics: Statistics) -> Floats:
    total = np.zeros(len(content.values))
    for phrase, hits in zip(score.phrases, statistics.hits, strict=True):
        frequencies, lengths = _frequencies(content, phrase).astype(np.float64), content.lengths.astype(np.float64)
        total += bm25(frequencies, lengths, statistics.documents, statistics.words, hits)
    has_text = np.array([value is not None for value in content.values], np.bool_)
    return np.where(has_text, total, np.nan)


def _sorted(scores: Floats, weight: float) -> Numbers:
    """Return the positions in the order of their scores, those without a score last."""
    return np.argsort(scores if weight < 0 else -scores, kind="stable")


def _fused(scores: Sequence[Floats], order: Order) -> Numbers:
    total = np.zeros(len(scores[0]))
    for column, component in zip(scores, order.components, strict=True):
        better = np.where(np.isnan(column), np.inf, column if component.weight < 0 else -column)
        _, ranks = np.unique(better, return_inverse=True)
        total += abs(component.weight) / (RRF_CONSTANT + 1 + ranks)
    return np.argsort(-total, kind="stable")
