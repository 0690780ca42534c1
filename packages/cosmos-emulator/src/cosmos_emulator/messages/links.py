"""Parsed request paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from cosmos_emulator.definitions import rids


@dataclass(frozen=True, slots=True)
class Link:
    """A path such as `/dbs/d1/colls/c1/docs/a`, split into kinds and ids.

    `template` is the path with `*` for every id; `ids` are percent-decoded names or, if `by_rid`, rids. `names_one` is
    whether the link names one resource, not a feed. `signed_type` and `signed_link` are those in the signature
    (azure-cosmos auth.py): the resource, or a feed's owner.
    """

    template: str
    kinds: tuple[str, ...]
    ids: tuple[str, ...]
    by_rid: bool
    names_one: bool
    signed_type: str
    signed_link: str


_DOCS: Final = "/docs/"


@lru_cache(maxsize=4096)
def parse_link(raw_path: str) -> Link:
    """Parse a request path, with or without a trailing slash, ignoring the query string.

    After an item's id, there is none: .NET sends the id's question mark as it is (CosmosItemIdEncodingTestsBase.cs).
    Cached: clients repeat paths, and parsing costs as much as reading an item.
    """
    path = raw_path if _DOCS in raw_path.partition("?")[0] else raw_path.partition("?")[0]
    path = path.strip("/")
    segments = [unquote(segment) for segment in path.split("/")] if path else []
    kinds, ids = tuple(segments[::2]), tuple(segments[1::2])
    template = "/" + "/".join(
        "*" if index % 2 and segments[index - 1] != "operations" else segment for index, segment in enumerate(segments)
    )
    by_rid = bool(ids) and kinds[0] == "dbs" and rids.is_database_rid(ids[0])
    owned = ids[:-1] if kinds[-1:] == ("operations",) else ids
    if kinds[:1] == ("offers",):
        signed = "".join(ids).lower()
    elif by_rid:
        signed = owned[-1].lower() if owned else ""
    else:
        signed = "/".join(f"{kind}/{name}" for kind, name in zip(kinds, owned, strict=False))
    signed_type = "colls" if kinds[-1:] == ("operations",) else "".join(kinds[-1:])
    return Link(template, kinds, ids, by_rid, len(kinds) == len(ids), signed_type.lower(), signed)
