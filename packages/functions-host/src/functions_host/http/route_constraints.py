"""Constraints of route templates, such as `{id:int:min(1)}`.

Rules: aspnetcore Routing/Constraints. A failed constraint is a 404, never a 400. `datetime` accepts only ISO 8601 and
month-day-year.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation

Check = Callable[[str], bool]

_INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(\d[\d,]*\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)
_GUID = re.compile(r"[0-9a-f]{32}|(?P<o>[({])?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?(o)[)}])", re.IGNORECASE)
_INVARIANT_DATES = ("%m-%d-%Y", "%m-%d-%Y %H:%M:%S")


@dataclass(frozen=True)
class Constraint:
    """Checks a route value. A missing value passes unless `needs_value`."""

    check: Check
    needs_value: bool = False

    def accepts(self, value: str | None) -> bool:
        """Return whether a value passes. None means that it is missing."""
        return not self.needs_value if value is None else self.check(value)


def parse_constraint(name: str, argument: str | None) -> Constraint:
    """Return a constraint. Raises ValueError."""
    try:
        if name.lower() == "required":
            return Constraint(bool, needs_value=True)
        if argument is None:
            return Constraint(_PLAIN[name.lower()])
        return Constraint(_WITH_ARGUMENT[name.lower()](argument))
    except KeyError:
        raise ValueError(f"unknown constraint '{name}'") from None
    except (ValueError, re.error) as error:
        raise ValueError(f"constraint '{name}({argument})': {error}") from error


def _integer_within(low: int, high: int) -> Check:
    return lambda value: _INTEGER.fullmatch(value) is not None and low <= int(value) <= high


def _is_bool(value: str) -> bool:
    return value.strip().lower() in ("true", "false")


def _is_decimal(value: str) -> bool:
    # A .NET decimal has a 96-bit mantissa and no exponent notation.
    if _NUMBER.fullmatch(value) is None or "e" in value.lower():
        return False
    try:
        return abs(Decimal(value.strip().replace(",", ""))) < 2**96
    except InvalidOperation:
        return False


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None or value in ("NaN", "Infinity", "-Infinity")


def _is_datetime(value: str) -> bool:
    for parse in (datetime.fromisoformat, *(_strptime(form) for form in _INVARIANT_DATES)):
        try:
            parse(value)
        except ValueError:
            continue
        return True
    return False


def _strptime(form: str) -> Callable[[str], datetime]:
    return lambda value: datetime.strptime(value, form)  # noqa: DTZ007 - checked, not used


def _length(argument: str) -> Check:
    bounds = [int(part) for part in argument.split(",")]
    if len(bounds) == 1:
        return lambda value: len(value) == bounds[0]
    low, high = bounds
    return lambda value: low <= len(value) <= high


def _range(argument: str) -> Check:
    low, high = (int(part) for part in argument.split(","))
    return _integer_within(low, high)


def _regex(argument: str) -> Check:
    pattern = re.compile(argument, re.IGNORECASE)
    return lambda value: pattern.search(value) is not None


def _at_least(argument: str) -> Check:
    shortest = int(argument)
    return lambda value: len(value) >= shortest


def _at_most(argument: str) -> Check:
    longest = int(argument)
    return lambda value: len(value) <= longest


def _is_file(value: str) -> bool:
    """Return whether the last segment has a dot that is not its last character, like FileNameRouteConstraint."""
    name = value.rpartition("/")[2]
    return "." in name and not name.endswith(".")


_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1
_PLAIN: dict[str, Check] = {
    "int": _integer_within(-(2**31), 2**31 - 1),
    "long": _integer_within(_LONG_MIN, _LONG_MAX),
    "bool": _is_bool,
    "datetime": _is_datetime,
    "decimal": _is_decimal,
    "double": _is_number,
    "float": _is_number,
    "guid": lambda value: _GUID.fullmatch(value.strip()) is not None,
    "alpha": lambda value: re.fullmatch(r"[A-Za-z]*", value) is not None,
    "file": _is_file,
    "nonfile": lambda value: not _is_file(value),
}
_WITH_ARGUMENT: dict[str, Callable[[str], Check]] = {
    "minlength": _at_least,
    "maxlength": _at_most,
    "length": _length,
    "min": lambda argument: _integer_within(int(argument), _LONG_MAX),
    "max": lambda argument: _integer_within(_LONG_MIN, int(argument)),
    "range": _range,
    "regex": _regex,
}
