"""The six patch operations (partial-document-update). Every error is a 400."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject, normalized

MAX_OPERATIONS: Final = 10


class _MissingParent(Exception):
    """A path has no parent: the name is of its first missing step."""


def patched(document: JsonObject, operations: list[Json]) -> JsonObject:
    """Return a copy of the document with the operations applied."""
    result = copy.deepcopy(document)
    for number, operation in enumerate(operations, start=1):
        name = operation.get("op") if isinstance(operation, dict) else None
        if not (isinstance(operation, dict) and isinstance(name, str) and name in _OPERATIONS):
            raise _refused("the operation must be one of " + ", ".join(_OPERATIONS))
        try:
            _OPERATIONS[name](result, operation)
        except _MissingParent as missing:
            raise CosmosError(
                400,
                f"For Operation({number}): {name.capitalize()} Operation can only create a child object of an existing "
                "node(array or object) and cannot create path recursively, no path found beyond: "
                f"'{missing}'. Learn more: https://aka.ms/cosmosdbpatchdocs",
            ) from missing
    return result


def touched_paths(operation: Json) -> list[tuple[str, ...]]:
    """Return the paths that an operation changes."""
    if not isinstance(operation, dict):
        return []
    return [tuple(_steps(operation[name])) for name in ("path", "from") if name in operation]


def _add(document: JsonObject, operation: JsonObject) -> None:
    _put(document, _steps(operation.get("path")), _value(operation), insert=True)


def _set(document: JsonObject, operation: JsonObject) -> None:
    _put(document, _steps(operation.get("path")), _value(operation), insert=False)


def _replace(document: JsonObject, operation: JsonObject) -> None:
    steps = _steps(operation.get("path"))
    _taken(document, steps)
    _put(document, steps, _value(operation), insert=False)


def _remove(document: JsonObject, operation: JsonObject) -> None:
    steps = _steps(operation.get("path"))
    _taken(document, steps)
    _drop(document, steps)


def _increment(document: JsonObject, operation: JsonObject) -> None:
    steps, value = _steps(operation.get("path")), _value(operation)
    present = _get(document, steps)
    if not _is_number(value):
        raise _refused("the value of an incr must be a number")
    if present is not _ABSENT and not _is_number(present):
        raise _refused(f"{operation.get('path')!r} is not a number")
    total = value if present is _ABSENT else present + value  # type: ignore[operator]  # numbers
    if total in (math.inf, -math.inf):  # not JSON; Microsoft's Rust driver refuses it, too (patch_eval.rs)
        raise _refused(f"the sum at {operation.get('path')!r} is beyond the range of numbers")
    _put(document, steps, normalized(total), insert=False)


def _move(document: JsonObject, operation: JsonObject) -> None:
    source, target = _steps(operation.get("from")), _steps(operation.get("path"))
    if target[: len(source)] == source and target != source:
        raise _refused("an object cannot be moved into itself")
    value = _taken(document, source)
    # In one array, the target index counts without the moved element (RFC 6902; patch_eval.rs of the Rust driver).
    _drop(document, source)
    _put(document, target, value, insert=True)


_OPERATIONS: Final[dict[str, Callable[[JsonObject, JsonObject], None]]] = {
    "add": _add,
    "set": _set,
    "replace": _replace,
    "remove": _remove,
    "incr": _increment,
    "move": _move,
}
_ABSENT: Final = object()


def _put(document: JsonObject, steps: list[str], value: Json, *, insert: bool) -> None:
    parent, name = _parent(document, steps), steps[-1]
    if isinstance(parent, dict):
        parent[name] = value
        return
    index = len(parent) if name == "-" else _index(name)
    if index > len(parent):
        raise _refused(f"the index {index} is beyond the end of the array")
    if insert or index == len(parent):
        parent.insert(index, value)
    else:
        parent[index] = value


def _drop(document: JsonObject, steps: list[str]) -> None:
    parent = _parent(document, steps)
    if isinstance(parent, dict):
        del parent[steps[-1]]
    else:
        del parent[_index(steps[-1])]


def _taken(document: JsonObject, steps: list[str]) -> Json:
    value = _get(document, steps)
    if value is _ABSENT:
        raise _refused(f"the path '/{'/'.join(steps)}' does not exist")
    return value  # type: ignore[return-value]  # not the sentinel


def _get(document: JsonObject, steps: list[str]) -> Json | object:
    parent = _parent(document, steps)
    if isinstance(parent, dict):
        return parent.get(steps[-1], _ABSENT)
    index = _index(steps[-1])
    return parent[index] if index < len(parent) else _ABSENT


def _parent(document: JsonObject, steps: list[str]) -> dict[str, Json] | list[Json]:
    value: Json = document
    for step in steps[:-1]:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise _MissingParent(step)
    if not isinstance(value, dict | list):
        raise _refused(f"the parent of '/{'/'.join(steps)}' is not an object or array")
    return value


def _steps(path: Json | object) -> list[str]:
    if not isinstance(path, str) or not path.startswith("/") or path == "/":
        raise _refused(f"the path {path!r} must start with '/' and name a property")
    return [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]


def _is_index(step: str) -> bool:
    return step.isdecimal() and len(step) < 10  # Python parses at most 4,300 digits


def _index(step: str) -> int:
    if not _is_index(step):
        raise _refused(f"{step!r} is not an array index")
    return int(step)


def _value(operation: JsonObject) -> Json:
    if "value" not in operation:
        raise _refused("the operation has no value")
    return copy.deepcopy(operation["value"])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refused(reason: str) -> CosmosError:
    return CosmosError(400, f"The patch is invalid: {reason}.")
