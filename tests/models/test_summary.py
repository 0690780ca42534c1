"""The summary of a post: its plain text, at most 200 grapheme clusters, cut at a word's end."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.models.characters import cluster_ends
from shared.models.summary import SUMMARY_LENGTH, markdown_events, summary


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
def test_length_is_counted_in_grapheme_clusters(character: str, shift: int) -> None:
    shown = summary("x" * shift + character * 4 * SUMMARY_LENGTH)

    kept = shown.removeprefix("x" * shift).removesuffix("…")
    assert kept == character * (len(kept) // len(character))
    full = shift + 4 * len(character) * SUMMARY_LENGTH > 800 and len(character) > 4
    assert len(list(cluster_ends(shown))) == SUMMARY_LENGTH or (full and len(shown) > 780)
    assert summary(character * 100) == character * 100


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("This is [a link][1] in my post.\n\n[1]: https://example.com/a", "This is a link in my post."),
        (
            f"They wrote [the long story of that]({'https://example.com/' + 'a' * 300}).",
            "They wrote the long story of that.",
        ),
        ("A claim[^1] that matters.\n\n[^1]: note", "A claim that matters. note"),
        ("They *weave* `patterns`,\nand [more](https://e.com).", "They weave patterns, and more."),
        ("# Heading\n\nText.", "Text."),
        ("# Only *a* heading\n\n## And another", "Only a heading And another"),
        # Entries and cells do not run together.
        ("- one\n- two", "one, two"),
        ("Buy:\n\n- *one*.\n- two\n  1. three\n\nThen go.", "Buy: one. two, three. Then go."),
        ("Look\n\n| a | b |\n|---|---|\n| c | |\n\nThen go.", "Look. a, b; c. Then go."),
        ("~~gone~~ <b>raw</b> **bold**", "gone <b>raw</b> bold"),
        ("&lt;b&gt; 2 \\* 3", "<b> 2 * 3"),
        ("", ""),
        ("[a]: /b", ""),
        # An image is its alternative text or title. It shows its address only if there is nothing else, as on the page.
        ("![A photo of my loom](x.png)", "A photo of my loom"),
        ('![](x.png "My loom")', "My loom"),
        ("![](https://e.com/x.png)", "https://e.com/x.png"),
        ("Look: ![](https://e.com/x.png)", "Look:"),
        # A block of code is left out, unless there is nothing else.
        ("Run this:\n\n```sh\nmake\n```\n\nThen wait.", "Run this: Then wait."),
        ("```py\nfor one in range(3):\n    print(one)\n```", "for one in range(3): print(one)"),
        ("# Title\n\n    code", "Title"),
    ],
)
def test_a_summary_is_plain_text(markdown: str, text: str) -> None:
    assert summary(markdown) == text


def test_markdown_is_removed_before_the_text_is_cut() -> None:
    words = "word " * 37
    text = f"{words}and **this bold sentence that goes on** and on."

    assert summary(text) == f"{words}and this bold…"


@given(st.text(max_size=2 * SUMMARY_LENGTH) | st.text("a *_`[]()!#\n>-|&;\u0301", max_size=900))
def test_a_summary_is_short_and_on_one_line(content: str) -> None:
    shown = summary(content)

    assert len(list(cluster_ends(shown))) <= SUMMARY_LENGTH
    assert len(shown) <= 801
    assert shown == " ".join(shown.split())


@given(st.text(st.characters(categories=("L", "M", "Nd", "So", "Zs")), min_size=150, max_size=3 * SUMMARY_LENGTH))
def test_a_cut_is_between_clusters_and_words(content: str) -> None:
    shown, text = summary(content), " ".join(content.split())

    if shown != text:
        kept = shown.removesuffix("…")
        assert text.startswith(kept)
        assert len(kept) in cluster_ends(text) or len(kept) == 800
        assert " " not in kept or text[len(kept)] == " "


def test_a_cluster_of_any_length_makes_a_short_summary() -> None:
    assert len(summary("a" + "\u0301" * 99_999)) == 801


@pytest.mark.parametrize(
    "text", ["a " * 50_000, "|" * 49_992 + "\n|" + "-|" * 25_000, "[" * 99_999, "*a" * 50_000, "> " * 50_000]
)
def test_the_summary_of_a_hostile_text_takes_little_time(text: str) -> None:
    list(markdown_events("a"))
    started = time.thread_time()

    summary(text)

    assert time.thread_time() - started < 0.3
