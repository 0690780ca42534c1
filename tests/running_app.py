"""The app on the local Functions host, in its own process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.error import HTTPError

from management.provision import provision
from shared.platform.settings import Account, AnySettings, read_settings
from shared.settings import Settings

REPOSITORY = Path(__file__).parent.parent
TRIGGERS = ("on_posts_changed", "on_users_changed")
# COSMOS is a connection string or, with two underscores, its parts.
SETTING_NAMES = {
    str(field.validation_alias or f"BLOG_{name.upper()}") for name, field in Settings.model_fields.items()
} | {f"COSMOS__account{part.name.title()}" for part in fields(Account)}
_START_S = 60
_STOP_S = 60
_POLL_S = 0.02


@dataclass(frozen=True)
class RunningApp:
    """A host process running the app. `log` contains the output of both."""

    process: subprocess.Popen[bytes]
    url: str
    settings: Settings
    log: Path

    @cached_property
    def openapi(self) -> dict[str, Any]:
        """The OpenAPI description that this process serves."""
        try:
            return dict(self._get("/api/openapi.json"))
        except HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            return {}

    def log_lines(self, *, containing: str = "") -> list[str]:
        """The lines logged so far."""
        return [line for line in self.log.read_text(encoding="utf-8").splitlines() if containing in line]

    def kill(self) -> None:
        """Send SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Send SIGTERM and check for a clean exit."""
        self.process.terminate()
        # Windows has no SIGTERM, and ends the process with status 1.
        expected = 1 if sys.platform == "win32" else 0
        assert self.process.wait(_STOP_S) == expected, self.log.read_text(encoding="utf-8")

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:  # noqa: S310 - our own address
            return json.load(answer)

    def _is_ready(self) -> bool:
        if self._get("/admin/host/status")["state"] != "Running":
            return False
        names = [function["name"] for function in self._get("/admin/functions") if not function["isDisabled"]]
        return all(self._get(f"/admin/functions/{name}/status")["isListening"] for name in names)


@contextmanager
def running_app(
    settings: Settings,
    log: Path,
    *,
    disabled: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    app_dir: Path = REPOSITORY,
) -> Iterator[RunningApp]:
    """Run the app on a provisioned database, without the `disabled` functions, and stop it unless it was killed.

    `options` are more options of the host. `app_dir` is the directory of function_app.py.
    """
    # As in Azure, where a request's Host header is not a name of this machine.
    options = ["--port", "0", "--no-local-settings", "--no-reload", "--allowed-host", "*", *options]
    with log.open("wb") as stderr:
        process = subprocess.Popen(  # noqa: S603 - the options of the tests
            [sys.executable, "-m", "functions_host", *options],
            cwd=app_dir,
            env={
                **os.environ,
                **environment_of(settings),
                "AzureWebJobsDisableHomepage": "true",
                **_switched_off(disabled),
                **(environment or {}),
            },
            stderr=stderr,
        )
    try:
        app = RunningApp(process, _poll(lambda: _url(process, log)), settings, log)
        _poll(app._is_ready)
        yield app
        if process.poll() is None:
            app.stop()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def provisioned(settings: Settings) -> Settings:
    """Provision the database, in a thread because the caller may have a running event loop."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, provision(settings)).result()
    return settings


def environment_of(settings: Settings) -> dict[str, str]:
    """The settings as environment variables."""
    blog = {
        "BLOG_DATABASE": settings.database,
        "BLOG_TRANSACTIONS": settings.transactions,
        "BLOG_DELIVERY_DEADLINE_S": str(settings.delivery_deadline_s),
        "BLOG_AUTH": settings.auth,
        "BLOG_SITE_URL": settings.site_url,
        "WEBSITE_AUTH_ENABLED": settings.platform_authenticates,
    }
    if settings.account.key is None:
        return {"COSMOS__accountEndpoint": settings.account.endpoint, **blog}
    return {"COSMOS": f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};", **blog}


def settings_of(
    environment: Mapping[str, str],
    kind: type[AnySettings] = Settings,  # type: ignore[assignment]  # python/mypy#3737
) -> AnySettings:
    """The settings that the app reads from this environment. Raises SettingsError."""
    with patch.dict(os.environ, environment, clear=True):
        return read_settings(kind)


def _switched_off(functions: Sequence[str]) -> dict[str, str]:
    return {f"AzureWebJobs.{name}.Disabled": "true" for name in functions}


def _url(process: subprocess.Popen[bytes], log: Path) -> str | None:
    text = log.read_text(encoding="utf-8")
    assert process.poll() is None, text
    return next((line.split()[-1] for line in text.splitlines() if "listening on" in line), None)


def _poll(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(_POLL_S)
    raise AssertionError("the app did not start in time")
