"""Print failures and replay outcomes as a table or as JSON lines.

Control characters are escaped: errors and IDs can contain users' text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from management.failures import Failure, Outcome, Result
from management.terminal import say

_LONGEST_ERROR = 160


async def say_failures(failures: AsyncIterator[Failure]) -> None:
    count = 0
    async for failure in failures:
        if not count:
            say(_row("ID", "SINCE", "FUNCTION", "ITEM", "ERROR"))
        say(_row(failure.id, failure.date, failure.source, _place(failure), _cut(failure.error)))
        count += 1
    say(f"{count:,} failed changes." if count else "No failed changes.")


async def say_failures_as_json(failures: AsyncIterator[Failure]) -> None:
    async for failure in failures:
        say(json.dumps(_as_json(failure), ensure_ascii=True))


@contextmanager
def replay_report(*, as_json: bool) -> Iterator[Callable[[Outcome], None]]:
    """Yield a function that prints outcomes, then print totals."""
    counts = dict.fromkeys(Result, 0)

    def report(outcome: Outcome) -> None:
        counts[outcome.result] += 1
        failure = outcome.failure
        if as_json:
            result = {"result": outcome.result.value, "detail": outcome.detail}
            say(json.dumps(_as_json(failure) | result, ensure_ascii=True))
        else:
            reason = f" ({_cut(outcome.detail)})" if outcome.detail else ""
            say(f"{failure.id}  {failure.source}  {_place(failure)}  {outcome.result.value}{reason}")

    yield report
    if not as_json:
        say(", ".join(f"{count:,} {result.value}" for result, count in counts.items()) + ".")


def _row(identifier: str, date: str, source: str, place: str, error: str) -> str:
    return f"{identifier:36}  {date:24}  {source:16}  {place:42}  {error}"


def _place(failure: Failure) -> str:
    return _cut(f"{failure.container}/{failure.item_id}")


def _cut(text: str) -> str:
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return shown if len(shown) <= _LONGEST_ERROR else shown[: _LONGEST_ERROR - 1] + "…"


def _as_json(failure: Failure) -> dict[str, object]:
    return {
        "id": failure.id,
        "source": failure.source,
        "container": failure.container,
        "itemId": failure.item_id,
        "partitionKey": failure.partition_key,
        "error": failure.error,
        "failureDate": failure.date,
    }
