"""Runs a procedure or trigger: the script queues operations, and each callback runs after its operation.

The script's function returns first. Its operations then run in order, with promise jobs in between, until the queue is
empty.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.scripts import failures
from cosmos_emulator.scripts.engine import EngineProcess
from cosmos_emulator.scripts.engine_pool import ENGINES
from cosmos_emulator.scripts.failures import Failure, ScriptEngineLostError, ScriptExhaustedError, ScriptTimedOutError
from cosmos_emulator.scripts.limits import ACCEPTING_SHARE, ScriptLimits
from cosmos_emulator.scripts.operations import ScriptOperations
from cosmos_emulator.scripts.replies import Operation, Replies


@dataclass(frozen=True, slots=True)
class Script:
    """A procedure or trigger; `messages` are its kind's settings for runtime/messages.js."""

    script_id: str
    body: str
    arguments: list[Json]
    messages: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Finished:
    """`body_text` is the JSON of the response body; None if undefined."""

    body_text: str | None
    log: str


def run_script(script: Script, operations: ScriptOperations, limits: ScriptLimits) -> Finished:
    """Run a script to its end. On CosmosError, the caller must roll back."""
    try:
        with ENGINES.lent(limits.memory_bytes) as engine:
            return _Execution(engine, operations, limits).run(script)
    except ScriptTimedOutError:
        raise failures.timed_out(script.script_id, limits) from None
    except ScriptExhaustedError:
        raise failures.exhausted(script.script_id, limits) from None
    except ScriptEngineLostError as error:
        raise failures.engine_lost(script.script_id, error) from error


def parsed_body(finished: Finished, limits: ScriptLimits) -> Json:
    """Return the response body, by default "". Raises 413 if it is too large."""
    if finished.body_text is None:
        return ""
    data = finished.body_text.encode()
    if len(data) > limits.response_bytes:
        raise CosmosError(413, f"The script's response exceeds {limits.response_bytes} bytes.")
    try:
        body: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise CosmosError(400, f"The script's response is not valid UTF-8 ({error}).") from error
    return body


class _Execution:
    def __init__(self, engine: EngineProcess, operations: ScriptOperations, limits: ScriptLimits) -> None:
        self._engine = engine
        self._operations = operations
        self._limits = limits
        self._replies = Replies(operations)
        self._deadline = time.monotonic() + limits.time_limit_s

    def run(self, script: Script) -> Finished:
        step = orjson.loads(self._engine.run(self._settings(script), self._remaining_s()))
        while step["step"] == "operation":
            reply = self._replies.perform(cast(Operation, step["operation"]))
            step = orjson.loads(self._engine.resume(reply, self._remaining_s()))
        if step["step"] == "failed":
            failure = cast(Failure, step["failure"])
            raise failures.script_failed(failure, while_compiling="whileCompiling" in step["failure"])
        return Finished(step["result"]["body"], step["result"]["log"])

    def _settings(self, script: Script) -> str:
        settings: dict[str, Json] = {
            "logging": False,
            **script.messages,
            "body": script.body,
            "arguments": script.arguments,
            "selfLink": self._operations.self_link,
            "altLink": self._operations.alt_link,
            "acceptForMs": self._accepting_s() * 1000,
            "acceptAtMost": self._limits.accepted_operations,
            "responseLimit": self._limits.response_bytes,
            "logLimit": self._limits.log_characters,
            "clock": self._limits.script_clock(),
            "hidesNewer": self._limits.hides_newer,
        }
        return json_text.dump(settings).decode()

    def _accepting_s(self) -> float:
        """Return the seconds in which operations are accepted."""
        return self._remaining_s() - (1 - ACCEPTING_SHARE) * self._limits.time_limit_s

    def _remaining_s(self) -> float:
        return self._deadline - time.monotonic()
