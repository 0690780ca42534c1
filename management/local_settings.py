"""local.settings.json, read as the Functions host does, and the address of a running local stack.

https://learn.microsoft.com/azure/azure-functions/functions-develop-local#local-settings-file
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

NAME = "local.settings.json"
# Written by `python -m local`, whose ports can differ from the file's.
_RUNNING = Path(".data") / "running.json"
_OF_STACK = ("COSMOS", "BLOG_DATABASE")
# Core Tools accepts both (https://github.com/Azure/azure-functions-core-tools/pull/3866 and issue 3868).
_TEXT = r'("(?:\\.|[^"\\])*")'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])")


class LocalSettingsError(Exception):
    """The file cannot be read; the message says what to do."""


def local_settings(file: Path) -> dict[str, str]:
    """Return the `Values`, none if there is no file. Raises LocalSettingsError, which quotes no values.

    The file can begin with a byte order mark, which editors and PowerShell on Windows write, and have comments and
    trailing commas. A value of null counts as absent; other values become text.
    """
    if not file.is_file():
        return {}
    try:
        text = _COMMENT.sub(lambda found: found[1] or "", file.read_text(encoding="utf-8-sig"))
        content = json.loads(_TRAILING_COMMA.sub(lambda found: found[1] or "", text))
    except (OSError, ValueError) as error:
        raise LocalSettingsError(f"{file.name} cannot be read: {error}. Fix or delete the file.") from error
    values = content.get("Values", {}) if isinstance(content, dict) else None
    if not isinstance(values, dict):
        raise LocalSettingsError(f'{file.name} must be an object like {{"Values": {{"NAME": "value"}}}}. Fix the file.')
    if str(content.get("IsEncrypted", False)).lower() == "true":
        raise LocalSettingsError(f"{file.name} is encrypted. Decrypt it with `func settings decrypt`.")
    if nested := [name for name, value in values.items() if isinstance(value, (dict, list))]:
        raise LocalSettingsError(f"{file.name}: {', '.join(nested)} must be text. Write nested names with `__`.")
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if value is not None
    }


@contextmanager
def announced(app_dir: Path, environment: Mapping[str, str]) -> Iterator[bool]:
    """Let `stack_settings` find this process's local stack during the block, unless there is another one in `app_dir`.

    Yields whether it can be found.
    """
    file = app_dir / _RUNNING
    if _running(file):
        yield False
        return
    found = {name: environment[name] for name in _OF_STACK if name in environment}
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(found | _process(os.getpid())), encoding="utf-8")
    except OSError:  # for example, a read-only folder
        yield False
        return
    try:
        yield True
    finally:
        file.unlink(missing_ok=True)


def stack_settings(app_dir: Path) -> dict[str, str]:
    """Return the account and the database of the local stack that is running in `app_dir`; none if there is none."""
    found = _running(app_dir / _RUNNING)
    return {name: found[name] for name in _OF_STACK if name in found}


def _running(file: Path) -> dict[str, Any]:
    """Return what a stack announced, nothing if it has ended, even if it was killed."""
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found if _process(found["pid"]).items() <= found.items() else {}
    except (OSError, ValueError, LookupError, TypeError, psutil.Error):
        return {}


def _process(pid: int) -> dict[str, Any]:
    """Identify a process. Another one can get its ID later."""
    return {"pid": pid, "started": psutil.Process(pid).create_time()}
