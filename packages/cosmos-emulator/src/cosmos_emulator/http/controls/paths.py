"""`/_emulator/…`: the path of each control."""

from __future__ import annotations

from aiohttp import web

from cosmos_emulator.contents.controls import Controls
from cosmos_emulator.http.body import read_body
from cosmos_emulator.http.controls.account import control
from cosmos_emulator.http.controls.faults import answer_faults
from cosmos_emulator.http.controls.load import LoadHistory
from cosmos_emulator.http.controls.settings import answer_settings
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.settings import EmulatorSettings


async def answer_control(
    http: web.BaseRequest, controls: Controls, settings: EmulatorSettings, load: LoadHistory
) -> Answer | web.StreamResponse:
    """Answer a request of an administrator. Raises 400, 404 and 405."""
    path, _, query = http.raw_path.removeprefix("/_emulator/").partition("?")
    match segments := path.rstrip("/").split("/"):
        case ["reset" | "snapshots" | "export" | "import" | "clock", *_]:
            return await control(controls, settings.clock, http, segments)
        case ["load"]:
            return load.answer(http.method, query)
        case ["settings"]:
            return answer_settings(settings, http.method, await read_body(http))
    return answer_faults(settings.faults, http.method, http.raw_path, await read_body(http))
