"""Where manage.py finds the account: the environment, and what that lacks from local.settings.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from management.errors import ManagementError
from shared.settings import Settings, read_settings

# The names of the connection belong together: one from the environment must not meet another from the file.
_CONNECTION = ("COSMOS", "COSMOS__accountEndpoint", "COSMOS__accountKey")


def read_configuration(environment: Mapping[str, str], file: Path) -> Settings:
    """The settings of the app as `environment` has them, with the `Values` of a local.settings.json `file`, if there
    is one, where the environment has none; but for who may send commands, which is nothing to a terminal. Raises
    SettingsError, ManagementError."""
    given = {name: value for name, value in environment.items() if value}
    values = _values(file) if file.is_file() else {}
    if any(name in given for name in _CONNECTION):
        values = {name: value for name, value in values.items() if name not in _CONNECTION}
    return read_settings({name: value for name, value in (values | given).items() if name != "BLOG_AUTH"})


def _values(file: Path) -> dict[str, str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.get("IsEncrypted"):
            raise ManagementError(f"{file.name} is encrypted; decrypt it with `func settings decrypt`.")
        return {str(name): str(value) for name, value in content.get("Values", {}).items()}
    except (ValueError, AttributeError) as error:
        raise ManagementError(f"{file.name} cannot be read: {error}.") from error
