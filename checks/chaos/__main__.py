"""`python -m checks.chaos`: run the chaos test with one or more seeds."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from checks.chaos.plan import Plan, short
from checks.chaos.report import Report, table
from checks.chaos.run import run
from shared.settings import TransactionMode

_REPORT = Path(".data/chaos/report.jsonl")


def main(
    seed: Annotated[int, typer.Option(help="First seed.")] = 1,
    seeds: Annotated[int, typer.Option(min=1, help="Number of consecutive seeds.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, help="Duration of each storm.")] = Plan.seconds,
    brief: Annotated[bool, typer.Option("--short", help="Use the short plan of the test suite.")] = False,
    transactions: Annotated[TransactionMode, typer.Option(help="BLOG_TRANSACTIONS of the hosts.")] = Plan.transactions,
    replica_lag: Annotated[str, typer.Option(help="Lag of the replicas, for example 500ms±200ms.")] = "",
    report: Annotated[Path, typer.Option(help="JSON Lines file to append the reports to.")] = _REPORT,
) -> None:
    """Run the blog under faults and check its data; exit with 1 if anything is lost or inconsistent."""
    logging.getLogger("azure").setLevel(logging.ERROR)  # the SDK warns each time the database is down
    plans = [short(one) if brief else Plan(one, seconds) for one in range(seed, seed + seeds)]
    reports = [_run(replace(plan, transactions=transactions, replica_lag=replica_lag), report) for plan in plans]
    _say(table(reports))
    raise typer.Exit(0 if all(one.is_clean for one in reports) else 1)


def _run(plan: Plan, path: Path) -> Report:
    """Run one seed; keep its logs if it has findings."""
    directory = Path(tempfile.mkdtemp(prefix=f"chaos-{plan.seed}-"))
    report = asyncio.run(run(plan, directory, _say))
    report.append_to(path)
    _say(report.summary())
    if report.is_clean:
        shutil.rmtree(directory)
    else:
        _say(f"  logs: {directory}")
    return report


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    typer.run(main)
