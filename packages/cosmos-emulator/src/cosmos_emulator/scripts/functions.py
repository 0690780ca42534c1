"""User-defined functions of a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Self, cast

import orjson

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined
from cosmos_emulator.scripts import failures
from cosmos_emulator.scripts.engine import EngineProcess
from cosmos_emulator.scripts.engine_pool import ENGINES
from cosmos_emulator.scripts.failures import Failure, ScriptEngineLostError, ScriptExhaustedError, ScriptTimedOutError
from cosmos_emulator.scripts.limits import ScriptLimits


class UdfRuntime:
    """One container's functions for one query page, in one JavaScript context.

    A context manager for one thread. The first call borrows an engine and each function's first call compiles it.
    `limits.time_limit_s` limits the total time of all calls, excluding transport.
    """

    def __init__(self, udfs: Mapping[str, str], limits: ScriptLimits) -> None:
        self._bodies = udfs
        self._limits = limits
        self._defined: set[str] = set()
        self._engine: EngineProcess | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def call(self, name: str, arguments: list[JsonOrUndefined]) -> JsonOrUndefined:
        """Return the function's result, or UNDEFINED.

        Raises 400 if the function does not exist, does not compile or throws; 408 if time runs out.
        """
        if name not in self._defined:
            self._define(name)
        crossing = [name, *(0 if argument is UNDEFINED else (argument,) for argument in arguments)]
        return self._answer(name, EngineProcess.call, json_text.dump(crossing).decode())

    def _define(self, name: str) -> None:
        body = self._bodies.get(name)
        if body is None:
            raise CosmosError(400, f"The user-defined function 'udf.{name}' does not exist in this container.")
        definition = [name, body, self._limits.script_clock(), self._limits.hides_newer]
        self._answer(name, EngineProcess.define, json_text.dump(definition).decode())
        self._defined.add(name)

    def _answer(self, name: str, ask: Callable[[EngineProcess, str, float], str], text: str) -> JsonOrUndefined:
        try:
            engine = self._lent_engine()
            answer = ask(engine, text, self._limits.time_limit_s - engine.spent_s)
        except ScriptTimedOutError:
            raise failures.timed_out(f"udf.{name}", self._limits) from None
        except ScriptExhaustedError:
            raise failures.exhausted(f"udf.{name}", self._limits) from None
        except ScriptEngineLostError as error:
            raise failures.engine_lost(f"udf.{name}", error) from error
        return _decoded(name, answer)

    def _lent_engine(self) -> EngineProcess:
        if self._engine is None:
            self._engine = self._stack.enter_context(ENGINES.lent(self._limits.memory_bytes))
        return self._engine


def _decoded(name: str, answer: str) -> JsonOrUndefined:
    if answer == "?":
        return UNDEFINED
    try:
        value: Json = orjson.loads(answer[1:])
    except orjson.JSONDecodeError as error:
        raise CosmosError(400, f"The result of 'udf.{name}' is not valid UTF-8 ({error}).") from error
    if answer[0] == "=":
        return value
    failure = cast(dict[str, object], value)
    raise failures.script_failed(cast(Failure, failure), while_compiling=failure["whileCompiling"] is True)
