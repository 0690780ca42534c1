"""The app of odd functions and its keys, which both hosts run, and the requests to it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.fidelity.cases import CASES
from tests.fidelity.exchange import Case, Response, exchange

ENVIRONMENT = {
    "AzureWebJobsDisableHomepage": "true",
    "AzureWebJobs.disabled.Disabled": "true",
    "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": "1000000",
}
MASTER_KEY = "local"
# In the cases: a key of the function `keyed`, and a host key that is not the master key.
_KEYS = {"key": "of-the-function", "hostkey": "of-the-host"}
_CONCURRENT = 8


def copied_app(folder: Path) -> Path:
    """Return a copy of the app, in which a host can write."""
    return shutil.copytree(Path(__file__).with_name("odd_app"), folder / "odd_app")


def write_keys(secrets: Path) -> None:
    """Create the folder with the keys, in the format that both hosts read."""
    secrets.mkdir(parents=True)
    host = {
        "masterKey": _stored([("master", MASTER_KEY)])[0],
        "functionKeys": _stored([("default", "local"), ("shared", _KEYS["hostkey"])]),
        "systemKeys": [],
    }
    (secrets / "host.json").write_text(json.dumps(host))
    (secrets / "keyed.json").write_text(json.dumps({"keys": _stored([("default", _KEYS["key"])])}))


async def responses(port: int) -> dict[str, Response]:
    """Send all requests to a host, and return its responses by the request's name."""
    slots = asyncio.Semaphore(_CONCURRENT)

    async def response(case: Case) -> Response:
        async with slots:
            return await exchange(case, port, _KEYS)

    return dict(zip(CASES, await asyncio.gather(*map(response, CASES.values())), strict=True))


def _stored(pairs: Iterable[tuple[str, str]]) -> list[dict[str, object]]:
    return [{"name": name, "value": value, "encrypted": False} for name, value in pairs]
