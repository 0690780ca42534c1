"""Host and function keys with `enable_auth`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from functions_host import FunctionsHost, HostStartError
from tests.running import HostProcess, host_process, running, write_app

APP = """
@app.route(route='open', auth_level=func.AuthLevel.ANONYMOUS)
def anonymous(req): return req.params.get('code', 'open')

@app.route(route='keyed', auth_level=func.AuthLevel.FUNCTION)
def keyed(req): return 'keyed'

@app.route(route='other', auth_level='function')
def other(req): return 'other'

@app.route(route='boss', auth_level=func.AuthLevel.ADMIN)
def administer(req): return 'admin'
"""


@pytest.fixture
def app_dir(tmp_path: Path) -> Path:
    return write_app(tmp_path, APP)


def keys(app_dir: Path) -> dict[str, str]:
    """Return the keys by name, as a client reads them."""
    directory = app_dir / ".data" / "functions-host" / "secrets"
    host = json.loads((directory / "host.json").read_text())
    found = {"master": host["masterKey"]["value"], "host": host["functionKeys"][0]["value"]}
    for name in ("keyed", "other"):
        found[name] = json.loads((directory / f"{name}.json").read_text())["keys"][0]["value"]
    return found


async def status(http: ClientSession, host: FunctionsHost | HostProcess, path: str, **request: Any) -> int:
    async with http.get(f"{host.url}/{path}", **request) as response:
        return response.status


def header(key: str) -> Mapping[str, Any]:
    return {"headers": {"x-functions-key": key}}


async def test_a_function_requires_its_key_or_a_host_key(app_dir: Path, http: ClientSession) -> None:
    async with running(app_dir, enable_auth=True) as host:
        found = keys(app_dir)

        assert await status(http, host, "api/keyed") == 401
        assert await status(http, host, "api/keyed", **header("wrong")) == 401
        assert await status(http, host, "api/keyed", **header(found["other"])) == 401
        for key in (found["keyed"], found["host"], found["master"]):
            assert await status(http, host, "api/keyed", **header(key)) == 200
            assert await status(http, host, f"api/keyed?code={key}") == 200


async def test_a_rejected_request_has_no_body_and_runs_no_code(app_dir: Path, http: ClientSession) -> None:
    async with running(app_dir, enable_auth=True) as host, http.get(f"{host.url}/api/keyed") as response:
        assert (response.status, await response.read()) == (401, b"")


async def test_the_header_wins_over_the_query(app_dir: Path, http: ClientSession) -> None:
    async with running(app_dir, enable_auth=True) as host:
        key = keys(app_dir)["keyed"]

        assert await status(http, host, f"api/keyed?code={key}", **header("wrong")) == 401
        assert await status(http, host, "api/keyed?code=wrong", **header(key)) == 200


async def test_the_admin_level_requires_the_master_key(app_dir: Path, http: ClientSession) -> None:
    async with running(app_dir, enable_auth=True) as host:
        found = keys(app_dir)

        for path in ("api/boss", "admin/functions", "admin/host/status"):
            assert await status(http, host, path) == 401
            refused = 401 if path == "api/boss" else 403
            assert await status(http, host, path, **header(found["host"])) == refused
            assert await status(http, host, path, **header(found["master"])) == 200
        assert await status(http, host, "admin/host/ping") == 200


async def test_anonymous_functions_and_the_home_page_need_no_key(app_dir: Path, http: ClientSession) -> None:
    async with running(app_dir, enable_auth=True) as host:
        assert await status(http, host, "api/open") == 200
        assert await status(http, host, "api/open", **header("wrong")) == 200
        assert await status(http, host, "") == 200
        assert await status(http, host, "api/missing") == 404


async def test_without_enable_auth_no_key_is_needed(app_dir: Path, http: ClientSession) -> None:
    async with running(app_dir) as host:
        for path in ("api/open", "api/keyed", "api/boss", "admin/functions"):
            assert await status(http, host, path) == 200

    assert not (app_dir / ".data").exists()


async def test_keys_persist_and_can_be_chosen(app_dir: Path, tmp_path: Path, http: ClientSession) -> None:
    async with running(app_dir, enable_auth=True):
        generated = keys(app_dir)
    chosen = {"masterKey": {"name": "master", "value": "m"}, "functionKeys": [{"name": "ci", "value": "k"}]}
    state_dir = tmp_path / "state"
    (state_dir / "secrets").mkdir(parents=True)
    (state_dir / "secrets" / "host.json").write_text(json.dumps(chosen))

    async with running(app_dir, enable_auth=True) as host:
        assert keys(app_dir) == generated
        assert await status(http, host, "api/keyed", **header(generated["keyed"])) == 200
    async with running(app_dir, enable_auth=True, state_dir=state_dir) as host:
        assert await status(http, host, "api/keyed", **header("k")) == 200
        assert await status(http, host, "api/boss", **header("m")) == 200
        assert await status(http, host, "api/keyed", **header(generated["host"])) == 401


async def test_only_the_owner_can_read_the_keys(app_dir: Path) -> None:
    async with running(app_dir, enable_auth=True):
        files = list((app_dir / ".data" / "functions-host" / "secrets").iterdir())

    assert {file.name for file in files} == {"host.json", "keyed.json", "other.json", "administer.json"}
    if os.name == "posix":
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"masterKey": {"value": ""}}',
        '{"masterKey": {"value": "x", "encrypted": true}}',
        '{"masterKey": {"value": "x"}, "functionKeys": {"value": "y"}}',
        '{"masterKey": {"value": "x"}, "functionKeys": null}',
    ],
)
async def test_an_invalid_key_file_stops_the_start(app_dir: Path, text: str) -> None:
    directory = app_dir / ".data" / "functions-host" / "secrets"
    directory.mkdir(parents=True)
    (directory / "host.json").write_text(text)

    with pytest.raises(HostStartError, match=r"secrets/host\.json: .*correct or delete the file"):
        async with running(app_dir, enable_auth=True):
            pass


@pytest.mark.parametrize("option", ["--enable-auth", "--enableAuth"])
async def test_the_command_names_the_key_directory_but_logs_no_key(
    app_dir: Path, http: ClientSession, option: str
) -> None:
    async with host_process(app_dir, "a", {}, option, wait=False) as host:
        found = keys(app_dir)
        assert await status(http, host, f"api/keyed?code={found['keyed']}") == 200
        await host.terminate()
        log = host.log.read_text()

    assert "secrets" in log
    assert not any(key in log for key in found.values())
