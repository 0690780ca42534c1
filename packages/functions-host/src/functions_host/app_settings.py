"""App settings: local.settings.json, the environment, and `%NAME%` in binding texts.

Rules: azure-functions-core-tools Common/AppSettingsFile.cs and StartHostAction.cs (the file), .NET configuration
(names ignore case, `__` means `:`), azure-webjobs-sdk NameResolverExtensions.cs (`%NAME%`).
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .errors import FunctionIndexError, HostStartError

FILE_NAME = "local.settings.json"
DEFAULT_PORT = 7071

_log = logging.getLogger("Host.Startup")


@dataclass(frozen=True)
class LocalSettings:
    """local.settings.json: what becomes the environment, and its `Host` part."""

    values: Mapping[str, str] = field(default_factory=dict)
    port: int = DEFAULT_PORT
    cors_origins: tuple[str, ...] = ()
    cors_credentials: bool = False


def read_local_settings(app_dir: Path) -> LocalSettings:
    """The file of an app directory; empty when it is missing or, with a warning, not JSON.

    Raises HostStartError for encrypted values, which only Core Tools on the same machine can read.
    """
    path = app_dir / FILE_NAME
    if not path.is_file():
        return LocalSettings()
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        _log.warning("%s is not valid JSON and is ignored: %s", FILE_NAME, error)
        return LocalSettings()
    if document.get("IsEncrypted", True):
        raise HostStartError(f'{FILE_NAME}: encrypted values are not supported; set "IsEncrypted": false')
    host = document.get("Host") or {}
    return LocalSettings(
        values={**_values(document.get("Values")), **_connection_strings(document.get("ConnectionStrings"))},
        port=int(host.get("LocalHttpPort") or DEFAULT_PORT),
        cors_origins=split_origins(host.get("CORS")),
        cors_credentials=bool(host.get("CORSCredentials", False)),
    )


def split_origins(text: str | None) -> tuple[str, ...]:
    """Origins of a comma list. Like Core Tools this does not trim, so a space makes another origin."""
    return tuple(origin for origin in (text or "").split(",") if origin)


def _values(section: object) -> dict[str, str]:
    if not isinstance(section, dict):
        return {}
    nested = [name for name, value in section.items() if isinstance(value, (dict, list))]
    if nested:
        raise HostStartError(f"{FILE_NAME}: Values must be flat, use '__' in names instead of nesting {nested}")
    return {name: _text(value) for name, value in section.items() if value is not None}


def _connection_strings(section: object) -> dict[str, str]:
    if not isinstance(section, dict):
        return {}
    plain = {name: value["ConnectionString"] if isinstance(value, dict) else value for name, value in section.items()}
    return {f"ConnectionStrings:{name}": str(value) for name, value in plain.items()}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def environment_of(local: LocalSettings, overrides: Mapping[str, str]) -> Iterator[AppSettings]:
    """The process environment with an app's settings in it, put back as it was on leaving.

    The app reads `os.environ`, so the settings have to be there and not only in the host's own mapping.
    """
    before = dict(os.environ)
    os.environ.update(overrides)
    os.environ.update(_wanted(local.values))
    os.environ["AZURE_FUNCTIONS_ENVIRONMENT"] = "Development"
    try:
        yield AppSettings(os.environ)
    finally:
        _restore_environment(before)


def _restore_environment(before: Mapping[str, str]) -> None:
    """Undo changes one by one: other threads of the process must never see an empty environment."""
    for name in [name for name in os.environ if name not in before]:
        del os.environ[name]
    for name, value in before.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _wanted(values: Mapping[str, str]) -> dict[str, str]:
    wanted = {}
    for name, value in values.items():
        if os.environ.get(name):
            _log.warning("skipping '%s' of %s: the environment has a value for it", name, FILE_NAME)
        else:
            wanted[name] = value
    return wanted


class AppSettings:
    """A case-insensitive view of settings in which `__` and `:` both separate sections."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._by_key = {_key(name): value for name, value in environment.items()}

    def get(self, name: str) -> str | None:
        """The value of a setting, None if there is none."""
        return self._by_key.get(_key(name))

    def children(self, name: str) -> dict[str, str]:
        """The settings below a section, by lower-case name without the section's."""
        start = _key(name) + ":"
        return {key[len(start) :]: value for key, value in self._by_key.items() if key.startswith(start)}

    def is_true(self, name: str) -> bool:
        """Whether a switch is on: `true` or `1`, whatever the case."""
        return (self.get(name) or "").strip().lower() in ("true", "1")

    def expand(self, text: str) -> str:
        """`text` with each `%NAME%` replaced; FunctionIndexError for an unknown name or an unpaired `%`."""
        parts = text.split("%")
        if len(parts) % 2 == 0:
            raise FunctionIndexError(f"the value {text!r} has an unpaired '%'")
        for position in range(1, len(parts), 2):
            value = self.get(parts[position])
            if value is None:
                raise FunctionIndexError(f"'%{parts[position]}%' does not resolve to a value: no such app setting")
            parts[position] = value
        return "".join(parts)


def _key(name: str) -> str:
    return name.replace("__", ":").lower()
