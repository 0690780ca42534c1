"""Markdown as HTML and as plain text. Both are bounded and cached, because they are the slowest part of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from threading import Lock

import nh3
from cachetools import LRUCache, cached
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

# Size of each cache in characters of output. Long Markdown can have no output, so an entry keeps only its hash, and
# counts as at least 200 characters.
_KEPT = 8_000_000
_ENTRY = 200
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s"),
    *("strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {
    # Text can run from right to left.
    **{tag: {"dir": "auto"} for tag in ("h2", "h3", "h4", "h5", "h6", "li", "p", "td", "th")},
    # Wide ones scroll, also with the keyboard.
    **{tag: {"tabindex": "0"} for tag in ("pre", "table")},
}


def _size(output: str) -> int:
    return _ENTRY + len(output)


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


@cached(LRUCache(_KEPT, getsizeof=_size), key=_hash, lock=Lock())
def rendered_markdown(text: str) -> Markup:
    """CommonMark with tables and strikethrough, as safe HTML: raw HTML is shown as text, images become links.

    Headings start at h2, because h1 is the title of the page.
    """
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.children:
            token.children = list(_without_images(token.children))
    html = nh3.clean(
        _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}),
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer ugc",
        set_tag_attribute_values=_ATTRIBUTES,
    )
    return Markup(html)  # noqa: S704 - sanitized


@cached(LRUCache(_KEPT, getsizeof=_size), key=_hash, lock=Lock())
def plain_text(text: str) -> str:
    """The words of Markdown on one line, without headings unless there is nothing else."""
    tokens = _MARKDOWN.parse(text)
    words = " ".join(_words(tokens, with_headings=False)) or " ".join(_words(tokens, with_headings=True))
    return " ".join(words.split())


def _without_images(tokens: Sequence[Token]) -> Iterator[Token]:
    """Replace each image by a link, because pages load nothing from other hosts."""
    for token in tokens:
        if token.type == "image":
            yield Token("link_open", "a", 1, attrs={"href": token.attrs["src"]})
            yield Token("text", "", 0, content=token.content or str(token.attrs["src"]))
            yield Token("link_close", "a", -1)
        else:
            yield token


def _words(tokens: Sequence[Token], *, with_headings: bool) -> Iterator[str]:
    in_heading = False
    for token in tokens:
        if token.type.startswith("heading_"):
            in_heading = token.nesting > 0
        elif token.type == "inline" and (with_headings or not in_heading):
            yield "".join(_text_of(child) for child in token.children or ())
        elif token.type in ("fence", "code_block"):
            yield token.content


def _text_of(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content
