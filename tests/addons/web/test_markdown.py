"""Markdown as safe HTML, and as plain text."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import nh3
import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from addons.web.links import linked
from addons.web.markdown import rendered_markdown
from shared.models.summary import summary
from tests.addons.web.hostile_markdown import HOSTILE, LONGEST
from tests.addons.web.pages import ParsedPage

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
        assert set(element) <= {"href", "title", "rel", "tabindex", "dir", "class"}
        assert re.fullmatch(r"named|language-\w+", element.get("class", "named"))
        assert element.get("href", "https:").startswith(("https:", "http:", "mailto:"))


@pytest.mark.parametrize("text", ["# One\n\n###### Six", "### One\n\n#### Six"])
def test_headings_start_below_the_title_of_the_page_and_leave_out_no_level(text: str) -> None:
    page = ParsedPage(rendered_markdown(text))

    assert [page.one(tag).text.rstrip("#") for tag in ("h2", "h3")] == ["One", "Six"]


def test_each_heading_has_an_address_of_its_own() -> None:
    page = ParsedPage(rendered_markdown("# Überblick\n\n# Two *words*\n\n# Two words\n\n# ???"))

    assert [heading.get("id") for heading in page.all("h2")] == ["on-überblick", "on-two-words", "on-two-words.2", None]
    assert [link["href"] for link in page.all("a", class_="anchor")] == [
        "#on-%C3%BCberblick",
        "#on-two-words",
        "#on-two-words.2",
    ]


def test_tasks_are_done_or_not() -> None:
    page = ParsedPage(rendered_markdown("- [ ] dig\n- [x] sow"))

    assert [item.text.strip() for item in page.all("li")] == ["☐ dig", "☑ sow"]


def test_text_runs_in_the_direction_of_its_language() -> None:
    page = ParsedPage(rendered_markdown("שלום\n\n- עולם\n\n> עולם\n\n| עולם |\n|--|\n\n# עולם\n\n[^1]: עולם"))

    outermost = ("ul", "blockquote", "table", "h2", "ol")
    assert [page.one(tag)["dir"] for tag in outermost] == ["auto"] * len(outermost)
    # `auto` ignores text in an element with its own direction.
    assert [element["dir"] for element in page.all("p") if "dir" in element] == ["auto"]
    assert [element for element in page.all("li") + page.all("th") if "dir" in element] == []


def test_code_runs_from_left_to_right() -> None:
    assert ParsedPage(rendered_markdown("> שלום\n>\n>     x = 1")).one("pre")["dir"] == "ltr"


def test_images_become_links_because_pages_load_nothing_from_elsewhere() -> None:
    page = ParsedPage(rendered_markdown("![A cat](https://example.com/cat.png)"))

    assert page.all("img") == []
    assert page.one("a", href="https://example.com/cat.png").text == "A cat"


def test_links_do_not_vouch_for_their_targets() -> None:
    link = ParsedPage(rendered_markdown("<https://example.com>")).one("a")

    assert set(link["rel"].split()) == {"nofollow", "noopener", "noreferrer", "ugc"}


@pytest.mark.parametrize(
    ("markdown", "addresses"),
    [
        ("See https://e.com/a_b_c?d=1&e=2.", ["https://e.com/a_b_c?d=1&e=2"]),
        ("(http://e.com), *HTTP://e.com/x*!", ["http://e.com", "HTTP://e.com/x"]),
        ("https://en.wikipedia.org/wiki/Loom_(weaving)", ["https://en.wikipedia.org/wiki/Loom_(weaving)"]),
        ("[http://text](https://e.com)", ["https://e.com"]),
        ("![https://e.com/x.png](https://e.com/x.png)", ["https://e.com/x.png"]),
        ("`http://e.com`\n\n    http://e.com", []),
        ("System.Net, ftp://e.com, javascript:alert(1), http://", []),
        ("| https://e.com |\n|---|", ["https://e.com"]),
        # Chinese, Japanese and Korean text
        ("请看https://e.com/a", ["https://e.com/a"]),
        ("参考：https://e.com/a，谢谢", ["https://e.com/a"]),
        (
            "（https://e.com/a）「https://e.com/b」『https://e.com/c』【https://e.com/d】",
            [f"https://e.com/{c}" for c in "abcd"],
        ),
        ("https://e.com/a、https://e.com/b。", ["https://e.com/a", "https://e.com/b"]),
        ("“https://e.com/a”和《https://e.com/b》", ["https://e.com/a", "https://e.com/b"]),
        ("访问https://e.com查看，이것은https://e.com입니다", ["https://e.com", "https://e.com"]),
        (
            "https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ",
            ["https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ"],
        ),
        ("https://日本.jp/佐々木 https://münchen.de/ü", ["https://日本.jp/佐々木", "https://münchen.de/ü"]),
        ("xhttps://e.com _https://e.com", []),
    ],
)
def test_web_addresses_are_links(markdown: str, addresses: list[str]) -> None:
    links = ParsedPage(rendered_markdown(markdown)).all("a")

    assert [link["href"] for link in links] == addresses
    assert all("nofollow" in link["rel"] for link in links)
    if not re.search(r"[`!|*\[]", markdown):
        in_a_comment = ParsedPage(linked(markdown)).all("a")
        assert [link.text for link in in_a_comment] == [link["href"] for link in in_a_comment] == addresses


def test_a_footnote_is_a_note_and_not_a_link_to_its_text() -> None:
    page = ParsedPage(rendered_markdown("Text[^1] and[^B].\n\n[^1]: note\n\n[^b]: other\n\n[^1]: again"))

    links = [(link["href"], link.text) for link in page.all("a")]
    assert links[:2] == [("#note-1", "1"), ("#note-2", "2")]
    assert links[2:] == [("#ref-1", "↩"), ("#ref-2", "↩"), ("#ref-1", "↩")]
    assert [mark["id"] for mark in page.all("sup")] == ["ref-1", "ref-2"]
    assert [(item.get("id"), item.text.removesuffix("↩").strip()) for item in page.all("li")] == [
        ("note-1", "note"),
        ("note-2", "other"),
        (None, "again"),
    ]


def test_an_image_or_link_without_text_shows_its_address() -> None:
    page = ParsedPage(rendered_markdown("![](https://e.com/x.png) [![alt](https://e.com/y.png)](https://e.com/&)"))

    assert [(link["href"], link.text) for link in page.all("a")] == [
        ("https://e.com/x.png", "https://e.com/x.png"),
        ("https://e.com/&", "alt"),
    ]


def test_print_shows_the_addresses_of_links_with_another_text() -> None:
    text = "https://e.com <https://e.com> [https://e.com](https://e.com) [](https://e.com) [A *shop*](https://e.com/&)"

    links = ParsedPage(rendered_markdown(text)).all("a")

    assert [link.text for link in links if link.get("class") == "named"] == ["A shop"]
    assert len(links) == 5


def test_columns_of_tables_are_aligned() -> None:
    rows = "| a | b | c | d |\n|---|:--|:-:|--:|\n| 1 | 2 | 3 | 4 | 5 |\n| 1 |\n"

    page = ParsedPage(rendered_markdown(f"{rows}\n> | e | f |\n> |--:|---|\n> | 1 | 2 |\n"))

    columns = [None, "align-left", "align-center", "align-right"]
    assert [cell.get("class") for cell in page.all("th")] == [*columns, "align-right", None]
    assert [cell.get("class") for cell in page.all("td")] == [*columns, *columns, "align-right", None]


@pytest.mark.parametrize("levels", [9, 10, 30, 500])
@pytest.mark.parametrize("unit", ["- ", "> "])
def test_deeply_nested_text_is_shown(levels: int, unit: str) -> None:
    text = unit * levels + "the text"

    page = ParsedPage(rendered_markdown(text))

    assert "the text" in "".join(element.text for element in page.elements)
    if levels > 30:
        assert page.one("pre", class_="source").text == text


UNITS = [
    *(
        "[",
        "]",
        "[a]",
        "[a](b)",
        "![",
        "](",
        "[a]: b ",
        "[^1]",
        "[^1]: ",
        "*",
        "_",
        "**",
        "a",
        "b ",
        " ",
        "~~",
        "`",
        "<",
    ),
    *("http://a.b/", "(", ")", "<a ", "<!--", "<?", "&amp;", '"', "\\", "|", "|-", "-", "> ", "- ", "1. ", "# ", "\n"),
    *("\n\n", "```\n", "    ", "\t", "  \n", "\0", "\U0001f600", "ש"),
]


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    """Texts of the greatest length: up to four runs of a repeated pattern, with or without line breaks between them."""
    patterns = draw(st.lists(st.lists(st.sampled_from(UNITS), min_size=1, max_size=6).map("".join), max_size=4))
    shares = [draw(st.integers(1, 8)) for _ in patterns]
    runs = [
        pattern * (LONGEST * share // sum(shares) // len(pattern))
        for pattern, share in zip(patterns, shares, strict=True)
    ]
    return draw(st.sampled_from(["", "\n", "\n\n"])).join(runs)[:LONGEST]


def tables(columns: int, cell: str) -> str:
    """A table whose rows have one cell of `columns`."""
    head = f"{'|a' * columns}|\n{'|-' * columns}|\n"
    return head + f"{cell}\n" * ((LONGEST - len(head)) // (len(cell) + 1))


@pytest.mark.nightly
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(long_texts() | st.builds(tables, st.integers(1, 20_000), st.sampled_from(["a", "|", "|a", "a|b"])))
def test_the_longest_post_is_rendered_in_bounded_time(text: str) -> None:
    target(assert_cheap(text))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_rendered_in_bounded_time(name: str) -> None:
    assert_cheap(HOSTILE[name])


def assert_cheap(text: str) -> float:
    """Render a text as HTML and as a summary, and return the seconds of CPU time."""
    assert len(text) <= LONGEST
    rendered_markdown.cache_clear()
    started = time.thread_time()

    html, words = rendered_markdown(text), summary(text)

    seconds = time.thread_time() - started
    # Twice what the slowest text takes alone on one core.
    assert seconds < 1
    # Small enough to be cached, also if it is "too complex".
    assert len(html) < 2_000_000
    assert len(words) <= 801
    assert len(rendered_markdown.cache) == 1
    return seconds


MEMORY = """
import resource, sys
from shared.models.summary import summary
from addons.web.markdown import rendered_markdown

text = sys.stdin.buffer.read().decode()
rendered_markdown("a"), summary("a")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rendered_markdown(text), summary(text)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="reads the greatest memory use in kilobytes")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_rendered_in_bounded_memory(name: str) -> None:
    command = [sys.executable, "-c", MEMORY]
    ran = subprocess.run(command, input=HOSTILE[name].encode(), capture_output=True, check=True)  # noqa: S603 - ours

    assert int(ran.stdout) < 20_000


def test_concurrent_readers_of_a_text_share_one_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    sanitized: list[str] = []
    clean = nh3.clean
    monkeypatch.setattr(nh3, "clean", lambda html, **options: sanitized.append(html) or clean(html, **options))
    text = "[a](b) " * 5_000

    with ThreadPoolExecutor(8) as threads:
        shown = set(threads.map(rendered_markdown, [text] * 8))

    assert len(shown) == 1
    assert len(sanitized) == 1


class Text(str):
    """Text that a weak reference can follow."""


def test_the_cache_does_not_keep_texts_without_output() -> None:
    text = Text("[a]: /b")
    followed = weakref.ref(text)

    output = rendered_markdown(text)
    del text
    gc.collect()

    assert output == ""
    assert followed() is None
