"""host.json and its overrides `AzureFunctionsJobHost__a__b`. Names ignore case.

Rules: azure-functions-host Config/HostJsonFileConfigurationSource.cs and ScriptJobHostOptionsSetup.cs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from functions_host.json_files import read_json

from .app_settings import AppSettings
from .errors import HostStartError
from .retry import RetryPolicy, parse_host_json_policy

DEFAULT_TIMEOUT_S = 30 * 60.0
DEFAULT_BODY_LIMIT = 100 * 1024 * 1024
_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "information": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "none": logging.CRITICAL + 10,
}
_TIMEOUT = re.compile(r"(\d+):(\d{1,2}):(\d{1,2})")


@dataclass(frozen=True)
class HostConfig:
    """The configuration. The defaults apply without a host.json.

    For the request limits, -1 means no limit; for `function_timeout_s`, None does. `log_levels` maps category prefixes
    to `logging` levels. If `functions` is None, all functions are served. `body_limit` is in bytes. `parses_dates` says
    whether texts in changes that look like dates are rewritten, `calls_for_nobody` whether a function runs whose HTTP
    client has left.
    """

    route_prefix: str = "api"
    max_outstanding_requests: int = -1
    max_concurrent_requests: int = -1
    custom_headers: Mapping[str, str] = field(default_factory=dict)
    function_timeout_s: float | None = DEFAULT_TIMEOUT_S
    log_levels: Mapping[str, int] = field(default_factory=dict)
    retry: RetryPolicy | None = None
    functions: frozenset[str] | None = None
    body_limit: int = DEFAULT_BODY_LIMIT
    has_telemetry: bool = False
    parses_dates: bool = True
    calls_for_nobody: bool = True

    def serves(self, function_name: str) -> bool:
        """Return whether `functions` includes the function."""
        return self.functions is None or function_name.lower() in self.functions


def read_host_config(app_dir: Path, settings: AppSettings) -> HostConfig:
    """Read the configuration. Raises HostStartError if it is invalid."""
    tree = _Tree(_read(app_dir / "host.json"), settings.children("AzureFunctionsJobHost"))
    try:
        return HostConfig(
            route_prefix=tree.get("extensions:http:routePrefix", "api").strip("/"),
            max_outstanding_requests=int(tree.get("extensions:http:maxOutstandingRequests", "-1")),
            max_concurrent_requests=int(tree.get("extensions:http:maxConcurrentRequests", "-1")),
            custom_headers=tree.section("extensions:http:customHeaders"),
            function_timeout_s=_timeout_s(tree.get("functionTimeout", "00:30:00")),
            log_levels=_log_levels(tree.section("logging:logLevel")),
            retry=parse_host_json_policy(retry) if (retry := tree.section("retry")) else None,
            functions=_allow_list(tree),
            has_telemetry=tree.get("telemetryMode", "").lower() == "opentelemetry"
            or bool(settings.get("APPLICATIONINSIGHTS_CONNECTION_STRING")),
            body_limit=int(settings.get("FUNCTIONS_REQUEST_BODY_SIZE_LIMIT") or DEFAULT_BODY_LIMIT),
            parses_dates=_parses_dates(tree.section("extensions:cosmosDB:serializerSettings")),
            calls_for_nobody=tree.get("sendCanceledInvocationsToWorker", "true").lower() == "true",
        )
    except ValueError as error:
        raise HostStartError(f"host.json: {error}") from error


def _read(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {"version": "2.0"}
    try:
        document = read_json(path)
    except ValueError as error:
        raise HostStartError(f"host.json is not valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise HostStartError("host.json must be a JSON object")
    if not document:
        return {"version": "2.0"}
    if document.get("version") != "2.0":
        raise HostStartError(f'host.json: set "version" to "2.0" instead of {document.get("version")!r}')
    return document


class _Tree:
    """JSON flattened to `a:b:c` paths, as in .NET configuration."""

    def __init__(self, document: Mapping[str, object], overrides: Mapping[str, str]) -> None:
        self._by_path = {path.lower(): (path, value) for path, value in _flatten(document, "")}
        self._by_path.update({path: (path, value) for path, value in overrides.items()})

    def get(self, path: str, default: str) -> str:
        return self._by_path.get(path.lower(), ("", default))[1]

    def section(self, path: str) -> dict[str, str]:
        start = path.lower() + ":"
        return {
            written[len(start) :]: value for key, (written, value) in self._by_path.items() if key.startswith(start)
        }


def _flatten(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _flatten(child, f"{path}:{name}" if path else name)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _flatten(child, f"{path}:{index}")
    elif isinstance(value, bool):
        yield path, str(value).lower()
    elif value is not None:
        yield path, str(value)


def _timeout_s(text: str) -> float | None:
    if text in ("-1", "-00:00:00.0010000"):
        return None
    match = _TIMEOUT.fullmatch(text)
    if match is None:
        raise ValueError(f"functionTimeout {text!r} must be hh:mm:ss or -1")
    hours, minutes, seconds = (int(part) for part in match.groups())
    total = hours * 3600 + minutes * 60 + seconds
    if total < 1:
        raise ValueError("functionTimeout must be at least one second")
    return float(total)


def _log_levels(section: Mapping[str, str]) -> dict[str, int]:
    levels = {}
    for category, name in section.items():
        if name.lower() not in _LEVELS:
            raise ValueError(f"logging.logLevel.{category}: unknown level {name!r}")
        levels[category] = _LEVELS[name.lower()]
    return levels


def _parses_dates(serializer: Mapping[str, str]) -> bool:
    """Return whether the serializer of changes parses dates.

    From version 4.9.0, the Cosmos DB extension has this one setting, with these two values:
    https://github.com/Azure/azure-webjobs-sdk-extensions/pull/923
    """
    place = "extensions.cosmosDB.serializerSettings"
    if unknown := [name for name in serializer if name.lower() != "dateparsehandling"]:
        raise ValueError(f"{place} has only dateParseHandling; remove {', '.join(unknown)}")
    handling = next(iter(serializer.values()), "Default")
    if handling.lower() not in ("none", "default"):
        raise ValueError(f"{place}.dateParseHandling {handling!r} must be None or Default")
    return handling.lower() == "default"


def _allow_list(tree: _Tree) -> frozenset[str] | None:
    names = tree.section("functions")
    return frozenset(name.lower() for name in names.values()) if names else None
