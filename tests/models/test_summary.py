"""The summary of a post: at most 200 characters, cut at a word boundary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.models.post import SUMMARY_LENGTH, summary


def test_short_content_is_its_own_summary() -> None:
    assert summary("x" * SUMMARY_LENGTH) == "x" * SUMMARY_LENGTH


def test_long_content_is_cut_at_a_word_boundary() -> None:
    assert summary("words " * 100) == "words " * 32 + "words…"
    assert summary("word " * 100) == "word " * 39 + "word…"


def test_a_word_that_ends_at_the_limit_is_kept() -> None:
    word = "x" * (SUMMARY_LENGTH - 1)

    assert summary(f"{word} and more") == f"{word}…"
    assert summary(f"short {word} and more") == "short…"


def test_a_single_long_word_is_cut() -> None:
    assert summary("x" * 1000) == "x" * (SUMMARY_LENGTH - 1) + "…"


@pytest.mark.parametrize(
    "character",
    [
        pytest.param("🇩🇪", id="flag"),
        pytest.param("👍🏽", id="skin tone"),
        pytest.param("👨‍👩‍👧‍👦", id="joined family"),
        pytest.param("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", id="flag of a region"),
        pytest.param("1\ufe0f\u20e3", id="keycap"),
        pytest.param("❤️", id="variation"),
        pytest.param("e\u0301", id="accent"),
        pytest.param("नि", id="vowel sign"),
        pytest.param("😀", id="outside the basic plane"),
    ],
)
@pytest.mark.parametrize("shift", range(8))
def test_a_grapheme_cluster_is_not_split(character: str, shift: int) -> None:
    shown = summary("x" * shift + character * SUMMARY_LENGTH)

    kept = shown.removeprefix("x" * shift).removesuffix("…")
    assert kept == character * (len(kept) // len(character))
    assert SUMMARY_LENGTH - len(character) <= len(shown) <= SUMMARY_LENGTH


@given(st.text(max_size=2 * SUMMARY_LENGTH))
def test_a_summary_is_short_and_starts_like_the_content(content: str) -> None:
    shown = summary(content)

    assert len(shown) <= SUMMARY_LENGTH
    assert shown == content or (shown.endswith("…") and content.startswith(shown[:-1]))
