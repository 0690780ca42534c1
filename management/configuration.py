"""Settings for manage.py, from the environment and local.settings.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from azure.core.utils import CaseInsensitiveDict

from management.errors import ManagementError
from shared.settings import Settings, read_settings

# If the environment has one of these, ignore the file's.
_CONNECTION = ("COSMOS", "COSMOS__accountEndpoint", "COSMOS__accountKey")


def read_configuration(environment: Mapping[str, str], file: Path) -> Settings:
    """Return settings from `environment`, then from `file`. Raises SettingsError, ManagementError.

    Ignores case, because os.environ is in upper case on Windows, and BLOG_AUTH, which concerns only HTTP requests.
    """
    given = CaseInsensitiveDict({name: value for name, value in environment.items() if value})
    values = _values(file) if file.is_file() else {}
    if any(name in given for name in _CONNECTION):
        values = {name: value for name, value in values.items() if name not in _CONNECTION}
    merged = CaseInsensitiveDict({**values, **given})
    merged.pop("BLOG_AUTH", None)
    return read_settings(merged)


def _values(file: Path) -> dict[str, str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
        if content.get("IsEncrypted"):
            raise ManagementError(f"{file.name} is encrypted. Decrypt it with `func settings decrypt`.")
        return {name: str(value) for name, value in content.get("Values", {}).items() if value is not None}
    except (ValueError, AttributeError) as error:
        raise ManagementError(f"{file.name} is not valid JSON settings: {error}. Fix or delete the file.") from error
