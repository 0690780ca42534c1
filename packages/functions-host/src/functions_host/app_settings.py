"""App settings: local.settings.json, the environment and `%NAME%` expressions.

Rules: azure-functions-core-tools Common/AppSettingsFile.cs and StartHostAction.cs, azure-webjobs-sdk
NameResolverExtensions.cs.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from functions_host.json_files import read_json

from .errors import FunctionIndexError, HostStartError

FILE_NAME = "local.settings.json"
DEFAULT_PORT = 7071

_log = logging.getLogger("Host.Startup")


@dataclass(frozen=True)
class LocalSettings:
    """Contents of local.settings.json."""

    values: Mapping[str, str] = field(default_factory=dict)
    port: int = DEFAULT_PORT
    cors_origins: tuple[str, ...] = ()
    cors_credentials: bool = False


def read_local_settings(app_dir: Path) -> LocalSettings:
    """Read local.settings.json, if it exists. Invalid JSON only causes a warning.

    Raises HostStartError for encrypted or nested values.
    """
    path = app_dir / FILE_NAME
    if not path.is_file():
        return LocalSettings()
    try:
        document = read_json(path)
        if not isinstance(document, dict):
            raise TypeError("it must be a JSON object")
    except (TypeError, ValueError) as error:
        _log.warning("%s is invalid and is ignored: %s", FILE_NAME, error)
        return LocalSettings()
    # Microsoft's quickstarts write "false", which .NET accepts.
    if str(document.get("IsEncrypted", True)).lower() != "false":
        raise HostStartError(f'{FILE_NAME}: encrypted values are not supported; set "IsEncrypted" to false')
    host = document.get("Host") or {}
    return LocalSettings(
        values={**_values(document.get("Values")), **_connection_strings(document.get("ConnectionStrings"))},
        port=int(host.get("LocalHttpPort") or DEFAULT_PORT),
        cors_origins=split_origins(host.get("CORS")),
        cors_credentials=bool(host.get("CORSCredentials", False)),
    )


def split_origins(text: str | None) -> tuple[str, ...]:
    """Split at commas and keep spaces, like Core Tools."""
    return tuple(origin for origin in (text or "").split(",") if origin)


def _values(section: object) -> dict[str, str]:
    if not isinstance(section, dict):
        return {}
    nested = [name for name, value in section.items() if isinstance(value, (dict, list))]
    if nested:
        raise HostStartError(f"{FILE_NAME}: Values must be flat; write {nested} with '__' in the names")
    return {name: _text(value) for name, value in section.items() if value is not None}


def _connection_strings(section: object) -> dict[str, str]:
    if not isinstance(section, dict):
        return {}
    plain = {name: value["ConnectionString"] if isinstance(value, dict) else value for name, value in section.items()}
    return {f"ConnectionStrings:{name}": str(value) for name, value in plain.items()}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def app_environment(
    local: LocalSettings, overrides: Mapping[str, str], *, quiet: bool = False
) -> Iterator[AppSettings]:
    """Add an app's settings to `os.environ`, and restore it on exit. Warn of those that are there, unless `quiet`."""
    before = dict(os.environ)
    os.environ.update(overrides)
    os.environ.update(_wanted(local.values, quiet=quiet))
    os.environ["AZURE_FUNCTIONS_ENVIRONMENT"] = "Development"
    try:
        yield AppSettings(os.environ)
    finally:
        _restore_environment(before)


def _restore_environment(before: Mapping[str, str]) -> None:
    """Undo changes one by one, so other threads never see an empty environment."""
    for name in [name for name in os.environ if name not in before]:
        del os.environ[name]
    for name, value in before.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _wanted(values: Mapping[str, str], *, quiet: bool) -> dict[str, str]:
    wanted = {}
    for name, value in values.items():
        present = os.environ.get(name)
        if not present:
            wanted[name] = value
        elif present != value and not quiet:
            _log.warning("ignoring '%s' in %s: the environment already sets it", name, FILE_NAME)
    return wanted


class AppSettings:
    """Case-insensitive settings. `__` and `:` both separate sections."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._by_key = {_key(name): value for name, value in environment.items()}

    def get(self, name: str) -> str | None:
        """Return the value of a setting, or None."""
        return self._by_key.get(_key(name))

    def children(self, name: str) -> dict[str, str]:
        """Return the settings of a section, keyed by lowercase name."""
        start = _key(name) + ":"
        return {key[len(start) :]: value for key, value in self._by_key.items() if key.startswith(start)}

    def is_true(self, name: str) -> bool:
        """Return whether a setting is `true` or `1`."""
        return (self.get(name) or "").strip().lower() in ("true", "1")

    def expand(self, text: str) -> str:
        """Replace each `%NAME%`. Raises FunctionIndexError for an unknown name or an unpaired `%`."""
        parts = text.split("%")
        if len(parts) % 2 == 0:
            raise FunctionIndexError(f"{text!r} has an unpaired '%'")
        for position in range(1, len(parts), 2):
            value = self.get(parts[position])
            if value is None:
                raise FunctionIndexError(f"'%{parts[position]}%' cannot be resolved; add the app setting")
            parts[position] = value
        return "".join(parts)


def _key(name: str) -> str:
    return name.replace("__", ":").lower()
