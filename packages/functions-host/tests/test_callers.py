"""Requests from pages of other sites, which a browser on this machine shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from functions_host import FunctionsHost
from tests.running import host_process, running, write_app

APP = """
@app.route(route="hello")
def hello(req): return "x"

@app.timer_trigger(arg_name="t", schedule="0 0 0 1 1 *")
def yearly(t: func.TimerRequest): pass
"""
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[FunctionsHost]:
    async with running(write_app(tmp_path, APP), sign_in=True) as host:
        await host.ready()
        yield host


@pytest.mark.parametrize("name", ["rebound.example.com:7071", "example.com", "127.0.0.1.example.com:1", "EXAMPLE.com"])
async def test_a_host_name_that_another_site_can_own_is_refused(
    http: ClientSession, host: FunctionsHost, name: str
) -> None:
    for path in ("/", "/api/hello", "/admin/functions", "/.auth/me", "/none"):
        response = await http.get(host.url + path, headers={"Host": name})
        assert (response.status, "--allowed-host" in await response.text()) == (403, True), path


@pytest.mark.parametrize(
    "name",
    [
        "localhost:7071",
        "127.0.0.1:9",
        "[::1]:7071",
        "[::1]",
        "192.0.2.7",
        "app.localhost",
        "functions:80",
        "host.docker.internal:7071",
    ],
)
async def test_names_that_no_other_site_can_own_are_served(http: ClientSession, host: FunctionsHost, name: str) -> None:
    for path in ("/api/hello", "/admin/host/status"):
        assert (await http.get(host.url + path, headers={"Host": name})).status == 200


@pytest.mark.parametrize(("allowed", "status"), [("dev.example.com", 403), ("*", 200)])
async def test_other_host_names_can_be_allowed(http: ClientSession, tmp_path: Path, allowed: str, status: int) -> None:
    async with host_process(write_app(tmp_path, APP), "host", {}, "--allowed-host", allowed) as host:
        named = await http.get(f"{host.url}/api/hello", headers={"Host": "dev.example.com:7071"})
        other = await http.get(f"{host.url}/api/hello", headers={"Host": "example.com"})

    assert (named.status, other.status) == (200, status)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://example.com"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_pages_of_other_sites_cannot_administer_the_host(
    http: ClientSession, tmp_path: Path, headers: dict[str, str]
) -> None:
    async with running(write_app(tmp_path, APP), cors="*") as host:
        await host.ready()
        requests = [
            await http.post(f"{host.url}/admin/host/drain", headers=headers),
            await http.post(f"{host.url}/admin/functions/yearly", data="{}", headers={**headers, **JSON}),
            await http.get(f"{host.url}/ADMIN/functions", headers=headers),
            await http.get(f"{host.url}/%61dmin/functions", headers=headers),
        ]
        listening = host.is_listening("yearly")

    assert [response.status for response in requests] == [403] * 4
    assert listening


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_the_hosts_own_pages_can_administer_it(http: ClientSession, host: FunctionsHost, site: str) -> None:
    headers = {"Origin": host.url, "Sec-Fetch-Site": site}

    response = await http.post(f"{host.url}/admin/functions/yearly", json={"input": ""}, headers=headers)

    assert response.status == 202


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "text/plain;application/json"]
)
async def test_administration_with_a_body_requires_json(
    http: ClientSession, host: FunctionsHost, media_type: str
) -> None:
    for path in ("functions/yearly", "host/drain"):
        sent = http.post(f"{host.url}/admin/{path}", data='{"input": ""}', headers={"Content-Type": media_type})
        assert (await sent).status == 415

    assert host.is_listening("yearly")


async def test_functions_answer_pages_of_other_sites(http: ClientSession, host: FunctionsHost) -> None:
    """As in Azure: an app protects itself, and CORS decides who reads the response."""
    headers = {"Origin": "http://example.com", "Sec-Fetch-Site": "cross-site"}

    assert (await http.post(f"{host.url}/api/hello", headers=headers)).status == 200
