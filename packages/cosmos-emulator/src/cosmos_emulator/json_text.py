"""JSON as in the service: numbers are doubles, and nesting is limited."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import orjson

from cosmos_emulator.errors import CosmosError

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
JsonObject = dict[str, Json]

MAX_NESTING: Final = 128
# A string without an end takes the rest, or each of its escaped quotes would begin another search.
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_BINARY_MARK: Final = b"\x80"  # azure-cosmos-dotnet-v3, JsonSerializationFormat.cs
_BINARY: Final = (
    "The request payload is Cosmos DB binary JSON, which the emulator does not read. Turn it off in the client: in "
    "Rust, with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false)); in .NET, unset "
    "AZURE_COSMOS_BINARY_ENCODING_ENABLED. See docs/sdks.md."
)
EXACT_INTEGERS: Final = 2.0**53
parse_stored: Final[Callable[[bytes], JsonObject]] = orjson.loads
"""Parses an object written by `dump`."""


def parse(data: bytes | str) -> Json:
    """Parse a JSON text and normalize its numbers.

    Raises 400 if it is not JSON, has lone surrogates, numbers beyond doubles, or more than 128 levels
    (concepts-limits).
    """
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:  # the service accepts raw tabs and line breaks in strings (.NET, CosmosItemIdEncodingTestsBase.cs)
            value = orjson.loads(_STRING.sub(_escaped, data.encode() if isinstance(data, str) else data))
        except ValueError:
            if data[:1] == _BINARY_MARK:
                raise CosmosError(400, _BINARY) from error
            raise CosmosError(400, f"The request payload is invalid: not a JSON text ({error}).") from error
    return normalized(value)


def _escaped(string: re.Match[bytes]) -> bytes:
    return string[0].replace(b"\t", b"\\t").replace(b"\r", b"\\r").replace(b"\n", b"\\n")


def parse_object(data: bytes | str) -> JsonObject:
    """Parse a JSON object. Raises 400 for other values."""
    value = parse(data)
    if not isinstance(value, dict):
        raise CosmosError(400, "The request payload is invalid: a JSON object is expected.")
    return value


def dump(value: object) -> bytes:
    """Return compact JSON. Integers beyond 64 bits become doubles."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_with_doubles(value))


def normalized(value: Json, depth: int = 0) -> Json:
    """Turn integral doubles into integers, in place: the service prints 1.0 as 1."""
    if isinstance(value, dict):
        if depth >= MAX_NESTING:
            raise _too_deep()
        for name, member in value.items():
            if type(member) is float:
                value[name] = _number(member)
            elif type(member) is dict or type(member) is list:
                normalized(member, depth + 1)
        return value
    if isinstance(value, list):
        if depth >= MAX_NESTING:
            raise _too_deep()
        for index, member in enumerate(value):
            if type(member) is float:
                value[index] = _number(member)
            elif type(member) is dict or type(member) is list:
                normalized(member, depth + 1)
        return value
    return _number(value) if isinstance(value, float) else value


def _too_deep() -> CosmosError:
    return CosmosError(400, f"The document is nested deeper than the {MAX_NESTING} levels allowed.")


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) <= EXACT_INTEGERS else value


def _with_doubles(value: object) -> object:
    """Replace the integers that orjson refuses."""
    if isinstance(value, dict):
        return {name: _with_doubles(member) for name, member in value.items()}
    if isinstance(value, list):
        return [*map(_with_doubles, value)]
    return float(value) if type(value) is int and not -(2**63) <= value < 2**64 else value
