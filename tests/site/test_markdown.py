"""Markdown as safe HTML, and as plain text."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable

import pytest

from shared.site.markdown import plain_text, rendered_markdown
from tests.site.pages import ParsedPage

HARMLESS = {"p", "a", "code", "pre", "h2", "table", "thead", "tbody", "tr", "th", "td", "em", "strong", "blockquote"}


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](java\tscript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "[a](vbscript:x)",
        "<javascript:alert(1)>",
        "![x](javascript:alert(1))",
        '[a](https://e.com "x\\" onmouseover=\\"alert(1)")',
        '![x" onerror="alert(1)](https://e.com)',
        "[x]: javascript:alert(1)\n\n[x]",
        "```js\n</code></pre><script>alert(1)</script>\n```",
        '``` "><script>\nx\n```',
        "| <script> | [a](javascript:x) |\n|---|---|\n| <b onclick=x> | ` |",
        '<style>*{display:none}</style><a style="x">',
        '[a](https://e.com/"<pre>"onclick=x)',
    ],
)
def test_markdown_cannot_contain_html_or_scripts(text: str) -> None:
    page = ParsedPage(rendered_markdown(text))

    assert {element.tag for element in page.elements} <= HARMLESS
    for element in page.elements:
        assert set(element) <= {"href", "title", "rel", "tabindex", "dir"}
        assert element.get("href", "https:").startswith(("https:", "http:", "mailto:"))


def test_headings_start_below_the_title_of_the_page() -> None:
    assert rendered_markdown("# One\n\n###### Six") == '<h2 dir="auto">One</h2>\n<h6 dir="auto">Six</h6>\n'


def test_text_runs_in_the_direction_of_its_language() -> None:
    page = ParsedPage(rendered_markdown("שלום\n\n- עולם"))

    assert {page.one(tag)["dir"] for tag in ("p", "li")} == {"auto"}


def test_images_become_links_because_pages_load_nothing_from_elsewhere() -> None:
    page = ParsedPage(rendered_markdown("![A cat](https://example.com/cat.png)"))

    assert page.all("img") == []
    assert page.one("a", href="https://example.com/cat.png").text == "A cat"


def test_links_do_not_vouch_for_their_targets() -> None:
    link = ParsedPage(rendered_markdown("<https://example.com>")).one("a")

    assert set(link["rel"].split()) == {"nofollow", "noopener", "noreferrer", "ugc"}


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("They *weave* `patterns`,\nand [more](https://e.com).", "They weave patterns, and more."),
        ("# Heading\n\nText.", "Text."),
        ("# Only a heading", "Only a heading"),
        ("- one\n- two", "one two"),
        ("```\ncode <b>\n```", "code <b>"),
        ("~~gone~~ ![alt](x.png) <b>raw</b>", "gone alt <b>raw</b>"),
        ("Cut in the middle of **bold…", "Cut in the middle of **bold…"),
        ("", ""),
    ],
)
def test_summaries_are_plain_text(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


@pytest.mark.parametrize("unit", ["[", "*a ", "![", "> ", "`" * 3 + "\n", "- ", "<", "|", "[a](", "_*", "&#0;", "\\"])
def test_the_longest_post_is_rendered_in_bounded_time(unit: str) -> None:
    started = time.process_time()

    rendered_markdown(unit * (100_000 // len(unit)))

    # Quadratic time would take minutes.
    assert time.process_time() - started < 20


class Text(str):
    """Text that a weak reference can follow."""


@pytest.mark.parametrize("render", [rendered_markdown, plain_text])
def test_the_caches_do_not_keep_texts_without_output(render: Callable[[str], str]) -> None:
    text = Text("[a]: /b")
    followed = weakref.ref(text)

    output = render(text)
    del text
    gc.collect()

    assert output == ""
    assert followed() is None
