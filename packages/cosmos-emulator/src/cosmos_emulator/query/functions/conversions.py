"""Conversions between strings and other types.

Strings are parsed as JSON; a result of another type is undefined
(learn.microsoft.com/azure/cosmos-db/nosql/query/stringtonumber and related pages).
"""

from __future__ import annotations

import json
from collections.abc import Callable

import orjson

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.sizes import check_text
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined, finite, is_number, number


def _to_string(value: JsonOrUndefined) -> JsonOrUndefined:
    if type(value) is str:
        return value
    if value is UNDEFINED:
        return UNDEFINED
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    check_text(len(text))
    return text


def _reader(wanted: Callable[[Json], bool]) -> Callable[..., JsonOrUndefined]:
    def read(text: JsonOrUndefined) -> JsonOrUndefined:
        if type(text) is not str:
            return UNDEFINED
        try:
            value: Json = orjson.loads(text)  # refuses what no item can have, such as lone surrogates
        except orjson.JSONDecodeError:
            return UNDEFINED
        if not wanted(value):
            return UNDEFINED
        return finite(number(value)) if is_number(value) else value

    return read


CONVERSION_FUNCTIONS = table(
    Function("STRINGTOARRAY", _reader(lambda value: type(value) is list), 1, 1),
    Function("STRINGTOBOOLEAN", _reader(lambda value: type(value) is bool), 1, 1),
    Function("STRINGTONULL", _reader(lambda value: value is None), 1, 1),
    Function("STRINGTONUMBER", _reader(is_number), 1, 1),
    Function("STRINGTOOBJECT", _reader(lambda value: type(value) is dict), 1, 1),
    Function("TOSTRING", _to_string, 1, 1),
)
