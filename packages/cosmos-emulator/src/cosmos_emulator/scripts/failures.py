"""Converts script failures to errors for clients."""

from __future__ import annotations

import re
from typing import Final, TypedDict

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.scripts.limits import ScriptLimits
from cosmos_emulator.scripts.sources import RUNTIME_FIRST_LINE

COMPILE_ERROR: Final = 65535
"""Sub-status of a script that does not compile. The service has one, but its number is an assumption."""

_FRAME: Final = re.compile(r"\s*at (?P<where>.*?) ?\(?(?:<input>:(?P<line>\d+):(?P<column>\d+)|native)\)?\s*")
_LARGEST_SUB_STATUS: Final = 2**31 - 1


class Failure(TypedDict):
    """A thrown value, described by runtime/errors.js."""

    text: str
    number: int
    stack: str
    tooLarge: bool


class ScriptTimedOutError(Exception):
    """The script exceeded its time limit."""


class ScriptExhaustedError(Exception):
    """The script exhausted its memory or stack."""


class ScriptEngineLostError(Exception):
    """The process ended otherwise; `exit_code` is None if it did not start."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def script_failed(failure: Failure, *, while_compiling: bool) -> CosmosError:
    """Return 400 with the number of `throw new Error(number, message)` as sub-status, or 413 if too large.

    The wording is the service's: azure-cosmosdb-js-server README and recorded responses.
    """
    doing = "compiling" if while_compiling else "executing"
    message = (
        f"Encountered exception while {doing} function. Exception = {failure['text']}\r\n"
        f"Stack trace: {failure['text']}\n{_script_frames(failure['stack'])}"
    )
    if failure["tooLarge"]:
        return CosmosError(413, message)
    number = COMPILE_ERROR if while_compiling else failure["number"]
    return CosmosError(400, message, sub_status=number if 0 <= number <= _LARGEST_SUB_STATUS else 0)


def timed_out(script_id: str, limits: ScriptLimits) -> CosmosError:
    """Return 408."""
    return CosmosError(408, f"The script '{script_id}' exceeded its time limit of {limits.time_limit_s:g} s.")


def exhausted(script_id: str, limits: ScriptLimits) -> CosmosError:
    """Return 400 for the memory or stack limit."""
    return CosmosError(
        400,
        f"Encountered exception while executing function. Exception = the script '{script_id}' exceeded its memory of"
        f" {limits.memory_bytes} bytes or its stack.",
    )


def engine_lost(script_id: str, error: ScriptEngineLostError) -> CosmosError:
    """Return 503: the script committed nothing and can succeed on retry."""
    how = "could not be started" if error.exit_code is None else f"ended with {error.exit_code}"
    return CosmosError(503, f"The process that runs scripts {how}; nothing was committed by the script '{script_id}'.")


def _script_frames(stack: str) -> str:
    """Format the script's frames like the service: `   at name (script.js:line:column)`."""
    frames = []
    for frame in map(_FRAME.fullmatch, stack.split("\n")):
        if frame and frame["line"] and int(frame["line"]) < RUNTIME_FIRST_LINE:
            name = frame["where"].replace("<anonymous>", "Anonymous function") or "Global code"
            frames.append(f"   at {name} (script.js:{frame['line']}:{frame['column']})\n")
    return "".join(frames)
