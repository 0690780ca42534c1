"""Usernames: first and last name, then a number."""

from __future__ import annotations

import random
from functools import cached_property

_FIRST = (
    "ada agnes alma amos anton astrid basil bela bruno carla cedric clara dario delia dora edgar elif elsa emil enzo"
    " erin esther fay felix fiona flora george gita greta hana hazel hugo ida ines iris ivan jana jonas josef june kai"
    " karin kofi lara leo linus lotte luca mabel malik mara marta milo mina nadia nell nils noor olga omar oscar otto"
    " paula petra piotr quinn rania rhea robin rosa ruben ruth samir sara silas simon stella tara theo tilda uma vera"
    " victor wanda yara yusuf zoe"
)
_LAST = (
    "abbot adler amari archer baker barlow becker bishop boyd brook carver castle chen clay cole costa crane dale diaz"
    " doyle drake ellis falk farrow finch fisher fox frost garcia gray hale harper hayes heath holm hunter ito jansen"
    " keller kent kim king knight lang larsen lind lopez marsh mason meyer miller moss nash novak okafor olsen ortiz"
    " page park patel perry quist reed rivera rossi rowe sato shaw silva singh stone swift tanaka vance vega voss wade"
    " walsh ward webb weiss west wolf wood yates young"
)
_JOINTS = (".", "_", "-")


class Names:
    """The usernames of one seed, distinct after normalization."""

    def __init__(self, key: str) -> None:
        self._key = key

    def name(self, index: int) -> str:
        """Return at most 21 characters, to leave room for a suffix."""
        first, last = self._pairs[index % len(self._pairs)]
        round_ = index // len(self._pairs)
        joint = _JOINTS[(index * 7 + len(first) + len(last)) % len(_JOINTS)]
        return f"{first}{joint}{last}{round_ + 1 if round_ else ''}"

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        pairs = [(first, last) for first in _FIRST.split() for last in _LAST.split()]
        random.Random(f"{self._key}/names").shuffle(pairs)  # noqa: S311 - made up, not secret
        return pairs
