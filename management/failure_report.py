"""Print failures and replay outcomes as a table or as JSON lines.

Control characters are escaped: errors and IDs can contain users' text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from management.failures import Failure, ItemState, Outcome, Result
from management.terminal import printable, say

_LONGEST_ERROR = 160
# ID, SINCE, LAST, TIMES, FUNCTION, ITEM, NOW, ERROR
_WIDTHS = (36, 24, 24, 5, 16, 42, 13, 0)


async def say_failures(failures: AsyncIterator[tuple[Failure, ItemState]], *, as_json: bool) -> int:
    """Print failures with the state of their items, and return their number."""
    count = 0
    async for failure, state in failures:
        count += 1
        if as_json:
            say(json.dumps(_as_json(failure) | {"item": state.value}, ensure_ascii=True))
            continue
        if count == 1:
            say(_row("ID", "SINCE", "LAST", "TIMES", "FUNCTION", "ITEM", "NOW", "ERROR"))
        dates = (failure.first, failure.last, f"{failure.attempts:,}")
        say(_row(failure.id, *dates, failure.source, _place(failure), state.value, _cut(failure.error)))
    if not as_json:
        say(f"{count:,} failed {'change' if count == 1 else 'changes'}." if count else "No failed changes.")
    return count


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


def _row(*cells: str) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()


def _place(failure: Failure) -> str:
    return _cut(f"{failure.container}/{failure.item_id}")


def _cut(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _LONGEST_ERROR else shown[: _LONGEST_ERROR - 1] + "…"


def _as_json(failure: Failure) -> dict[str, object]:
    return {
        "id": failure.id,
        "source": failure.source,
        "container": failure.container,
        "itemId": failure.item_id,
        "partitionKey": failure.partition_key,
        "error": failure.error,
        "firstFailureDate": failure.first,
        "failureDate": failure.last,
        "attempts": failure.attempts,
    }
