"""What a run has to show: for machines a line of JSON, for people a table over all runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Report:
    """`struck` is how often each strike was made, `acknowledged` how many commands of each kind were answered;
    `repeated` counts attempts that were not a command's first, `given_up` commands whose client went away for good."""

    seed: int
    struck: dict[str, int]
    acknowledged: dict[str, int]
    repeated: int
    given_up: int
    refused_though_done: int
    renames: int
    crowd_counted: int
    crowd_largest: int
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
        """One line of JSON more."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self), ensure_ascii=False) + "\n")

    def summary(self) -> str:
        """One line, and one more for each thing lost or diverged."""
        kills = f"{self.struck['hosts killed']} hosts and {self.struck['database killed']} databases killed"
        line = (
            f"seed {self.seed}: {self.commands} commands answered, {self.repeated} repeated, {self.given_up} given up, "
            f"{kills}, {sum(self.struck.values())} strikes in all, lost {len(self.lost)}, "
            f"divergences {len(self.divergences)} ({self.took_s:.0f} s)"
        )
        return "\n".join(
            [line, *(f"  lost: {what}" for what in self.lost), *(f"  {what}" for what in self.divergences)]
        )


def table(reports: Sequence[Report]) -> str:
    """All runs together, as Markdown."""
    struck: Counter[str] = Counter()
    acknowledged: Counter[str] = Counter()
    for report in reports:
        struck.update(report.struck)
        acknowledged.update(report.acknowledged)
    rows = ["| strike | times |", "|---|--:|", *(f"| {name} | {number:,} |" for name, number in struck.items())]
    rows += [
        "",
        "| command | answered |",
        "|---|--:|",
        *(f"| {name} | {acknowledged[name]:,} |" for name in sorted(acknowledged)),
    ]
    rows += ["", "| over all | |", "|---|--:|"]
    over_all = {
        "seeds": len(reports),
        "commands answered": sum(acknowledged.values()),
        "attempts that repeated a command": sum(report.repeated for report in reports),
        "commands given up for good": sum(report.given_up for report in reports),
        "conditional commands refused with 412 though carried out": sum(one.refused_though_done for one in reports),
        "renames of the one user in the storm": sum(report.renames for report in reports),
        "counts of the crowd's likes in standstill": sum(report.crowd_counted for report in reports),
        "acknowledged commands lost": sum(len(report.lost) for report in reports),
        "divergences": sum(len(report.divergences) for report in reports),
    }
    rows += [f"| {name} | {number:,} |" for name, number in over_all.items()]
    return "\n".join(rows)
