"""Stored procedures."""

from __future__ import annotations

from dataclasses import dataclass

from cosmos_emulator import json_text
from cosmos_emulator.json_text import Json
from cosmos_emulator.scripts.limits import ScriptLimits
from cosmos_emulator.scripts.operations import ScriptOperations
from cosmos_emulator.scripts.trampoline import Script, parsed_body, run_script


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """`body` is "" if not set; `log` is plain text."""

    body: Json
    log: str


def execute_stored_procedure(
    script_id: str,
    body: str,
    arguments: list[Json],
    operations: ScriptOperations,
    limits: ScriptLimits,
    *,
    capture_log: bool,
) -> ScriptResult:
    """Run a procedure in the open transaction of `operations`; the caller commits.

    Raises 400 with the thrown number as sub-status, 408 for the time limit, 413 if the response is too large. The
    caller must then roll back.
    """
    request_body = json_text.dump(arguments).decode()
    script = Script(
        script_id,
        body,
        arguments,
        {"kind": "procedure", "requestBody": request_body, "logging": capture_log},
    )
    finished = run_script(script, operations, limits)
    return ScriptResult(parsed_body(finished, limits), finished.log)
