"""`/_emulator/reset`, `snapshots`, `export`, `import` and `clock`: controls for tests.

POST     /_emulator/reset                       delete everything
GET      /_emulator/snapshots                   {"snapshots": ["seeded"]}
PUT      /_emulator/snapshots/{name}            take a snapshot, or replace it
POST     /_emulator/snapshots/{name}/restore    replace the account with it
DELETE   /_emulator/snapshots/{name}            delete it
GET      /_emulator/export                      the account as JSON Lines (contents/account_file.py)
POST     /_emulator/import                      replace the account with such a file
GET      /_emulator/clock                       {"now": 1767225600.0, "frozen": false}
PATCH    /_emulator/clock                       any of {"now": 1767225600, "frozen": true, "advanceS": 3600}
DELETE   /_emulator/clock                       return to the system's time
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from aiohttp import web

from cosmos_emulator import json_text
from cosmos_emulator.contents.controls import Controls
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.runtime.clock import AdjustableClock

_CHUNK_BYTES: Final = 1 << 16
_CLOCK: Final = {"now": "seconds since the epoch", "frozen": "true or false", "advanceS": "a number of seconds"}


async def control(
    controls: Controls, clock: object, http: web.BaseRequest, path: list[str]
) -> Answer | web.StreamResponse:
    """Run a control; `path` has the segments after `/_emulator`. Raises 400, 404 and 405."""
    match http.method, path:
        case "POST", ["reset"]:
            await controls.reset()
        case "GET", ["snapshots"]:
            return Answer(200, json_text.dump({"snapshots": controls.snapshots()}))
        case "PUT", ["snapshots", name]:
            await controls.snapshot(name)
        case "DELETE", ["snapshots", name]:
            await controls.forget(name)
        case "POST", ["snapshots", name, "restore"]:
            await controls.restore(name)
        case "GET", ["export"]:
            return await _exported(controls, http)
        case "POST", ["import"]:
            await _import(controls, http)
        case "GET" | "PATCH" | "DELETE" as method, ["clock"]:
            return _clock_answer(method, _adjustable(clock), await http.read())
        case _:
            raise CosmosError(405, f"The method {http.method} is not allowed on {http.path}.")
    return Answer(204)


async def _exported(controls: Controls, http: web.BaseRequest) -> web.StreamResponse:
    with TemporaryDirectory(prefix="cosmos-export-") as folder:
        exported = Path(folder) / "account.jsonl"
        await controls.export_to(exported)
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson", "Cache-Control": "no-store"})
        with suppress(ConnectionResetError), exported.open("rb") as file:  # the client can leave
            await response.prepare(http)
            while chunk := file.read(_CHUNK_BYTES):
                await response.write(chunk)
            await response.write_eof()
        return response


async def _import(controls: Controls, http: web.BaseRequest) -> None:
    with TemporaryDirectory(prefix="cosmos-import-") as folder:
        given = Path(folder) / "account.jsonl"
        with given.open("wb") as file:
            try:
                async for chunk in http.content.iter_chunked(_CHUNK_BYTES):
                    file.write(chunk)
            except (web.RequestPayloadError, ConnectionResetError) as error:
                raise CosmosError(400, f"The request payload is incomplete: {error}") from error
        await controls.import_from(given)


def _adjustable(clock: object) -> AdjustableClock:
    if not isinstance(clock, AdjustableClock):
        raise CosmosError(400, "This emulator has a clock of its own (EmulatorSettings.clock), which sets the time.")
    return clock


def _clock_answer(method: str, clock: AdjustableClock, body: bytes) -> Answer:
    if method == "PATCH":
        _change(clock, json_text.parse_object(body))
    elif method == "DELETE":
        clock.reset()
    return Answer(200, json_text.dump({"now": clock(), "frozen": clock.is_frozen}))


def _change(clock: AdjustableClock, changes: JsonObject) -> None:
    """Change all properties, or raise 400 and change none."""
    for name, value in changes.items():
        if name not in _CLOCK:
            raise CosmosError(400, f"{name!r} is not a property of the clock; use {', '.join(_CLOCK)}.")
        if isinstance(value, bool) != (name == "frozen") or not isinstance(value, int | float):
            raise CosmosError(400, f"{name} must be {_CLOCK[name]}, not {value!r}.")
    now_s, advance_s = changes.get("now", clock()), changes.get("advanceS", 0)
    assert isinstance(now_s, int | float)  # noqa: S101 - checked above
    assert isinstance(advance_s, int | float)  # noqa: S101 - checked above
    frozen = changes.get("frozen", clock.is_frozen)
    if advance_s < 0:
        raise CosmosError(400, f"The clock cannot advance by {advance_s} s; set `now` to go back.")
    try:
        clock.freeze(now_s + advance_s)
    except (ValueError, OverflowError) as error:
        raise CosmosError(400, f"The clock cannot be changed: {error}.") from error
    if not frozen:
        clock.resume()
