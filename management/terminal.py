"""Terminal output: plain lines and progress bars."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import groupby

from rich.console import Console

from management.errors import FAILED
from management.item_count import ItemCount
from management.verification.findings import Finding
from shared.platform.database.scope import Scope


class Terminal(Console):
    def on_broken_pipe(self) -> None:
        """End the command if nobody reads its output, not with rich's 1, which stands for findings."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        raise SystemExit(FAILED)


def say(line: str) -> None:
    """Print a line as it is: without wrapping, markup, emoji codes or highlighting."""
    Terminal().print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Escape control characters, which users' texts can contain."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def say_to_stderr(line: str) -> None:
    """Print a line that is not part of the JSON output."""
    Terminal(stderr=True).print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)


def say_error(line: str) -> None:
    Terminal(stderr=True).print(line, style="red", markup=False, emoji=False, highlight=False, soft_wrap=True)


def say_charge(scope: Scope, *, to_stderr: bool = False) -> None:
    """Print the total request charge, if any."""
    if scope.responses:
        line = f"Request charge: {scope.request_units:,.2f} RU in {scope.responses:,} responses."
        Terminal(stderr=to_stderr).print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)


def say_findings(findings: Sequence[Finding], *, items: int) -> None:
    """Print the sorted findings by kind, each kind with what to do, then a summary."""
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        of_kind = list(group)
        number = sum(finding.number for finding in of_kind)
        say(f"{kind.value}: {number:,}" + ("" if kind.is_broken else " (for information)"))
        for finding in of_kind:
            say(f"  {finding}")
        for advice in dict.fromkeys(finding.advice for finding in of_kind if finding.advice):
            say(f"  To do: {advice}")
    say(_summary(findings, items))


def say_findings_as_json(findings: Sequence[Finding], *, items: int) -> None:
    """Print one JSON object per finding, and the summary to standard error."""
    for finding in findings:
        fields = {name: value for name, value in asdict(finding).items() if name != "kind"}
        say(json.dumps({"kind": finding.kind.name.lower(), "isBroken": finding.kind.is_broken} | fields))
    say_to_stderr(_summary(findings, items))


def _summary(findings: Sequence[Finding], items: int) -> str:
    broken = sum(finding.number for finding in findings if finding.kind.is_broken)
    found = counted(broken, "violation") if broken else "No violations"
    return f"{counted(items, 'item')} read. {found} found."


def counted(number: int, noun: str) -> str:
    """Return `1 item`, `2,000 items`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@contextmanager
def reading_progress() -> Iterator[ItemCount]:
    """Count the items read, with a progress bar on a terminal."""
    console = Terminal(stderr=True)
    if not console.is_terminal:
        yield ItemCount()
        return
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), "{task.description}", TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        class Shown(ItemCount):
            def expect(self, number: int | None) -> None:
                super().expect(number)
                self._show()

            def add(self, number: int) -> None:
                super().add(number)
                self._show()

            def _show(self) -> None:
                read = f"{self.items:,}" if self.total is None else f"{self.items:,} of about {self.total:,}"
                bar.update(task, completed=self.items, total=self.total, description=f"{read} items read")

        yield Shown()
