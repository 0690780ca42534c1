"""The rounds of a fuzz test: each draws from dice of its own, so that one can be repeated alone.

`FUZZ_SECONDS` is the time of each test, `FUZZ_SEED` the seed of the run, `FUZZ_ROUND` the only round to play.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_SECONDS: Final = 0.5  # of each test in a plain run of the whole suite, where the seed is always the same
_SHOWN: Final = 20
_LONGEST: Final = 2000


@dataclass
class Rounds:
    """Yields dice until the time is over and gathers what the rounds find; `name` is that of the test."""

    name: str
    seed: str
    seconds: float
    only: int | None = None
    played: int = 0
    inputs: int = 0
    findings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_environment(cls, name: str, environment: Mapping[str, str] = os.environ) -> Rounds:
        """The rounds that the environment asks for; a short, fixed run when it says nothing."""
        only = environment.get("FUZZ_ROUND")
        return cls(
            name,
            environment.get("FUZZ_SEED", "0"),
            float(environment.get("FUZZ_SECONDS", _SECONDS)),
            None if only is None else int(only),
        )

    def __iter__(self) -> Iterator[random.Random]:
        if self.only is not None:
            self.played = self.only
            yield self._dice()
            return
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and len(self.findings) < _SHOWN:
            yield self._dice()
            self.played += 1

    def found(self, symptom: str, *given: object) -> None:
        """Keeps the first input of each symptom."""
        told = "\n    ".join(str(one)[:_LONGEST] for one in given)
        self.findings.setdefault(symptom, f"round {self.played}: {told}")

    def check(self) -> None:
        """AssertionError with every finding and how to repeat it."""
        told = "\n\n".join(f"{symptom}\n  {given}" for symptom, given in self.findings.items())
        assert not self.findings, f"FUZZ_SEED={self.seed} and FUZZ_ROUND repeat a round of {self.name}:\n{told}"

    def _dice(self) -> random.Random:
        return random.Random(f"{self.seed}/{self.played}")
