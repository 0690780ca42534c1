"""The vectors and texts of physical partitions in memory, so that a search need not read every item.

An index belongs to a path of a partition and to an LSN. A later search reads only the items that were written since.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined
from cosmos_emulator.runtime.pacing import checkpoint
from cosmos_emulator.search.policies import Names
from cosmos_emulator.search.queries import Phrase, VectorScore
from cosmos_emulator.search.texts import Codes, TextIndex, Vocabulary
from cosmos_emulator.search.vectors import Vector, VectorIndex, vector_of

MOST_BYTES: Final = 512 << 20
"""About how much memory the indexes of an emulator use together, unless a single one needs more."""

_CHUNK: Final = 64  # items

Value = TypeVar("Value", Vector, Codes)
Content = TypeVar("Content", VectorIndex, TextIndex)


@dataclass(frozen=True, slots=True)
class Items:
    """A state of a physical partition.

    It has the numbers of all items, and of those that were written after an LSN. `load` returns the number, the
    partition key, the effective partition key and the document of the items with some numbers.
    """

    partition: Hashable
    lsn: int
    numbers: Callable[[], Sequence[int]]
    numbers_since: Callable[[int], Sequence[int]]
    load: Callable[[Sequence[int]], Iterable[tuple[int, str, str, JsonObject]]]


@dataclass(frozen=True, slots=True)
class PathIndex(Generic[Content]):
    """The index of all items of a partition, in the order of their numbers."""

    lsn: int
    numbers: NDArray[np.int64]
    keys: Sequence[str]
    epks: Sequence[str]
    content: Content


AnyIndex: TypeAlias = PathIndex[VectorIndex] | PathIndex[TextIndex]


class SearchIndexes:
    """The indexes of an emulator that were used last. Any thread can use them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, AnyIndex] = OrderedDict()
        self._lock = threading.Lock()

    def vectors(self, items: Items, score: VectorScore) -> PathIndex[VectorIndex]:
        """Return the vectors at a path that have the length of the score's."""
        dimensions, data_type = len(score.vector), score.embedding.data_type

        def decoded(value: JsonOrUndefined) -> Vector | None:
            vector = vector_of(value, data_type)
            return vector if vector is not None and len(vector) == dimensions else None

        key = items.partition, score.path, dimensions, data_type
        before = self._found(key)
        known = before if before is not None and isinstance(before.content, VectorIndex) else None
        return self._current(key, items, score.path, known, decoded, lambda values: VectorIndex(values, dimensions))

    def texts(self, items: Items, phrase: Phrase) -> PathIndex[TextIndex]:
        """Return the texts at the path of a phrase."""
        path, language, _ = phrase
        key = items.partition, path, language
        before = self._found(key)
        known = before if before is not None and isinstance(before.content, TextIndex) else None
        vocabulary = Vocabulary(language) if known is None else known.content.vocabulary

        def decoded(value: JsonOrUndefined) -> Codes | None:
            return vocabulary.encode(value) if type(value) is str else None

        return self._current(key, items, path, known, decoded, lambda values: TextIndex(values, vocabulary))

    def clear(self) -> None:
        """Forget all indexes."""
        with self._lock:
            self._kept.clear()

    def _found(self, key: Hashable) -> AnyIndex | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _current(
        self,
        index_key: Hashable,
        items: Items,
        path: Names,
        before: PathIndex[Content] | None,
        decoded: Callable[[JsonOrUndefined], Value | None],
        content: Callable[[list[Value | None]], Content],
    ) -> PathIndex[Content]:
        if before is not None and before.lsn == items.lsn:
            return before
        is_kept = before is None or before.lsn < items.lsn  # otherwise, a replica lags
        known = before if is_kept else None
        written = sorted(items.numbers_since(-1 if known is None else known.lsn))
        rows: list[tuple[int, str, str, Value | None]] = []
        if known is not None:
            stays = np.isin(known.numbers, items.numbers()) & ~np.isin(known.numbers, written)
            values: Sequence[Value | None] = known.content.values  # type: ignore[assignment]  # of the same path
            rows += [
                (int(known.numbers[i]), known.keys[i], known.epks[i], values[i]) for i in np.flatnonzero(stays).tolist()
            ]
        for start in range(0, len(written), _CHUNK):
            checkpoint()
            for number, key, epk, document in items.load(written[start : start + _CHUNK]):
                checkpoint()
                rows.append((number, key, epk, decoded(value_at(document, path))))
        rows.sort(key=lambda row: row[0])
        index = PathIndex(
            items.lsn,
            np.array([number for number, *_ in rows], np.int64),
            [key for _, key, _, _ in rows],
            [epk for *_, epk, _ in rows],
            content([value for *_, value in rows]),
        )
        if is_kept:
            self._keep(index_key, index)
        return index

    def _keep(self, key: Hashable, index: AnyIndex) -> None:
        with self._lock:
            self._kept[key] = index
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(one.content.size_bytes for one in self._kept.values()) > MOST_BYTES:
                self._kept.popitem(last=False)


def value_at(document: JsonObject, path: Names) -> JsonOrUndefined:
    """Return the value at a path of a document."""
    value: Json = document
    for name in path:
        if type(value) is not dict or name not in value:
            return UNDEFINED
        value = value[name]
    return value
