"""Terms, phrases and BM25."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cosmos_emulator.search.texts import TextIndex, Vocabulary, bm25, occurrences, terms


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Bicycles, running & RUNNERS!", "en-US", ("bicycl", "run", "runner")),
        ("the state of the art", "en-US", ("state", "art")),
        ("I don't know John's e-mail", "en-US", ("john", "mail")),
        ("Die Häuser des Dorfes", "de-DE", ("die", "haus", "des", "dorf")),
        ("una demostración", "es-ES", ("una", "demostr")),
        ("snake_case 42", "en-US", ("snake", "case", "42")),
        ("काला किला", "en-US", ("काला", "किला")),
        ("İSTANBUL’da", "de-DE", ("istanbul'da",)),
        ("", "en-US", ()),
    ],
)
def test_a_text_has_terms(text: str, language: str, expected: tuple[str, ...]) -> None:
    assert terms(text, language) == expected


def test_a_phrase_occurs_where_its_terms_follow_each_other() -> None:
    found = terms("Red bicycles, a red bicycle, and a bicycle that is red", "en-US")

    assert occurrences(found, terms("red bicycle", "en-US")) == 2
    assert occurrences(found, terms("bicycle", "en-US")) == 3
    assert occurrences(found, terms("bicycle red bicycle red", "en-US")) == 0
    assert occurrences(found, terms("the", "en-US")) == 0


def test_bm25_has_the_known_value() -> None:
    # 100 texts of 20 terms on average; 9 have the phrase, this one twice in 10 terms.
    rarity = math.log(1 + 91.5 / 9.5)
    expected = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 10 / 20))

    assert bm25(2.0, 10.0, 100, 2000, 9) == pytest.approx(expected)
    assert bm25(0.0, 10.0, 100, 2000, 9) == 0
    assert bm25(0.0, 0.0, 0, 0, 0) == 0


def test_an_index_counts_like_the_function() -> None:
    texts = ["red bicycle red bicycle", None, "bicycle", "", "red. bicycle red", "bicycle"]
    vocabulary = Vocabulary("en-US")
    index = TextIndex([None if one is None else vocabulary.encode(one) for one in texts], vocabulary)

    for phrase in ("red", "bicycles", "red bicycle", "bicycle red bicycle", "bicycle bicycle", "car", "the"):
        wanted = terms(phrase, "en-US")
        expected = [0 if one is None else occurrences(terms(one, "en-US"), wanted) for one in texts]
        assert index.frequencies(wanted).tolist() == expected
    assert index.lengths.tolist() == [4, 0, 1, 0, 3, 1]
    assert [None if one is None else len(one) for one in index.values] == [4, None, 1, 0, 3, 1]
    assert TextIndex([], vocabulary).frequencies(("red",)).tolist() == []
    assert np.array_equal(TextIndex(index.values, vocabulary).frequencies(("red",)), index.frequencies(("red",)))
