"""User-defined functions of a query."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import cast

import orjson

from local.cosmos import json_text
from local.cosmos.errors import CosmosError
from local.cosmos.query.values import UNDEFINED, Json, JsonOrUndefined
from local.cosmos.scripts import failures
from local.cosmos.scripts.engine import JavaScriptEngine
from local.cosmos.scripts.failures import Failure, ScriptExhaustedError, ScriptTimedOutError
from local.cosmos.scripts.limits import ScriptLimits
from local.cosmos.scripts.sources import function_runtime


class UdfRuntime:
    """The functions of one container for the lifetime of one query (or page), in one context.

    A function is compiled at its first call. `limits.time_limit_s` bounds the time of all calls together. To be used
    from one thread at a time.
    """

    def __init__(self, udfs: Mapping[str, str], limits: ScriptLimits) -> None:
        self._bodies = udfs
        self._limits = limits
        self._defined: set[str] = set()
        self._spent_s = 0.0
        self._engine: JavaScriptEngine | None = None

    def call(self, name: str, arguments: list[JsonOrUndefined]) -> JsonOrUndefined:
        """The function's result; UNDEFINED when it returns nothing.

        CosmosError 400 when there is no such function, it does not compile or it throws; 408 when the time is up.
        """
        if name not in self._defined:
            self._define(name)
        crossing = [name, *(0 if argument is UNDEFINED else (argument,) for argument in arguments)]
        return self._answer(name, "call", json_text.dump(crossing).decode())

    def _define(self, name: str) -> None:
        body = self._bodies.get(name)
        if body is None:
            raise CosmosError(400, f"The user-defined function 'udf.{name}' does not exist in this container.")
        self._answer(name, "define", json_text.dump([name, body]).decode())
        self._defined.add(name)

    def _answer(self, name: str, command: str, text: str) -> JsonOrUndefined:
        started = time.perf_counter()
        try:
            answer = self._started_engine().dispatch(command, text, self._limits.time_limit_s - self._spent_s)
        except ScriptTimedOutError:
            raise failures.timed_out(f"udf.{name}", self._limits) from None
        except ScriptExhaustedError:
            raise failures.exhausted(f"udf.{name}", self._limits) from None
        finally:
            self._spent_s += time.perf_counter() - started
        return _decoded(name, answer)

    def _started_engine(self) -> JavaScriptEngine:
        if self._engine is None:
            self._engine = JavaScriptEngine(function_runtime(), self._limits.memory_bytes)
        return self._engine


def _decoded(name: str, answer: str) -> JsonOrUndefined:
    """The value of an answer of runtime/functions.js."""
    if answer == "?":
        return UNDEFINED
    try:
        value: Json = orjson.loads(answer[1:])
    except orjson.JSONDecodeError as error:
        raise CosmosError(400, f"The result of 'udf.{name}' has no UTF-8 form ({error}).") from error
    if answer[0] == "=":
        return value
    failure = cast(dict[str, object], value)
    raise failures.script_failed(cast(Failure, failure), while_compiling=failure["whileCompiling"] is True)
