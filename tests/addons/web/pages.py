"""A reader of the site's pages, without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser

from tests.plain_http import PlainClient, PlainResponse

# Addresses that lead to another one.
MOVED = ("feed.xml", "rss")
# Elements without content.
_VOID = {"base", "br", "col", "hr", "img", "input", "link", "meta"}


class Element(dict[str, str]):
    """An element: its attributes, its name, and the text in it."""

    def __init__(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        super().__init__({name: value or "" for name, value in attributes})
        self.tag = tag
        self.text = ""


class ParsedPage(HTMLParser):
    """The elements of a page in order, and the text in each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        assert self._open == [], "unclosed elements"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, attrs))
        if tag not in _VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag, f"misplaced </{tag}>"

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """The elements with this name and these attributes; `class_` is `class`, and `_` is `-`."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [found for found in self.elements if found.tag == tag and wanted.items() <= found.items()]

    def one(self, tag: str, **attributes: str) -> Element:
        """The only such element."""
        (found,) = self.all(tag, **attributes)
        return found


@dataclass(frozen=True)
class Shown(PlainResponse):
    """A response whose page can be read."""

    @cached_property
    def page(self) -> ParsedPage:
        return ParsedPage(self.text)


@dataclass(frozen=True)
class Site(PlainClient):
    """A client that reads pages."""

    async def get(self, path: str, headers: Mapping[str, str] | None = None, *, method: str = "GET") -> Shown:
        """Send a request, and do not follow redirects."""
        answer = await super().get(path, headers, method=method)
        return Shown(answer.status, answer.headers, answer.content)
