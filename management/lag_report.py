"""Print the lag as a table or as JSON lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping

from rich.live import Live
from rich.table import Table

from management.lag import Lag
from management.terminal import Terminal, say

_INTERVAL_S = 2.0

Measure = Callable[[], Awaitable[Mapping[str, Lag]]]


async def report_lag(measure: Measure, *, watch: bool, as_json: bool, most_s: float | None = None) -> dict[str, bool]:
    """Show the lag once, or until cancelled; return which functions are fine."""
    lags = await measure()
    if as_json:
        _say_json(lags.values())
        while watch:
            await asyncio.sleep(_INTERVAL_S)
            _say_json((await measure()).values())
    elif watch:
        with Live(_table(lags.values()), console=Terminal(), auto_refresh=False) as live:
            while True:
                await asyncio.sleep(_INTERVAL_S)
                live.update(_table((await measure()).values()), refresh=True)
    else:
        Terminal().print(_table(lags.values()))
        for lag in lags.values():
            if lag.advice:
                say(f"{lag.function}: {lag.advice}")
    return {function: lag.is_fine(most_s) for function, lag in lags.items()}


def _say_json(lags: Iterable[Lag]) -> None:
    for lag in lags:
        fields = {"function": lag.function, "state": lag.state, "lagSeconds": lag.seconds, "lagChanges": lag.changes}
        say(json.dumps(fields | ({"problem": lag.problem} if lag.problem else {})))


def _table(lags: Iterable[Lag]) -> Table:
    table = Table("Function", "State")
    table.add_column("Seconds", justify="right")
    table.add_column("Changes", justify="right")
    for lag in lags:
        numbers = ("-" if number is None else f"{number:,}" for number in (lag.seconds, lag.changes))
        table.add_row(lag.function, lag.problem or lag.state, *numbers)
    return table
