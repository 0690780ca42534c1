"""`python -m tests.chaos`: the chaos run, one seed after the other."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.chaos.plan import Plan, short
from tests.chaos.report import Report, table
from tests.chaos.run import run

_REPORT = Path(".data/chaos/report.jsonl")


def main(
    seed: Annotated[int, typer.Option(help="The first seed.")] = 1,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, one after the other.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, help="How long each storm lasts.")] = Plan.seconds,
    brief: Annotated[bool, typer.Option("--short", help="The run of the test suite.")] = False,
    report: Annotated[Path, typer.Option(help="Where a line for each seed is added.")] = _REPORT,
) -> None:
    """Storms over the blog, and what they left: nothing lost, nothing diverged, or an exit code of 1."""
    logging.getLogger("azure").setLevel(logging.ERROR)  # it warns of each time that the database is away
    reports = [_run(short(one) if brief else Plan(one, seconds), report) for one in range(seed, seed + seeds)]
    _say(table(reports))
    raise typer.Exit(0 if all(one.is_clean for one in reports) else 1)


def _run(plan: Plan, path: Path) -> Report:
    """The logs of a run are kept where something was found."""
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
