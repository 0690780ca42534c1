"""Summaries: the words of Markdown on one line, cut to what lists show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import filterfalse, islice, takewhile
from typing import TYPE_CHECKING, Any

from shared.models.characters import cluster_ends, is_blank

if TYPE_CHECKING:
    from pyromark import Markdown

SUMMARY_LENGTH = 200
# Bounds what a copy stores, because one grapheme cluster can have any number of code points.
_CODE_POINTS = 800
# The words after these are not in the summary. A table of 100,000 characters can have 600,000 events.
_EVENTS = 5_000
# After these, entries of lists and cells of tables need no other separator.
_SIGNS = ".,:;!?…。、，：；！？"
_INLINE = ("Emphasis", "Strong", "Strikethrough")

Event = Mapping[str, Any] | str


def summary(markdown: str) -> str:
    """Return the plain text of Markdown, at most 200 grapheme clusters, cut at a word's end if there is one.

    `…` marks a cut. Takes up to 60 ms for 100,000 hostile characters.
    """
    text = plain_text(markdown)
    if len(text) <= SUMMARY_LENGTH:
        return text
    is_whole = len(text) <= _CODE_POINTS
    ends = list(islice(cluster_ends(text[: _CODE_POINTS + 1]), SUMMARY_LENGTH + 1))
    if is_whole and len(ends) <= SUMMARY_LENGTH:
        return text
    room = max(takewhile(lambda end: end <= _CODE_POINTS, ends[: SUMMARY_LENGTH - 1]), default=_CODE_POINTS)
    cut = text[:room]
    if text[room] != " ":
        cut = cut.rpartition(" ")[0] or cut
    return cut.rstrip() + "…"


def markdown_events(text: str) -> Iterator[Event]:
    """The parser's events (the type checker cannot tell its typed dictionaries apart by their keys)."""
    return _parser().events(text)


@cache
def _parser() -> Markdown:
    # Slow to import, and most requests do not need it.
    from pyromark import Markdown, Options

    extensions = Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH
    return Markdown(options=extensions | Options.ENABLE_FOOTNOTES | Options.ENABLE_TASKLISTS)


def plain_text(markdown: str) -> str:
    """The words outside headings and blocks of code; if there are none, the headings, the code, or the addresses.

    Signs separate the entries of lists and the cells of tables.

    If there is none of these, but a list, a quote, a line or a block of code, it is the Markdown itself.

    An image is its alternative text, or its title.
    """
    words: list[str] = [""]
    # The index of the last word, and what separates it from the next one.
    last, separator = 0, ""
    headings: list[str] = []
    code: list[str] = []
    # Of images and links without text.
    addresses: list[str] = []
    # The Markdown, if readers see something of it without text.
    drawn: list[str] = []
    shown = words
    links: list[tuple[Mapping[str, Any], int]] = []
    for event in islice(markdown_events(markdown), _EVENTS):
        match event:
            case {"Text": part} | {"Code": part} | {"Html": part} | {"InlineHtml": part}:
                shown.append(part)
                if shown is words and part.strip():
                    if separator and words[last].rstrip()[-1:] not in _SIGNS:
                        words[last] = words[last].rstrip() + separator
                    last, separator = len(words) - 1, ""
            case {"Start": {"Link": dict(link)} | {"Image": dict(link)}}:
                links.append((link, len(shown)))
            case {"End": "Link" | "Image"}:
                target, start = links.pop()
                if len(shown) == start:
                    shown.append(target["title"])
                    addresses.append(f"{target['dest_url']} ")
            case {"Start": {"Heading": _}}:
                shown = headings
            case {"Start": {"CodeBlock": _}}:
                shown, drawn = code, [markdown]
            case "Rule" | {"Start": "Item"} | {"Start": {"BlockQuote": _}}:
                shown.append(" ")
                drawn = [markdown]
                separator = "," if event == {"Start": "Item"} else separator
            case {"Start": "TableCell"}:
                separator = separator or ","
            case {"End": "TableHead" | "TableRow"}:
                separator = ";"
            case {"Start": {"Table": _}} | {"End": "Table" | {"List": _}}:
                shown.append(" ")
                separator = "."
            case {"End": {"Heading": _}} | {"End": "CodeBlock"}:
                shown.append(" ")
                shown = words
            case {"Start": tag} | {"End": tag} if tag in _INLINE:
                pass
            case {"FootnoteReference": _}:
                pass
            case _:
                shown.append(" ")
    found = (" ".join("".join(parts).split()) for parts in (words, headings, code, addresses, drawn))
    return next(filterfalse(is_blank, found), "")
