"""`resumeFilter` in the body of a query: where the .NET SDK resumes ORDER BY in a range.

Sources: SqlQueryResumeFilter.cs, SqlQueryResumeValue.cs and OrderByCrossPartitionQueryPipelineStage.cs of the .NET SDK.
"""

from __future__ import annotations

from dataclasses import dataclass

from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.ordering import SortKey, array_key, object_key, sort_key
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined


@dataclass(frozen=True, slots=True)
class ResumeFilter:
    """The first rows to return: those with `keys`, one for each ORDER BY item, or with `exclude` those after them.

    `values` are the values with these keys, but `[]` for any array and `{}` for any object. With `rid`, rows with equal
    keys start at the item with this `_rid`.
    """

    values: tuple[JsonOrUndefined, ...]
    keys: tuple[SortKey, ...]
    rid: str | None
    exclude: bool


def resume_filter(content: Json) -> ResumeFilter:
    """Parse `{"value": [...], "rid": "…", "exclude": false}`. Raises 400."""
    match content:
        case {"value": [_, *_] as values, **rest}:
            rid, exclude = rest.pop("rid", None), rest.pop("exclude", False)
            if not rest and (rid is None or type(rid) is str) and type(exclude) is bool:
                parsed, keys = zip(*map(_parsed, values), strict=True)
                return ResumeFilter(parsed, keys, rid, exclude)
    raise evaluation_error("The resumeFilter is invalid: it must have a 'value' for each item of ORDER BY.")


def _parsed(content: Json) -> tuple[JsonOrUndefined, SortKey]:
    match content:
        case []:
            return UNDEFINED, sort_key(UNDEFINED)
        case {"type": "array" | "object" as kind, "low": int(low), "high": int(high), **rest} if not rest:
            hashed = _half(low) + _half(high)
            return ([], array_key(hashed)) if kind == "array" else ({}, object_key(hashed))
        case list() | dict():
            raise evaluation_error("The resumeFilter is invalid: a value must be [], a scalar, or the hash of another.")
        case _:
            return content, sort_key(content)


def _half(number: int) -> bytes:
    """Return 64 bits, which .NET writes as a signed number."""
    return (number % (1 << 64)).to_bytes(8, "little")
