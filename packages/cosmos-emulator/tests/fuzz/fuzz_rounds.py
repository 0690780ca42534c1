"""Rounds of a fuzz test, each with a repeatable random generator.

`FUZZ_SECONDS` is the duration of each test, `FUZZ_SEED` the seed, `FUZZ_ROUND` the only round to run.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_SECONDS: Final = 0.5  # per test in a plain run, always with the same seed
_SHOWN: Final = 20
_LONGEST: Final = 2000


@dataclass
class FuzzRounds:
    """Yields random generators until the time is up; collects findings."""

    name: str
    seed: str
    seconds: float
    only: int | None = None
    played: int = 0
    inputs: int = 0
    findings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_environment(cls, name: str, environment: Mapping[str, str] = os.environ) -> FuzzRounds:
        """Read the environment; by default, a short run with a fixed seed."""
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
            yield self._rng()
            return
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and len(self.findings) < _SHOWN:
            yield self._rng()
            self.played += 1

    def found(self, symptom: str, *given: object) -> None:
        """Record the first input for each symptom."""
        text = "\n    ".join(str(one)[:_LONGEST] for one in given)
        self.findings.setdefault(symptom, f"round {self.played}: {text}")

    def check(self) -> None:
        """Fail with all findings and how to reproduce them."""
        text = "\n\n".join(f"{symptom}\n  {given}" for symptom, given in self.findings.items())
        assert not self.findings, f"To repeat a round of {self.name}, set FUZZ_SEED={self.seed} and FUZZ_ROUND:\n{text}"

    def _rng(self) -> random.Random:
        return random.Random(f"{self.seed}/{self.played}")
