"""Markdown as HTML, in bounded time and memory.

The parser takes linear time, even for hostile text. It limits the text that reference links and the missing cells of
tables add, like other implementations of CommonMark:
https://github.com/commonmark/cmark/blob/0.31.2/src/blocks.c (`max_ref_size`)
https://github.com/pulldown-cmark/pulldown-cmark/blob/master/pulldown-cmark/src/parse.rs (`link_ref_expansion_limit`)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from threading import Condition
from typing import Any
from urllib.parse import quote

import nh3
from cachetools import LRUCache, cached
from markupsafe import Markup, escape

from addons.web.links import LINK_REL, linked
from addons.web.slugs import slug
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
# Replaced when the levels of all headings are known.
_HEADING_END = "</h>\n"
_CODE_BLOCK_END = "</code></pre>\n"
_TABLE_HEAD_END = "</tr></thead>\n"
_TAGS = {
    *("a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong"),
    *("span", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_HEADINGS = {f"h{level}": {"id"} for level in range(2, 7)}
# The languages that code.js colors, by the names that authors use.
_LANGUAGES = {name: name for name in ("bash", "csharp", "javascript", "json", "python", "sql", "yaml")}
_LANGUAGES |= {"c#": "csharp", "cs": "csharp", "js": "javascript", "ts": "javascript", "typescript": "javascript"}
_LANGUAGES |= {"py": "python", "sh": "bash", "shell": "bash", "yml": "yaml"}
_ATTRIBUTES = {
    **_HEADINGS,
    **{"*": {"dir"}, "a": {"href", "title", "aria-label"}, "li": {"id"}, "ol": {"start"}, "sup": {"id"}},
}
_CLASSES = {
    "code": {f"language-{name}" for name in _LANGUAGES.values()},
    **{"a": {"named", "anchor"}, "ol": {"notes"}, "span": {"task"}},
    **{"td": {*_ALIGNMENTS.values()}, "th": {*_ALIGNMENTS.values()}},
}
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
    links. The highest level of headings is h2, because h1 is the title of the page, and no level is left out.
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
        self._referred: set[int] = set()
        # The headings: their level, the indices of their tags, and their words. The last one's level, index and words.
        self._headings: list[tuple[int, int, int, str]] = []
        self._heading = (0, 0)
        self._words: list[str] = []

    def render(self, text: str) -> str:
        """Return HTML in which all of the text is escaped. Raises _TooComplex."""
        length = 0
        for number, event in enumerate(markdown_events(text)):
            if html := self._html(event):
                self._parts.append(html)
                length += len(html)
            if number == _EVENTS or length > _LENGTH or len(self._open) > _DEPTH:
                raise _TooComplex
        self._finish_headings()
        return "".join(self._parts)

    def _finish_headings(self) -> None:
        """Give headings their levels, and an address, which is known at the end of the text."""
        levels = sorted({level for level, *_ in self._headings})
        anchors: Counter[str] = Counter()
        for level, start, end, words in self._headings:
            name, anchor, link = f"h{levels.index(level) + 2}", "", ""
            if words:
                anchors[words] += 1
                # No slug ends with a dot and a number, so addresses are unique.
                words += f".{anchors[words]}" if anchors[words] > 1 else ""
                anchor = f' id="on-{words}"'
                link = f'<a class="anchor" href="#on-{quote(words)}" aria-label="Link to this section">#</a>'
            self._parts[start] = f"<{name}{anchor}{self._parts[start].removeprefix('<h')}"
            self._parts[end] = f"{link}</{name}>\n"

    def _html(self, event: Mapping[str, Any] | str) -> str:
        match event:
            case {"Text": text}:
                if _HEADING_END in self._open:
                    self._words.append(text)
                is_literal = "</a>" in self._open or _CODE_BLOCK_END in self._open
                return escape(text) if is_literal else linked(text)
            case {"Start": tag}:
                start, end = self._element(tag)
                self._open.append(end)
                return start
            case {"End": _}:
                return self._end()
            case {"Code": text}:
                if _HEADING_END in self._open:
                    self._words.append(text)
                return Markup("<code>{}</code>").format(text)
            case {"Html": text} | {"InlineHtml": text}:
                return escape(text)
            case {"FootnoteReference": label}:
                number = self._note(label)
                anchor = "" if number in self._referred else f' id="ref-{number}"'
                self._referred.add(number)
                return f'<sup{anchor}><a href="#note-{number}">{number}</a></sup>'
            case {"TaskListMarker": bool(is_done)}:
                return f'<span class="task">{"☑" if is_done else "☐"}</span> '
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
            case {"CodeBlock": block}:
                info = block["Fenced"].split() if isinstance(block, dict) else []
                language = _LANGUAGES.get(info[0].lower()) if info else None
                named = f' class="language-{language}"' if language else ""
                return f'<pre dir="ltr"><code{named}>', _CODE_BLOCK_END
            case {"FootnoteDefinition": label}:
                number = self._note(label)
                anchor = "" if number in self._noted else f' id="note-{number}"'
                self._noted.add(number)
                back = f'<a href="#ref-{number}" aria-label="Back to the text">↩</a>'
                start = f'<ol class="notes" start="{number}"{self._direction()}><li{anchor}>'
                return start, f"{back}</li></ol>\n"
            case {"Heading": {"level": str(level)}}:
                self._heading = int(level[1]), len(self._parts)
                return f"<h{self._direction()}>", _HEADING_END
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
        if end == _HEADING_END:
            self._headings.append((*self._heading, len(self._parts), slug("".join(self._words))))
            self._words.clear()
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
