"""Retry policies.

Rules: azure-webjobs-sdk Executors/FunctionExecutorExtensions.cs (the loop) and
Timers/RandomizedExponentialBackoffStrategy.cs (the delays); azure_functions_runtime loader.py (the formats).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from .errors import FunctionIndexError, InvocationError, RetriesAbortedError, WorkerIndexError

ENDLESS = -1
# The worker's default for an exponential policy without `maximum_interval`.
NO_MAXIMUM_S = 2147483647.0

Random = Callable[[], float]


@dataclass(frozen=True)
class RetryPolicy:
    """Allows `max_retry_count` retries; -1 means no limit. A fixed strategy waits `minimum_s`."""

    strategy: Literal["fixed", "exponential"]
    max_retry_count: int
    minimum_s: float
    maximum_s: float = NO_MAXIMUM_S

    def allows(self, retry_count: int) -> bool:
        """Return whether a retry is allowed. `retry_count` is 1 for the first retry."""
        return self.max_retry_count == ENDLESS or retry_count <= self.max_retry_count

    def delay_s(self, retry_count: int, random: Random) -> float:
        """Return the delay before a retry. `random` returns a number from 0 to 1."""
        if self.strategy == "fixed" or retry_count == 1:
            return self.minimum_s
        # 60 doublings exceed every maximum; the cap avoids a float overflow.
        doublings = min(retry_count - 2, 60)
        jitter = 0.8 + 0.4 * random()
        return float(min(self.minimum_s + self.minimum_s * 2**doublings * jitter, self.maximum_s))


@dataclass(frozen=True)
class RetryState:
    """The `context.retry_context` of a function."""

    retry_count: int = 0
    max_retry_count: int = 0
    exception: BaseException | None = None


def interval_s(text: str) -> float:
    """Parse `HH:MM:SS` as the worker does. Raises ValueError."""
    try:
        parsed = datetime.strptime(text, "%H:%M:%S")  # noqa: DTZ007 - a duration, not a moment
    except ValueError as error:
        raise ValueError(f"interval {text!r} must be HH:MM:SS, at most 23:59:59") from error
    return timedelta(hours=parsed.hour, minutes=parsed.minute, seconds=parsed.second).total_seconds()


def parse_decorator_policy(settings: Mapping[str, object], function_name: str) -> RetryPolicy:
    """Return the policy of `@app.retry(...)`. Raises FunctionIndexError."""
    try:
        count = int(str(settings["max_retry_count"]))
        delay, minimum, maximum = (
            interval_s(str(value)) if (value := settings.get(key)) else None
            for key in ("delay_interval", "minimum_interval", "maximum_interval")
        )
    except (KeyError, ValueError) as error:
        raise WorkerIndexError(f"retry policy of function '{function_name}': {error}") from error
    try:
        if settings.get("strategy") == "fixed_delay":
            return _fixed(count, delay)
        return _exponential(count, minimum or 0.0, NO_MAXIMUM_S if maximum is None else maximum)
    except ValueError as error:
        raise FunctionIndexError(f"retry policy of function '{function_name}': {error}") from error


def parse_host_json_policy(section: Mapping[str, str]) -> RetryPolicy:
    """Return the default policy in host.json. Raises ValueError."""
    by_name = {name.lower(): value for name, value in section.items()}
    if "maxretrycount" not in by_name:
        raise ValueError("retry.maxRetryCount is required")
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
            raise ValueError("retry.minimumInterval and retry.maximumInterval are required")
        return _exponential(count, minimum, maximum)
    raise ValueError(f"retry.strategy {strategy!r} must be fixedDelay or exponentialBackoff")


def _fixed(count: int, delay_s: float | None) -> RetryPolicy:
    if delay_s is None:
        raise ValueError("a fixed delay requires a delay interval")
    return RetryPolicy("fixed", _checked(count), delay_s)


def _exponential(count: int, minimum_s: float, maximum_s: float) -> RetryPolicy:
    if minimum_s > maximum_s:
        raise ValueError("the minimum interval exceeds the maximum interval")
    return RetryPolicy("exponential", _checked(count), minimum_s, maximum_s)


def _checked(count: int) -> int:
    if count < ENDLESS:
        raise ValueError(f"the retry count {count} must be -1 or more")
    return count


async def run_with_retries(
    policy: RetryPolicy | None,
    attempt: Callable[[RetryState], Awaitable[object]],
    *,
    halted: asyncio.Event,
    random: Random,
) -> None:
    """Run `attempt` until it succeeds or the policy is exhausted.

    Raises the last InvocationError, or RetriesAbortedError if `halted` is set before a retry.
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
                raise RetriesAbortedError(f"interrupted before retry {retry_count}") from error
            state = RetryState(retry_count, policy.max_retry_count, error.__cause__)
        else:
            return


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait up to `seconds` for `event` and return whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
