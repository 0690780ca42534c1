"""The vectors and texts that an emulator keeps in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from cosmos_emulator.search import search_indexes as indexes
from cosmos_emulator.search.policies import Embedding
from cosmos_emulator.search.queries import Phrase, VectorScore
from cosmos_emulator.search.search_indexes import Items, SearchIndexes

PHRASE = Phrase(("t",), "en-US", "red")
SCORE = VectorScore(("v",), Embedding(2), (1.0, 0.0))


class Partition:
    """The documents of a partition by number, each with the LSN of its last write, and what is read of it."""

    def __init__(self) -> None:
        self.documents: dict[int, tuple[int, dict[str, Any]]] = {}
        self.loaded: list[int] = []

    def state(self, lsn: int) -> Items:
        def load(numbers: Sequence[int]) -> list[tuple[int, str, str, dict[str, Any]]]:
            self.loaded += numbers
            return [(number, '["p"]', "00", self.documents[number][1]) for number in numbers]

        def since(after: int) -> list[int]:
            return [number for number, (written, _) in self.documents.items() if written > after]

        return Items(self, lsn, lambda: list(self.documents), since, load)


def test_only_items_that_were_written_since_are_read_again() -> None:
    partition, kept = Partition(), SearchIndexes()
    partition.documents = {2: (1, {"t": "red", "v": [1, 0]}), 5: (2, {"t": "blue"}), 7: (3, {"t": "red red"})}
    first = kept.texts(partition.state(3), PHRASE)
    assert first.numbers.tolist() == [2, 5, 7]
    assert first.content.frequencies(("red",)).tolist() == [1, 0, 2]
    assert kept.texts(partition.state(3), PHRASE) is first

    partition.loaded.clear()
    del partition.documents[2]
    partition.documents[5] = (4, {"t": "red car red car red"})
    partition.documents[9] = (5, {"n": 1})
    later = kept.texts(partition.state(5), PHRASE)

    assert partition.loaded == [5, 9]
    assert later.numbers.tolist() == [5, 7, 9]
    assert later.content.frequencies(("red",)).tolist() == [3, 2, 0]
    assert later.content.lengths.tolist() == [5, 2, 0]


def test_vectors_of_the_wanted_length_are_kept() -> None:
    partition, kept = Partition(), SearchIndexes()
    partition.documents = {1: (1, {"v": [0, 1]}), 2: (1, {"v": [1, 2, 3]}), 3: (1, {}), 4: (1, {"v": [2, 0]})}
    for lsn in (1, 2):
        partition.documents[5] = (lsn, {"v": [1, 1]})
        found = kept.vectors(partition.state(lsn), SCORE)
        assert [None if one is None else one.tolist() for one in found.content.values] == (
            [[0, 1], None, None, [2, 0], [1, 1]]
        )


def test_the_state_of_a_lagging_replica_is_not_kept() -> None:
    partition, kept = Partition(), SearchIndexes()
    partition.documents = {1: (4, {"t": "red"})}
    latest = kept.texts(partition.state(4), PHRASE)

    assert kept.texts(partition.state(2), PHRASE).lsn == 2
    assert kept.texts(partition.state(4), PHRASE) is latest


def test_the_indexes_that_were_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = SearchIndexes()
    partitions = [Partition() for _ in range(3)]
    for partition in partitions:
        partition.documents = {1: (1, {"t": "red"})}
    size = kept.texts(partitions[0].state(1), PHRASE).content.size_bytes
    monkeypatch.setattr(indexes, "MOST_BYTES", 2 * size)

    kept.texts(partitions[1].state(1), PHRASE)
    kept.texts(partitions[0].state(1), PHRASE)
    kept.texts(partitions[2].state(1), PHRASE)

    for partition in partitions:
        partition.loaded.clear()
        kept.texts(partition.state(1), PHRASE)
    assert [partition.loaded for partition in partitions] == [[], [1], [1]]
