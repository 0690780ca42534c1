"""Web addresses in text as links."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

LINK_REL = "nofollow noopener noreferrer ugc"
# Chinese, Japanese and Korean text has no spaces: a letter can precede an address, and one can follow its host. Their
# punctuation ends an address, but not the letters and middle dots that paths have.
_CJK_LETTER = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_END = r"\s<>\"“”«»\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff5b-\uff65"
# Only addresses with a scheme: jinja2.utils.urlize and linkify-it-py also treat "System.Net" as a host, and the latter
# knows no punctuation but ASCII. Parentheses only in pairs, because text puts addresses in parentheses. Nothing follows
# the repetition, so the search is linear.
_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9_])https?://"
    rf"(?:[A-Za-z0-9.-]*[A-Za-z0-9](?=[{_CJK_LETTER}])|\w(?:[^{_END}()]+|\([^{_END}()]*\))*)",
    re.IGNORECASE,
)
_PUNCTUATION = ".,:;!?'*_~]}’…"


def linked(text: str) -> Markup:
    """Return text as HTML in which http and https addresses are links."""
    parts: list[str] = []
    end = 0
    for match in _ADDRESS.finditer(text):
        address = match[0].rstrip(_PUNCTUATION)
        parts += escape(text[end : match.start()]), _link(address)
        end = match.start() + len(address)
    return Markup("").join([*parts, escape(text[end:])])


def _link(address: str) -> Markup:
    return Markup('<a href="{0}" rel="{1}">{0}</a>').format(address, LINK_REL)
