"""`resumeFilter` in the body of a query: where the .NET SDK resumes ORDER BY in a range.

Sources: SqlQueryResumeFilter.cs, SqlQueryResumeValue.cs and OrderByCrossPartitionQueryPipelineStage.cs of the .NET SDK.
"""

from __future__ import annotations

from dataclasses import dataclass

from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined


@dataclass(frozen=True, slots=True)
class ResumeFilter:
    """The first rows to return: those with `values`, one for each ORDER BY item, or with `exclude` those after them.

    With `rid`, rows with equal values start at the item with this `_rid`.
    """

    values: tuple[JsonOrUndefined, ...]
    rid: str | None
    exclude: bool


def resume_filter(content: Json) -> ResumeFilter:
    """Parse `{"value": [...], "rid": "…", "exclude": false}`. Raises 400."""
    match content:
        case {"value": [_, *_] as values, **rest}:
            rid, exclude = rest.pop("rid", None), rest.pop("exclude", False)
            if not rest and (rid is None or type(rid) is str) and type(exclude) is bool:
                return ResumeFilter(tuple(map(_value, values)), rid, exclude)
    raise evaluation_error("The resumeFilter is invalid: it must have a 'value' for each item of ORDER BY.")


def _value(content: Json) -> JsonOrUndefined:
    if content == []:
        return UNDEFINED
    if type(content) is list or type(content) is dict:
        raise evaluation_error("A resumeFilter at an array or object is not supported.")
    return content
