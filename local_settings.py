"""local.settings.json, read as the Functions host does.

https://learn.microsoft.com/azure/azure-functions/functions-develop-local#local-settings-file
"""

from __future__ import annotations

import json
from pathlib import Path

NAME = "local.settings.json"


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
