"""From the failure of a script to the error that the caller of the service sees."""

from __future__ import annotations

import re
from typing import Final, TypedDict

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.scripts.limits import ScriptLimits
from cosmos_emulator.scripts.sources import RUNTIME_FIRST_LINE

COMPILE_ERROR: Final = 65535
"""The sub-status of a script that is not JavaScript. An assumption: that there is one is known, its number is not."""

_FRAME: Final = re.compile(r"\s*at (?P<where>.*?) ?\(?(?:<input>:(?P<line>\d+):(?P<column>\d+)|native)\)?\s*")
_LARGEST_SUB_STATUS: Final = 2**31 - 1


class Failure(TypedDict):
    """A thrown value as runtime/errors.js describes it; `whileCompiling` only where that may be true."""

    text: str
    number: int
    stack: str
    tooLarge: bool


class ScriptTimedOutError(Exception):
    """The script used up its time."""


class ScriptExhaustedError(Exception):
    """The script exceeded its memory or its stack in a way that it could not handle itself."""


class ScriptEngineLostError(Exception):
    """The process that ran the script was ended by something else; `exit_code` is None when it did not even start."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def script_failed(failure: Failure, *, while_compiling: bool) -> CosmosError:
    """400 with the number of `throw new Error(number, message)` as sub-status; 413 for a response too large.

    The message has the service's wording: azure-cosmosdb-js-server README and recorded answers of the service.
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
    """408: the time limit passed."""
    return CosmosError(408, f"The script '{script_id}' exceeded its time limit of {limits.time_limit_s:g} s.")


def exhausted(script_id: str, limits: ScriptLimits) -> CosmosError:
    """400: memory or stack limit."""
    return CosmosError(
        400,
        f"Encountered exception while executing function. Exception = the script '{script_id}' exceeded its memory of"
        f" {limits.memory_bytes} bytes or its stack.",
    )


def engine_lost(script_id: str, error: ScriptEngineLostError) -> CosmosError:
    """503: whatever ended the engine, the script may run well the next time, and nothing of it was committed."""
    how = "could not be started" if error.exit_code is None else f"ended with {error.exit_code}"
    return CosmosError(503, f"The process that runs scripts {how}; nothing of the script '{script_id}' is committed.")


def _script_frames(stack: str) -> str:
    """The frames that lie in the script itself, in the service's form `   at name (script.js:line:column)`."""
    frames = []
    for frame in map(_FRAME.fullmatch, stack.split("\n")):
        if frame and frame["line"] and int(frame["line"]) < RUNTIME_FIRST_LINE:
            name = frame["where"].replace("<anonymous>", "Anonymous function") or "Global code"
            frames.append(f"   at {name} (script.js:{frame['line']}:{frame['column']})\n")
    return "".join(frames)
