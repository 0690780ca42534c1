"""Settings for manage.py, from the environment, the running local stack, and local.settings.json."""

from __future__ import annotations

import os
from pathlib import Path

from management.local_settings import NAME, local_settings, stack_settings
from shared.platform.settings import AuthMode, read_settings
from shared.settings import Settings

# If the environment has one of these, ignore the file's.
_CONNECTION = {"COSMOS", "COSMOS__ACCOUNTENDPOINT", "COSMOS__ACCOUNTKEY"}


def read_configuration(file: Path) -> Settings:
    """Add the settings of `file` to the environment, and the ones of a local stack beside local.settings.json.

    The environment takes precedence, then the stack. Another file is chosen for what it names, so the stack does not
    replace it. Raises SettingsError, LocalSettingsError.

    Ignores case, because os.environ is in upper case on Windows, and BLOG_AUTH, which concerns only HTTP requests.
    """
    given = {name.upper() for name, value in os.environ.items() if value}
    given |= _CONNECTION if given & _CONNECTION else set()
    found = local_settings(file)
    if file.name == NAME and (stack := stack_settings(file.parent)):
        found = {name: value for name, value in found.items() if name.upper() not in _CONNECTION} | stack
    os.environ.update({name: value for name, value in found.items() if name.upper() not in given})
    return read_settings(Settings, auth=AuthMode.FUNCTION_KEY)
