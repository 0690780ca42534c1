"""Both hosts give the same responses to the same requests, except for the accepted differences."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.chaos.ports import free_port
from tests.real_host.fidelity.cases import CASES
from tests.real_host.fidelity.differences import ACCEPTED
from tests.real_host.fidelity.exchange import Case, Response, exchange
from tests.real_host.real_host import KEY, RealHost, host_of

_APP = Path(__file__).with_name("odd_app")
_ENVIRONMENT = {
    "AzureWebJobsDisableHomepage": "true",
    "AzureWebJobs.disabled.Disabled": "true",
    "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": "1000000",
}
# In the cases: a key of the function `keyed`, and a host key that is not the master key.
_KEYS = {"key": "of-the-function", "hostkey": "of-the-host"}
_START_S = 60


async def test_the_hosts_differ_only_where_that_is_accepted(tmp_path: Path) -> None:
    with host_of(_APP, _ENVIRONMENT, tmp_path / "real.log") as real, _own_host(tmp_path) as port:
        _give_keys(real)
        theirs, ours = await _responses(urlsplit(real.url).port or 0), await _responses(port)

    differing = {name: _differences(theirs[name], ours[name]) for name in CASES if theirs[name] != ours[name]}
    sys.stdout.write(f"\n{len(CASES)} requests, {len(differing)} differ\n")
    for kind, names in _grouped(differing).items():
        lines = [f"  {name}: {ACCEPTED.get(name, 'NOT ACCEPTED')}\n" for name in names]
        sys.stdout.writelines([f"{kind}\n", *lines])
    unexpected = {name: text for name, text in differing.items() if name not in ACCEPTED}
    assert not unexpected, "\n".join(f"{name}: {text}" for name, text in unexpected.items())
    assert not ACCEPTED.keys() - differing.keys(), "these do not differ any more"


async def _responses(port: int) -> dict[str, Response]:
    slots = asyncio.Semaphore(8)

    async def one(case: Case) -> Response:
        async with slots:
            return await exchange(case, port, _KEYS)

    return dict(zip(CASES, await asyncio.gather(*map(one, CASES.values())), strict=True))


def _differences(theirs: Response, ours: Response) -> str:
    parts = {
        "status": (theirs.status, ours.status),
        "headers": (sorted(set(theirs.headers) - set(ours.headers)), sorted(set(ours.headers) - set(theirs.headers))),
        "body": (theirs.body[:300], ours.body[:300]),
        "closed": (theirs.closed, ours.closed),
    }
    return ", ".join(f"{name} {one!r} | {other!r}" for name, (one, other) in parts.items() if one != other)


def _grouped(differing: Mapping[str, str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name, text in differing.items():
        groups[text.partition(" ")[0]].append(name)
    return groups


def _give_keys(host: RealHost) -> None:
    for path, value in (
        ("functions/keyed/keys/default", _KEYS["key"]),
        ("host/functionkeys/shared", _KEYS["hostkey"]),
    ):
        _send(f"{host.url}/admin/{path}", "PUT", {"name": path.rpartition("/")[2], "value": value})


def _send(url: str, method: str = "GET", content: object = None) -> None:
    headers = {**KEY, "Content-Type": "application/json"}
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - our own address
    urllib.request.urlopen(request, timeout=10).close()  # noqa: S310 - a server on this machine


@contextmanager
def _own_host(folder: Path) -> Iterator[int]:
    """Run the app on this repository's host, with the same keys, until the block ends."""
    secrets = folder / "state" / "secrets"
    secrets.mkdir(parents=True)
    shared = _keys([("default", "local"), ("shared", _KEYS["hostkey"])])
    (secrets / "host.json").write_text(json.dumps({"masterKey": _keys([("m", "local")])[0], "functionKeys": shared}))
    (secrets / "keyed.json").write_text(json.dumps({"keys": _keys([("default", _KEYS["key"])])}))
    port = free_port()
    command = ("-m", "functions_host", "--app-dir", str(_APP), "--port", str(port), "--enable-auth", "--no-reload")
    options = ("--state-dir", str(folder / "state"), "--allowed-host", "*")
    with (folder / "own.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, *command, *options], env={**os.environ, **_ENVIRONMENT}, stderr=log
        )
    try:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(OSError):
                _send(f"http://127.0.0.1:{port}/admin/host/status")
                break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def _keys(pairs: Iterable[tuple[str, str]]) -> list[dict[str, object]]:
    return [{"name": name, "value": value, "encrypted": False} for name, value in pairs]
