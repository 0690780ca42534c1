"""Retry policies: how often and how far apart an invocation is tried again.

Rules: azure-webjobs-sdk Executors/FunctionExecutorExtensions.cs (the loop) and
Timers/RandomizedExponentialBackoffStrategy.cs (the delays); azure_functions_runtime loader.py (the formats).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from .errors import FunctionIndexError, HostStartError, InvocationError, RetriesAbortedError

ENDLESS = -1
# What the worker sends for an exponential policy without `maximum_interval`, in seconds.
NO_MAXIMUM_S = 2147483647.0
_INTERVAL = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d{1,2}):(?P<s>\d{1,2})")

Random = Callable[[], float]


@dataclass(frozen=True)
class RetryPolicy:
    """`max_retry_count` further attempts (-1: without end), `minimum_s` to `maximum_s` seconds apart.

    A fixed policy has its one delay in `minimum_s`.
    """

    strategy: Literal["fixed", "exponential"]
    max_retry_count: int
    minimum_s: float
    maximum_s: float = NO_MAXIMUM_S

    def allows(self, retry_count: int) -> bool:
        """Whether retry number `retry_count` (1 is the first) may be made."""
        return self.max_retry_count == ENDLESS or retry_count <= self.max_retry_count

    def delay_s(self, retry_count: int, random: Random) -> float:
        """Seconds to wait before retry number `retry_count`; `random` gives numbers from 0 to 1."""
        if self.strategy == "fixed" or retry_count == 1:
            return self.minimum_s
        # Beyond some 60 doublings every maximum is reached; the cap only avoids a float overflow.
        doublings = min(retry_count - 2, 60)
        jitter = 0.8 + 0.4 * random()
        return float(min(self.minimum_s + self.minimum_s * 2**doublings * jitter, self.maximum_s))


@dataclass(frozen=True)
class RetryState:
    """What `context.retry_context` shows: 0/0 without a policy, else 0, 1, 2… of the configured count."""

    retry_count: int = 0
    max_retry_count: int = 0
    exception: BaseException | None = None


def interval_s(text: str) -> float:
    """Seconds of an `HH:MM:SS` interval of at most 23:59:59, as the worker's strptime accepts it."""
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise ValueError(f"time interval {text!r} is not of the form HH:MM:SS")
    hours, minutes, seconds = int(match["h"]), int(match["m"]), int(match["s"])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"time interval {text!r} is beyond 23:59:59")
    return float(hours * 3600 + minutes * 60 + seconds)


def policy_of_decorator(settings: Mapping[str, object], function_name: str) -> RetryPolicy:
    """The policy of `@app.retry(...)`, given its settings dict.

    Raises HostStartError for what the worker refuses (it fails the whole app) and FunctionIndexError for what
    the host refuses (it drops the function).
    """
    try:
        count = int(str(settings["max_retry_count"]))
        delay, minimum, maximum = (
            interval_s(str(value)) if (value := settings.get(key)) else None
            for key in ("delay_interval", "minimum_interval", "maximum_interval")
        )
    except (KeyError, ValueError) as error:
        raise HostStartError(f"retry policy of function '{function_name}': {error}") from error
    try:
        if settings.get("strategy") == "fixed_delay":
            return _fixed(count, delay)
        return _exponential(count, minimum or 0.0, NO_MAXIMUM_S if maximum is None else maximum)
    except ValueError as error:
        raise FunctionIndexError(f"retry policy of function '{function_name}': {error}") from error


def policy_of_host_json(section: Mapping[str, str]) -> RetryPolicy:
    """The policy of host.json `retry`, which serves functions without one of their own. Raises ValueError."""
    by_name = {name.lower(): value for name, value in section.items()}
    if "maxretrycount" not in by_name:
        raise ValueError("host.json: retry.maxRetryCount is required")
    count = int(by_name["maxretrycount"])
    delay, minimum, maximum = (
        interval_s(by_name[key]) if key in by_name else None
        for key in ("delayinterval", "minimuminterval", "maximuminterval")
    )
    strategy = by_name.get("strategy", "").lower()
    if strategy == "fixeddelay":
        return _fixed(count, delay)
    if strategy == "exponentialbackoff":
        if minimum is None or maximum is None:
            raise ValueError("host.json: retry needs minimumInterval and maximumInterval")
        return _exponential(count, minimum, maximum)
    raise ValueError(f"host.json: retry.strategy {strategy!r} is neither fixedDelay nor exponentialBackoff")


def _fixed(count: int, delay_s: float | None) -> RetryPolicy:
    if delay_s is None:
        raise ValueError("a fixed delay needs its delay interval")
    return RetryPolicy("fixed", _checked(count), delay_s)


def _exponential(count: int, minimum_s: float, maximum_s: float) -> RetryPolicy:
    if minimum_s > maximum_s:
        raise ValueError("the minimum interval is longer than the maximum interval")
    return RetryPolicy("exponential", _checked(count), minimum_s, maximum_s)


def _checked(count: int) -> int:
    if count < ENDLESS:
        raise ValueError(f"max retry count {count} is below -1")
    return count


async def run_with_retries(
    policy: RetryPolicy | None,
    attempt: Callable[[RetryState], Awaitable[object]],
    *,
    halted: asyncio.Event,
    random: Random,
) -> None:
    """Run `attempt` until it succeeds or the policy is spent.

    Raises InvocationError when the last allowed attempt failed, RetriesAbortedError when `halted` is set while
    another attempt is due.
    """
    state = RetryState(0, policy.max_retry_count if policy else 0)
    while True:
        try:
            await attempt(state)
        except InvocationError as error:
            retry_count = state.retry_count + 1
            if policy is None or not policy.allows(retry_count):
                raise
            if await is_set_within(halted, policy.delay_s(retry_count, random)):
                raise RetriesAbortedError(f"gave up waiting for retry {retry_count}") from error
            state = RetryState(retry_count, policy.max_retry_count, error.__cause__)
        else:
            return


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait until `event` is set, at most `seconds`; True if it is."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
