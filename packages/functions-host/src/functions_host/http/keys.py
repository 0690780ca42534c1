"""Host and function keys.

Rules: azure-functions-host Security/Authentication/Keys/AuthenticationLevelHandler.cs and
Security/KeyManagement (SecretManager.cs; FileSystemSecretsRepository.cs, the files).
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import HostStartError
from ..functions import LoadedFunction
from .request import query_pairs
from .request_head import RequestHead

HEADER = "x-functions-key"
_KEY_BYTES = 40
_Keys = list[dict[str, str]]


class Keys:
    """The keys in a directory: `host.json`, and one file per function. Missing files are created."""

    def __init__(self, directory: Path, functions: Iterable[LoadedFunction]) -> None:
        """Read the keys for HTTP functions. Raises HostStartError for an invalid file."""
        host = _read(directory / "host.json", {"masterKey": _key("master"), "functionKeys": [_key("default")]})
        self._master = _checked(directory / "host.json", [host.get("masterKey")])
        self.of_host = _checked(directory / "host.json", host.get("functionKeys", []))
        self.by_function: dict[str, _Keys] = {}
        for function in functions:
            if _level(function) != "anonymous":
                path = directory / f"{function.name.lower()}.json"
                keys = _read(path, {"keys": [_key("default")]}).get("keys", [])
                self.by_function[function.name] = _checked(path, keys)

    def allow(self, function: LoadedFunction, head: RequestHead) -> bool:
        """Return whether a request has a key that the function's authorization level accepts."""
        level = _level(function)
        if level == "anonymous" or self.allow_admin(head):
            return True
        return level == "function" and _has(head, [*self.of_host, *self.by_function[function.name]])

    def allow_admin(self, head: RequestHead) -> bool:
        """Return whether a request has the master key."""
        return _has(head, self._master)

    def is_of_host(self, head: RequestHead) -> bool:
        """Return whether a request has a host key that is not the master key."""
        return _has(head, self.of_host)


def _level(function: LoadedFunction) -> str:
    return str(function.trigger.get("authLevel", "function")).lower()


def _has(head: RequestHead, accepted: Iterable[dict[str, str]]) -> bool:
    given = head.headers.get(HEADER)
    if given is None:
        given = next((value for name, value in query_pairs(head.query) if name.lower() == "code"), "")
    key = given.encode()
    return any(hmac.compare_digest(key, each["value"].encode()) for each in accepted)


def _key(name: str) -> dict[str, object]:
    return {"name": name, "value": secrets.token_urlsafe(_KEY_BYTES), "encrypted": False}


def _read(path: Path, new: dict[str, Any]) -> dict[str, Any]:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(new, file, indent=2)
        return new
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise _invalid(path, str(error)) from error
    if not isinstance(found, dict):
        raise _invalid(path, "it must be a JSON object")
    return found


def _checked(path: Path, keys: Any) -> _Keys:
    if not isinstance(keys, list):
        raise _invalid(path, "the keys must be in an array")
    for key in keys:
        if not isinstance(key, dict) or not isinstance(key.get("value"), str) or not key["value"]:
            raise _invalid(path, "each key must have a value")
        if key.get("encrypted"):
            raise _invalid(path, "encrypted keys are not supported")
    return [{"name": str(key.get("name")), "value": key["value"]} for key in keys]


def _invalid(path: Path, reason: str) -> HostStartError:
    return HostStartError(f"{path.parent.name}/{path.name}: {reason}; correct or delete the file")
