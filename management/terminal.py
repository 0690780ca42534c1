"""Terminal output: plain lines and progress bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from rich.console import Console

from management.verification.findings import Finding
from shared.database.charges import Charge


def say(line: str) -> None:
    """Print a line without wrapping, markup or highlighting."""
    Console().print(line, markup=False, highlight=False, soft_wrap=True)


def say_error(line: str) -> None:
    Console(stderr=True).print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def say_charge(charge: Charge, *, to_stderr: bool = False) -> None:
    """Print the total request charge, if any."""
    if charge.answers:
        line = f"Request charge: {charge.request_units:,.2f} RU in {charge.answers:,} responses."
        Console(stderr=to_stderr).print(line, markup=False, highlight=False, soft_wrap=True)


def say_findings(findings: Sequence[Finding]) -> None:
    """Print the sorted findings by kind, then a summary."""
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        of_kind = list(group)
        say(f"{kind.value}: {len(of_kind):,}" + ("" if kind.is_broken else " (for information)"))
        for finding in of_kind:
            say(f"  {finding}")
    broken = sum(finding.kind.is_broken for finding in findings)
    say(f"{broken:,} violations found." if broken else "No violations found.")


class SeedCount:
    def __init__(self) -> None:
        self.users = self.posts = self.planned_posts = self.responses = 0

    def users_written(self, posts: int) -> None:
        self.users += 1
        self.planned_posts += posts

    def posts_written(self, responses: int) -> None:
        self.posts += 1
        self.responses += responses

    def __str__(self) -> str:
        return f"{self.users:,} users, {self.posts:,} posts, {self.responses:,} comments and likes"


@contextmanager
def seed_progress(users: int) -> Iterator[SeedCount]:
    """Count what a seed writes, with progress bars on a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield SeedCount()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        "{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console
    ) as bars:
        user_bar, post_bar = bars.add_task("Users", total=users), bars.add_task("Posts", total=None)

        class Shown(SeedCount):
            def users_written(self, posts: int) -> None:
                super().users_written(posts)
                bars.update(user_bar, completed=self.users)
                bars.update(post_bar, total=self.planned_posts)

            def posts_written(self, responses: int) -> None:
                super().posts_written(responses)
                bars.update(post_bar, completed=self.posts)

        yield Shown()
