"""The JavaScript runtimes: files of `runtime/`, each joined into one function."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

RUNTIME_FIRST_LINE: Final = 20_000
"""The runtime's first line, which distinguishes its stack frames from the script's."""

_LANGUAGE: Final = ("intrinsics", "errors", "clock", "edition", "compiling")
_COLLECTION: Final = ("engine", "messages", "collection", "queries")
_FUNCTIONS: Final = ("functions",)


@cache
def transactional_runtime() -> str:
    """Return the runtime of procedures and triggers: `dispatch` of engine.js."""
    return _joined(_LANGUAGE + _COLLECTION)


@cache
def function_runtime() -> str:
    """Return the runtime of user-defined functions: `dispatch` of functions.js."""
    return _joined(_LANGUAGE + _FUNCTIONS)


def _joined(names: tuple[str, ...]) -> str:
    folder = files(__package__).joinpath("runtime")
    parts = "\n".join(folder.joinpath(f"{name}.js").read_text("utf-8") for name in names)
    return "\n" * RUNTIME_FIRST_LINE + f'(function () {{ "use strict";\n{parts}\nreturn dispatch;\n}})()'
