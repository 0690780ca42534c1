"""The paths of an indexing policy.

Labels with special characters are quoted. `[]` means the elements of an array. A path ends with `/?` (the scalar) or
`/*` (also everything below); in composite indexes, `/?` is implied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import NoReturn, TypeAlias

from cosmos_emulator.errors import CosmosError

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Item: TypeAlias = Mapping[str, Json]


class Step(Enum):
    """The step into array elements, distinct from any property name."""

    ELEMENT = "[]"


Path: TypeAlias = tuple[str | Step, ...]

SEGMENT = re.compile(
    r'/(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<element>\[\])|(?P<label>\w+)|(?P<wildcard>[?*]))', re.DOTALL
)


def parse_wildcard_path(text: Json) -> tuple[Path, str]:
    """Return the steps of an included or excluded path, and `?` or `*`."""
    steps, wildcard = parse_path(text)
    if not wildcard:
        refuse_path(text, len(str(text)))
    if wildcard == "?" and not steps:
        # Message: azure-cosmos-dotnet-v3, EmulatorTests/GatewayTests.cs, TestCreateIndexingPaths1.
        refuse(f"The indexing path '{text}' is invalid. Please ensure that the path has at least one label.")
    return steps, wildcard


def parse_path(text: Json) -> tuple[Path, str]:
    """Return the steps of a path, and its wildcard or ""."""
    if not isinstance(text, str):
        refuse(f"One of the specified inputs is invalid: a path must be a string, not {text!r}.")
    steps: list[str | Step] = []
    wildcard = ""
    position = 0
    while position < len(text):
        segment = SEGMENT.match(text, position)
        if segment is None or wildcard:
            refuse_path(text, position)
        wildcard = segment["wildcard"] or ""
        if not wildcard:
            steps.append(_step(text, segment))
        position = segment.end()
    return tuple(steps), wildcard


def _step(text: str, segment: re.Match[str]) -> str | Step:
    if segment["element"]:
        return Step.ELEMENT
    if segment["label"]:
        return segment["label"]
    try:
        return str(json.loads(f'"{segment["quoted"]}"'))
    except ValueError:
        refuse_path(text, segment.start())


def refuse_path(text: Json, position: int) -> NoReturn:
    """Raise 400 with the message in jnhaffey/IdentityServer4.Contrib.CosmosDB issue 4 (2018)."""
    refuse(
        f"The indexing path '{text}' could not be accepted, failed near position '{position}'. "
        "Please ensure that the path is a valid path. "
        "Common errors include invalid characters or absence of quotes around labels."
    )


def refuse(message: str) -> NoReturn:
    """Raise 400."""
    raise CosmosError(400, message)
