"""Web addresses in text as links."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

LINK_REL = "nofollow noopener noreferrer ugc"
# Only addresses with a scheme: jinja2.utils.urlize also treats "System.Net" as a host. Parentheses only in pairs,
# because text puts addresses in parentheses. Nothing follows the repetition, so the search is linear.
_ADDRESS = re.compile(r"""\bhttps?://\w(?:[^\s<>"()]+|\([^\s<>"()]*\))*""", re.IGNORECASE)
_PUNCTUATION = ".,:;!?'*_~]}’”»…。、，！？"


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
