"""Retry policies: counts, delays, interruption."""

from __future__ import annotations

import asyncio

import pytest
from functions_host.errors import (
    FunctionIndexError,
    InvocationError,
    RetriesAbortedError,
)
from functions_host.retry import (
    NO_MAXIMUM_S,
    RetryPolicy,
    RetryState,
    parse_decorator_policy,
    parse_host_json_policy,
    run_with_retries,
)


class Failing:
    """Fails `times` times (-1: always) and records the retry states."""

    def __init__(self, times: int) -> None:
        self.states: list[tuple[int, int]] = []
        self._times = times

    async def __call__(self, state: RetryState) -> object:
        self.states.append((state.retry_count, state.max_retry_count))
        if self._times < 0 or len(self.states) <= self._times:
            raise InvocationError("no")
        return None


async def run(policy: RetryPolicy | None, attempt: Failing) -> None:
    await run_with_retries(policy, attempt, halted=asyncio.Event(), random=lambda: 0.5)


async def test_without_a_policy_there_is_one_attempt() -> None:
    attempt = Failing(-1)

    with pytest.raises(InvocationError):
        await run(None, attempt)

    assert attempt.states == [(0, 0)]


async def test_a_policy_of_n_retries_allows_n_plus_1_attempts() -> None:
    attempt = Failing(-1)

    with pytest.raises(InvocationError):
        await run(RetryPolicy("fixed", 3, 0), attempt)

    assert attempt.states == [(0, 3), (1, 3), (2, 3), (3, 3)]


async def test_unlimited_retries_continue_until_success() -> None:
    attempt = Failing(50)

    await run(RetryPolicy("fixed", -1, 0), attempt)

    assert attempt.states[-1] == (50, -1)


async def test_a_halt_interrupts_the_wait_for_a_retry() -> None:
    halted = asyncio.Event()
    halted.set()

    with pytest.raises(RetriesAbortedError):
        await run_with_retries(RetryPolicy("fixed", -1, 3600), Failing(-1), halted=halted, random=lambda: 0)


def test_exponential_delays_double_with_jitter_up_to_the_maximum() -> None:
    policy = RetryPolicy("exponential", -1, 1, 10)

    assert [policy.delay_s(n, lambda: 0.5) for n in range(1, 7)] == [1, 2, 3, 5, 9, 10]
    assert policy.delay_s(3, lambda: 0.0) == pytest.approx(2.6)
    assert policy.delay_s(3, lambda: 1.0) == pytest.approx(3.4)
    assert policy.delay_s(10_000, lambda: 1.0) == 10


def test_a_decorator_policy_is_parsed_as_in_the_worker() -> None:
    fixed = {"strategy": "fixed_delay", "max_retry_count": "3", "delay_interval": "00:00:01"}
    other = {"strategy": "anything", "max_retry_count": "-1", "minimum_interval": "00:01:00"}

    assert parse_decorator_policy(fixed, "f") == RetryPolicy("fixed", 3, 1)
    assert parse_decorator_policy(other, "f") == RetryPolicy("exponential", -1, 60, NO_MAXIMUM_S)


@pytest.mark.parametrize("interval", ["1", "24:00:00", "00:60:00", "x"])
def test_an_invalid_interval_fails_the_app(interval: str) -> None:
    with pytest.raises(FunctionIndexError, match="Azure would not start the app"):
        parse_decorator_policy({"strategy": "fixed_delay", "max_retry_count": "3", "delay_interval": interval}, "f")


@pytest.mark.parametrize(
    "settings",
    [
        {"strategy": "fixed_delay", "max_retry_count": "3"},
        {"strategy": "fixed_delay", "max_retry_count": "-2", "delay_interval": "00:00:01"},
        {"max_retry_count": "1", "minimum_interval": "00:00:02", "maximum_interval": "00:00:01"},
    ],
)
def test_an_inconsistent_policy_drops_the_function(settings: dict[str, str]) -> None:
    with pytest.raises(FunctionIndexError):
        parse_decorator_policy(settings, "f")


def test_host_json_policies_use_camel_case() -> None:
    fixed = {"strategy": "fixedDelay", "maxRetryCount": "2", "delayInterval": "00:00:03"}
    exponential = {
        "strategy": "exponentialBackoff",
        "maxRetryCount": "5",
        "minimumInterval": "00:00:01",
        "maximumInterval": "00:00:09",
    }

    assert parse_host_json_policy(fixed) == RetryPolicy("fixed", 2, 3)
    assert parse_host_json_policy(exponential) == RetryPolicy("exponential", 5, 1, 9)
    with pytest.raises(ValueError, match="strategy"):
        parse_host_json_policy({"strategy": "fixed_delay", "maxRetryCount": "1"})
