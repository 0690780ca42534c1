"""The words of a search in the texts of its results."""

from __future__ import annotations

import pytest

from addons.search.highlight import SHOWN, Part, highlighted, parts


def matches(found: list[Part]) -> list[str]:
    return [part.text for part in found if part.is_match]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Partitions and the partitioning of a partition", ["partition"], ["Partitions", "partitioning", "partition"]),
        ("Running a marathon", ["running"], ["Running"]),
        ("To be, or not", ["not"], ["not"]),
        ("Another note", ["the"], []),
        ("L'été et l’été", ["l'été"], ["L'été", "l’été"]),
        ("中文 搜索", ["搜索"], ["搜索"]),
        ("우리 학교 회관 한국어 하고", ["한국"], ["한국어"]),
        ("हिन्दी और हिंसा", ["हिन्दी"], ["हिन्दी"]),
        ("Die Häuser", ["haus"], ["Häuser"]),
        ("rock’n’roll, rock'n'roll", ["rock'n'roll"], ["rock’n’roll", "rock'n'roll"]),
        ("a.b* (c)", ["b"], ["b"]),
    ],
)
def test_words_and_their_other_forms_match(text: str, words: list[str], expected: list[str]) -> None:
    found = parts(text, words)

    assert matches(found) == expected
    assert "".join(part.text for part in found) == text


def test_the_part_around_the_first_match_is_shown() -> None:
    found = highlighted("before " * 100 + "the needle here " + "after " * 100, ["needle"])
    text = "".join(part.text for part in found)

    assert matches(found) == ["needle"]
    assert text.startswith("…before")
    assert text.endswith("after…")
    assert len(text) <= SHOWN + 2


def test_a_text_with_matches_only_in_its_title_starts_at_its_beginning() -> None:
    found = highlighted("word " * 100, ["needle"])

    assert found[0].text.startswith("word word")
    assert matches(found) == []


def test_text_without_spaces_is_cut() -> None:
    assert len("".join(part.text for part in highlighted("x" * 1000, ["needle"]))) == SHOWN + 1


def test_a_word_in_a_long_address_is_shown() -> None:
    found = highlighted(f"see https://example.com/{'a/' * 60}cosmos-db is nice. " + "more words " * 60, ["cosmos"])

    assert matches(found) == ["cosmos"]
