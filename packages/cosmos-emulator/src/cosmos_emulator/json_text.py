"""JSON as the service reads and writes it: doubles, integral numbers without a fraction, bounded nesting."""

from __future__ import annotations

from typing import Final

import orjson

from cosmos_emulator.errors import CosmosError

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
JsonObject = dict[str, Json]

MAX_NESTING: Final = 128
_EXACT_INTEGERS: Final = 2.0**53


def parse(data: bytes | str) -> Json:
    """The value of a JSON text, numbers normalised.

    400 for what is not JSON (lone surrogates and numbers beyond a double included) and for more than 128 levels,
    the service's limit (concepts-limits: maximum levels of nesting).
    """
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise CosmosError(400, f"The request payload is invalid: not a JSON text ({error}).") from error
    return normalised(value)


def parse_object(data: bytes | str) -> JsonObject:
    """As `parse`, and 400 when the value is no object."""
    value = parse(data)
    if not isinstance(value, dict):
        raise CosmosError(400, "The request payload is invalid: a JSON object is expected.")
    return value


def parse_stored(data: bytes) -> JsonObject:
    """The object of a text that this module wrote."""
    value: JsonObject = orjson.loads(data)
    return value


def dump(value: object) -> bytes:
    """Compact JSON. Integers beyond 64 bits, which only scripts can produce, become doubles."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(value, default=_as_double)


def normalised(value: Json, depth: int = 0) -> Json:
    """`value` with every integral double as an integer: the service prints 1.0 as 1.

    Containers are changed in place; only a number at the top is returned anew.
    """
    if isinstance(value, dict):
        _check_depth(depth)
        for name, member in value.items():
            if type(member) is float:
                value[name] = _number(member)
            elif type(member) is dict or type(member) is list:
                normalised(member, depth + 1)
        return value
    if isinstance(value, list):
        _check_depth(depth)
        for index, member in enumerate(value):
            if type(member) is float:
                value[index] = _number(member)
            elif type(member) is dict or type(member) is list:
                normalised(member, depth + 1)
        return value
    return _number(value) if isinstance(value, float) else value


def _check_depth(depth: int) -> None:
    if depth >= MAX_NESTING:
        raise CosmosError(400, f"The document is nested deeper than the {MAX_NESTING} levels that are allowed.")


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) <= _EXACT_INTEGERS else value


def _as_double(value: object) -> float:
    if isinstance(value, int):
        return float(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
