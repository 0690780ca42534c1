"""Results of chaos runs, as JSON lines and a Markdown table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Report:
    """Results of one run.

    `struck` counts strikes by kind, `acknowledged` commands by kind, `repeated` retries, and `given_up` commands that a
    client stopped retrying.
    """

    seed: int
    struck: dict[str, int]
    acknowledged: dict[str, int]
    repeated: int
    given_up: int
    rejected_although_applied: int
    renames: int
    like_counts_checked: int
    most_likes: int
    slowest_s: float
    storm_s: float
    took_s: float
    lost: list[str] = field(default_factory=list)
    divergences: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.lost and not self.divergences

    @property
    def commands(self) -> int:
        return sum(self.acknowledged.values())

    def append_to(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self), ensure_ascii=False) + "\n")

    def summary(self) -> str:
        """Return one line, plus one per problem."""
        kills = f"{self.struck['hosts killed']} hosts and {self.struck['database killed']} databases killed"
        line = (
            f"seed {self.seed}: {self.commands} commands answered, {self.repeated} retries, {self.given_up} given up, "
            f"{kills}, {sum(self.struck.values())} strikes in total, lost {len(self.lost)}, "
            f"divergences {len(self.divergences)} ({self.took_s:.0f} s)"
        )
        return "\n".join(
            [line, *(f"  lost: {what}" for what in self.lost), *(f"  {what}" for what in self.divergences)]
        )


def table(reports: Sequence[Report]) -> str:
    """Summarize all runs as Markdown."""
    struck: Counter[str] = Counter()
    acknowledged: Counter[str] = Counter()
    for report in reports:
        struck.update(report.struck)
        acknowledged.update(report.acknowledged)
    rows = ["| strike | count |", "|---|--:|", *(f"| {name} | {number:,} |" for name, number in struck.items())]
    rows += [
        "",
        "| command | answered |",
        "|---|--:|",
        *(f"| {name} | {acknowledged[name]:,} |" for name in sorted(acknowledged)),
    ]
    rows += ["", "| total | |", "|---|--:|"]
    over_all = {
        "seeds": len(reports),
        "commands answered": sum(acknowledged.values()),
        "retries": sum(report.repeated for report in reports),
        "commands whose client gave up": sum(report.given_up for report in reports),
        "conditional commands answered 412 although applied": sum(one.rejected_although_applied for one in reports),
        "renames in the rename storm": sum(report.renames for report in reports),
        "like counts checked during pauses": sum(report.like_counts_checked for report in reports),
        "acknowledged commands lost": sum(len(report.lost) for report in reports),
        "divergences": sum(len(report.divergences) for report in reports),
    }
    rows += [f"| {name} | {number:,} |" for name, number in over_all.items()]
    return "\n".join(rows)
