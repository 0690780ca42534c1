"""The active faults and their counts."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cosmos_emulator.faults.rule import FaultRule, Target, When, parse_rule
from cosmos_emulator.json_text import JsonObject


class Fault:
    """An active rule that counts its requests."""

    def __init__(self, number: int, rule: FaultRule, seed: int | None = None) -> None:
        self.number = number
        self.rule = rule
        self.matched = 0
        self.struck = 0
        self.hanging = 0
        self.use_seed(seed)

    def use_seed(self, seed: int | None) -> None:
        """Repeat what is random, unless the rule has a seed of its own."""
        of_all = None if seed is None else seed + self.number
        self._random = random.Random(of_all if self.rule.seed is None else self.rule.seed)  # noqa: S311 - not secret

    def draws(self) -> bool:
        """Return whether the rule's probability lets it strike."""
        return self.rule.probability >= 1 or self._random.random() < self.rule.probability

    def strikes(self, target: Target, when: When) -> bool:
        """Return whether the fault strikes a request; count it."""
        rule = self.rule
        if rule.when != when or self.is_spent or not rule.matches(target):
            return False
        self.matched += 1
        struck = self.matched > rule.skip and self.draws()
        self.struck += struck
        return struck

    @property
    def is_spent(self) -> bool:
        """Whether the rule has reached its maximum number of faults."""
        return self.rule.times is not None and self.struck >= self.rule.times

    def as_json(self) -> JsonObject:
        """Return rule, id and counts."""
        counts: JsonObject = {"matched": self.matched, "struck": self.struck, "hanging": self.hanging}
        return {"id": self.number, **self.rule.as_json(), **counts}


class Faults:
    """Faults in order; the first match that strikes takes effect. Thread-safe."""

    def __init__(self, *rules: FaultRule | str) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self.active: tuple[Fault, ...] = ()
        """The current ones; each change replaces the tuple."""
        self._seed: int | None = None
        for rule in rules:
            self.add(rule)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.active)

    def __bool__(self) -> bool:
        return bool(self.active)

    def use_seed(self, seed: int) -> None:
        """Repeat what is random in all faults, also in later ones."""
        self._seed = seed
        for fault in self.active:
            fault.use_seed(seed)

    def add(self, rule: FaultRule | str) -> Fault:
        """Add a fault. Raises ValueError for an invalid text."""
        parsed = parse_rule(rule) if isinstance(rule, str) else rule
        with self._lock:
            fault = Fault(next(self._numbers), parsed, self._seed)
            self.active = (*self.active, fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Remove a fault and release its hanging requests."""
        with self._lock:
            self.active = tuple(one for one in self.active if one is not fault)

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self.active = ()

    @contextmanager
    def during(self, rule: FaultRule | str) -> Iterator[Fault]:
        """Add a fault for the length of the block."""
        fault = self.add(rule)
        try:
            yield fault
        finally:
            self.remove(fault)

    def striking(self, target: Target, when: When) -> Fault | None:
        """Return the fault, if any, that strikes a request."""
        return next((fault for fault in self.active if fault.strikes(target, when)), None)
