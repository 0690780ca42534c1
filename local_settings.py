"""local.settings.json, read as the Functions host does, and the address of a running local stack.

https://learn.microsoft.com/azure/azure-functions/functions-develop-local#local-settings-file
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NAME = "local.settings.json"
# Written by `python -m local`, whose ports can differ from the file's.
_RUNNING = Path(".data") / "running.json"
_OF_STACK = ("COSMOS", "BLOG_DATABASE")


class LocalSettingsError(Exception):
    """The file cannot be read; the message says what to do."""


def local_settings(file: Path) -> dict[str, str]:
    """Return the `Values`, none if there is no file. Raises LocalSettingsError, which quotes no values.

    The file can begin with a byte order mark, which editors and PowerShell on Windows write. A value of null counts as
    absent; other values become text.
    """
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
        if str(content.get("IsEncrypted", False)).lower() == "true":
            raise LocalSettingsError(f"{file.name} is encrypted. Decrypt it with `func settings decrypt`.")
        values = content.get("Values", {}).items()
    except (ValueError, AttributeError) as error:
        raise LocalSettingsError(f"{file.name} is not valid JSON settings: {error}. Fix or delete the file.") from error
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values if value is not None}


@contextmanager
def announced(app_dir: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Let `stack_settings` find the local stack of `app_dir` during the block."""
    file = app_dir / _RUNNING
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        json.dumps({name: environment[name] for name in _OF_STACK if name in environment}), encoding="utf-8"
    )
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def stack_settings(app_dir: Path) -> dict[str, str]:
    """Return the account and the database of the local stack that is running in `app_dir`; none if there is none."""
    try:
        found = json.loads((app_dir / _RUNNING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: found[name] for name in _OF_STACK if name in found}
