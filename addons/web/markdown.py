"""Markdown as HTML, in bounded time and memory.

The parser takes linear time, even for hostile text. It limits the text that reference links and the missing cells of
tables add, like other implementations of CommonMark:
https://github.com/commonmark/cmark/blob/0.31.2/src/blocks.c (`max_ref_size`)
https://github.com/pulldown-cmark/pulldown-cmark/blob/master/pulldown-cmark/src/parse.rs (`link_ref_expansion_limit`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from threading import Condition
from typing import Any

import nh3
from cachetools import LRUCache, cached
from markupsafe import Markup, escape

from addons.web.links import LINK_REL, linked
from shared.models.summary import markdown_events

# Size of the cache in characters of output. Long Markdown can have no output, so an entry keeps only its hash, and
# counts as at least 200 characters.
_KEPT = 8_000_000
_ENTRY = 200
# A table of 100,000 characters can have 600,000 events; ordinary text has fewer than 15,000. Escaping makes 100,000
# characters at most 500,000. The sanitizer's time grows with the square of the depth.
_EVENTS = 40_000
_LENGTH = 800_000
_DEPTH = 64
_INLINE = {"Emphasis": "em", "Strong": "strong", "Strikethrough": "s"}
_BLOCKS = {
    "BlockQuote": "blockquote",
    "HtmlBlock": "p",
    "Item": "li",
    "List": "ul",
    "Paragraph": "p",
}
# The class of a table's cell by the alignment of its column. The pages' policy forbids styles.
_ALIGNMENTS = {"Left": "align-left", "Center": "align-center", "Right": "align-right"}
_CODE_BLOCK_END = "</code></pre>\n"
_TABLE_HEAD_END = "</tr></thead>\n"
_TAGS = {
    *("a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong"),
    *("sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {"*": {"dir"}, "a": {"href", "title"}, "li": {"id"}, "ol": {"start"}}
_CLASSES = {"a": {"named"}, "td": {*_ALIGNMENTS.values()}, "th": {*_ALIGNMENTS.values()}}
_SCHEMES = {"http", "https", "mailto"}
_UNFORMATTED = Markup(
    '<p class="hint">This text is too complex to be formatted.</p>\n<pre class="source" dir="auto">{}</pre>\n'
)


class _TooComplex(Exception):
    """The HTML would be too large or too deeply nested."""


def _size(output: str) -> int:
    return _ENTRY + len(output)


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


# With a condition, concurrent calls with the same text wait for one result.
@cached(LRUCache(_KEPT, getsizeof=_size), key=_hash, condition=Condition())
def rendered_markdown(text: str) -> Markup:
    """CommonMark with tables, strikethrough and footnotes, as safe HTML. Text that is too complex is shown as written.

    Raw HTML is shown as text. Images become links, because pages load nothing from other hosts. Web addresses become
    links. Headings start at h2, because h1 is the title of the page.
    """
    try:
        html = _Html().render(text)
    except _TooComplex:
        return _UNFORMATTED.format(text)
    html = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel=LINK_REL,
    )
    return Markup(html)  # noqa: S704 - sanitized


class _Html:
    """One rendering: the parser's events as HTML."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        # The end tag of each open element; empty for a link or image in a link.
        self._open: list[str] = []
        # Of the last link: its address, and the index of its start tag.
        self._address = ""
        self._link_index = 0
        # The alignments of the columns of the last table, and of the cells that are left in its row.
        self._columns: tuple[str, ...] = ()
        self._cells: Iterator[str] = iter(())
        # The number of each footnote by its label, and those whose text has been shown.
        self._notes: dict[str, int] = {}
        self._noted: set[int] = set()

    def render(self, text: str) -> str:
        """Return HTML in which all of the text is escaped. Raises _TooComplex."""
        length = 0
        for number, event in enumerate(markdown_events(text)):
            if html := self._html(event):
                self._parts.append(html)
                length += len(html)
            if number == _EVENTS or length > _LENGTH or len(self._open) > _DEPTH:
                raise _TooComplex
        return "".join(self._parts)

    def _html(self, event: Mapping[str, Any] | str) -> str:
        match event:
            case {"Text": text}:
                is_literal = "</a>" in self._open or _CODE_BLOCK_END in self._open
                return escape(text) if is_literal else linked(text)
            case {"Start": tag}:
                start, end = self._element(tag)
                self._open.append(end)
                return start
            case {"End": _}:
                return self._end()
            case {"Code": text}:
                return Markup("<code>{}</code>").format(text)
            case {"Html": text} | {"InlineHtml": text}:
                return escape(text)
            case {"FootnoteReference": label}:
                number = self._note(label)
                return f'<sup><a href="#note-{number}">{number}</a></sup>'
            case "HardBreak":
                return "<br>\n"
            case "Rule":
                return "<hr>\n"
            case _:
                return "\n"

    def _element(self, tag: Mapping[str, Any] | str) -> tuple[str, str]:
        """The start tag and the end tag of an element."""
        match tag:
            case {"Link": dict(link)} | {"Image": dict(link)}:
                return ("", "") if "</a>" in self._open else (self._link(link), "</a>")
            case {"CodeBlock": _}:
                return '<pre dir="ltr"><code>', _CODE_BLOCK_END
            case {"FootnoteDefinition": label}:
                number = self._note(label)
                anchor = "" if number in self._noted else f' id="note-{number}"'
                self._noted.add(number)
                return f'<ol start="{number}"{self._direction()}><li{anchor}>', "</li></ol>\n"
            case {"Heading": {"level": str(level)}}:
                name = f"h{min(6, int(level[1]) + 1)}"
            case {"List": int(first)}:
                return f'<ol start="{first}"{self._direction()}>\n', "</ol>\n"
            case {"Table": tuple(columns)}:
                self._columns = columns
                name = "table"
            case "TableHead":
                self._cells = iter(self._columns)
                return "<thead><tr>", _TABLE_HEAD_END
            case "TableRow":
                self._cells = iter(self._columns)
                return "<tr>", "</tr>\n"
            case "TableCell":
                name = "th" if _TABLE_HEAD_END in self._open else "td"
                class_ = _ALIGNMENTS.get(next(self._cells, ""))
                return f'<{name} class="{class_}">' if class_ else f"<{name}>", f"</{name}>\n"
            case "Emphasis" | "Strong" | "Strikethrough":
                name = _INLINE[tag]
                return f"<{name}>", f"</{name}>"
            case _:
                name = _BLOCKS[tag if isinstance(tag, str) else next(iter(tag))]
        return f"<{name}{self._direction()}>", f"</{name}>\n"

    def _link(self, link: Mapping[str, Any]) -> str:
        self._link_index = len(self._parts)
        self._address = ("mailto:" if link["link_type"] == "Email" else "") + link["dest_url"]
        title = Markup(' title="{}"').format(link["title"]) if link["title"] else ""
        return Markup('<a href="{}"{}>').format(self._address, title)

    def _end(self) -> str:
        end = self._open.pop()
        if end != "</a>":
            return end
        text, address = "".join(self._parts[self._link_index + 1 :]), escape(self._address)
        # The stylesheet prints the address of a link that does not show it.
        if text not in ("", address):
            start = self._parts[self._link_index]
            self._parts[self._link_index] = f'<a class="named"{start.removeprefix("<a")}'
        return end if text else f"{address}{end}"

    def _direction(self) -> str:
        # Only of the outermost elements, because `auto` ignores what is in an element with its own direction.
        return "" if self._open else ' dir="auto"'

    def _note(self, label: str) -> int:
        return self._notes.setdefault(label.casefold(), len(self._notes) + 1)
