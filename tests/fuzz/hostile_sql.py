"""Queries from the dialect's grammar, with every function, extreme values and, now and then, a piece out of place."""

from __future__ import annotations

import random
from typing import Final

from cosmos_emulator.query.functions import FUNCTIONS, UNSUPPORTED_FUNCTIONS
from cosmos_emulator.query.lexer import KEYWORDS

from tests.fuzz.hostile_json import changed_text, words

FIELDS: Final = ["id", "n", "s", "b", "tags", "o", "z", "pk", "text", "deep"]
_AGGREGATES: Final = ["COUNT", "SUM", "AVG", "MIN", "MAX", "COUNTIF", "MAKELIST", "MAKESET"]
_BINARY: Final = words("+ - * / % = != <> < <= > >= AND OR || | & ^ << >> >>> ??")
_OPERATORS: Final = [*_BINARY, "\x00", *words("? : . , ( ) [ ] { } ~ @p @q -- ' \" # \\ é")]
_SOUP: Final = [*sorted(KEYWORDS), *_OPERATORS, *FIELDS, "c", "c.n", "1", "'a'", *_AGGREGATES, *sorted(FUNCTIONS)[::4]]
_NUMBERS: Final = words(
    "0 1 -1 2 3.5 1e308 -1e308 5e-324 1e-400 9007199254740993 9223372036854775808 2147483648 0.1 63 64"
)
_TEXTS: Final = [
    *(
        "''",
        "'a'",
        '"b"',
        "'%a_'",
        "'[a-c]%'",
        "'(a+)+$'",
        "'a{1,1000}'",
        "'\\\\d+'",
        "'^(a|a)*$'",
        "'(?i)x'",
        "'\\uD83D\\uDE00'",
    ),
    *(
        "'2024-01-01T00:00:00.0000000Z'",
        "'0000-00-00T99:99:99Z'",
        "'99999-01-01'",
        "'day'",
        "'yyyy'",
        "'ns'",
        "'{\"a\":1}'",
    ),
    *("'[1,2'", "'1e400'", "' 12 '", "'\\u0000'", "'ß'", "'İ'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'", "'x.y.z'"),
]
_OTHERS: Final = ["null", "true", "false", "undefined", "@p", "@q", "[]", "{}", "[1, 'a', null]", "{'a': 1, 'b': [2]}"]


def query(dice: random.Random) -> str:
    """A query over items `c`; mostly one that runs."""
    match dice.randrange(12):
        case 0:
            return soup(dice)
        case 1:
            return changed_text(dice, _query(dice, ["c"], 3))
        case 2:
            words = _query(dice, ["c"], 3).split(" ")
            words[dice.randrange(len(words))] = dice.choice(_SOUP)
            return " ".join(words)
    return _query(dice, ["c"], dice.choice([1, 2, 3, 4]))


def soup(dice: random.Random) -> str:
    """Tokens without any order."""
    return f"SELECT {' '.join(dice.choices(_SOUP, k=dice.randrange(1, 30)))}"


def condition(dice: random.Random) -> str:
    """An expression over `c`."""
    return _expression(dice, ["c"], 3)


def _query(dice: random.Random, outer: list[str], depth: int) -> str:
    names = list(outer)
    parts = ["FROM " + _sources(dice, names, depth)] if len(outer) > 1 or dice.random() < 0.97 else []
    if dice.random() < 0.6:
        parts.append(f"WHERE {_expression(dice, names, depth)}")
    groups = [_expression(dice, names, 1) for _ in range(dice.choice([0, 0, 0, 1, 2]))]
    if groups:
        parts.append(f"GROUP BY {', '.join(groups)}")
    if dice.random() < 0.25:
        keys = (f"{_path(dice, names)} {dice.choice(['', 'ASC', 'DESC'])}" for _ in range(dice.choice([1, 1, 2])))
        parts.append(f"ORDER BY {', '.join(keys)}")
    if dice.random() < 0.15:
        parts.append(f"OFFSET {_count(dice)} LIMIT {_count(dice)}")
    top = f"TOP {_count(dice)} " if dice.random() < 0.1 else ""
    distinct = "DISTINCT " if dice.random() < 0.15 else ""
    return f"SELECT {distinct}{top}{_selection(dice, names, depth, groups)} {' '.join(parts)}"


def _selection(dice: random.Random, names: list[str], depth: int, groups: list[str]) -> str:
    if groups:
        return ", ".join(
            [f"{one} AS g{index}" for index, one in enumerate(groups)] + [f"{_aggregate(dice, names)} AS a"]
        )
    match dice.randrange(6):
        case 0:
            return "*"
        case 1 | 2:
            return f"VALUE {_expression(dice, names, depth)}"
        case 3:
            return f"VALUE {_aggregate(dice, names)}"
    return ", ".join(f"{_expression(dice, names, depth - 1)} AS x{index}" for index in range(dice.randrange(1, 4)))


def _sources(dice: random.Random, names: list[str], depth: int) -> str:
    first = "c"
    if len(names) > 1 or dice.random() < 0.1:
        first = f"{_name(names)} IN {_path(dice, names)}" if len(names) > 1 else f"c IN c.{dice.choice(FIELDS)}"
    joins = []
    for _ in range(dice.choice([0, 0, 0, 1, 1, 2, 4])):
        source = f"({_query(dice, names, depth - 1)})" if depth > 1 and dice.random() < 0.2 else _path(dice, names)
        joins.append(f" JOIN {_name(names)} IN {source}")
    return first + "".join(joins)


def _name(names: list[str]) -> str:
    names.append(f"t{len(names)}")
    return names[-1]


def _aggregate(dice: random.Random, names: list[str]) -> str:
    return f"{dice.choice(_AGGREGATES)}({_expression(dice, names, 1)})"


def _path(dice: random.Random, names: list[str]) -> str:
    steps = dice.choices(
        [f".{dice.choice(FIELDS)}", f"['{dice.choice(FIELDS)}']", "[0]", "[1]"], k=dice.choice([0, 1, 1, 1, 2])
    )
    return dice.choice(names) + "".join(steps)


def _count(dice: random.Random) -> str:
    return dice.choice(["0", "1", "2", "10", "@p", "2147483647", "2147483648", "1e3"])


def _expression(dice: random.Random, names: list[str], depth: int) -> str:
    def part() -> str:
        return _expression(dice, names, depth - 1)

    if depth <= 0:
        return dice.choice(
            [_path(dice, names), _path(dice, names), dice.choice(_NUMBERS), dice.choice(_TEXTS), dice.choice(_OTHERS)]
        )
    match dice.randrange(18):
        case 0 | 1 | 2 | 3:
            return f"({part()} {dice.choice(_BINARY)} {part()})"
        case 4:
            return f"({part()} ? {part()} : {part()})"
        case 5:
            return f"{dice.choice(['NOT ', '-', '~', '+'])}({part()})"
        case 6:
            return f"({part()} {dice.choice(['', 'NOT '])}IN ({part()}, {part()}))"
        case 7:
            return f"({part()} {dice.choice(['', 'NOT '])}BETWEEN {part()} AND {part()})"
        case 8:
            return f"({part()} LIKE {dice.choice([*_TEXTS, part()])})"
        case 9:
            return f"{dice.choice(['EXISTS', 'ARRAY', ''])}({_query(dice, names, depth - 1)})"
        case 10:
            return f"[{part()}, {part()}]"
        case 11:
            return "{" + f"'{dice.choice(FIELDS)}': {part()}, x: {part()}" + "}"
        case 12:
            return f"udf.{dice.choice(['same', 'none'])}({part()})"
        case 13:
            return f"({part()})[{part()}]"
        case 14:
            return _path(dice, names)
    return _call(dice, part)


def _call(dice: random.Random, part: object) -> str:
    assert callable(part)
    name = dice.choice(sorted(UNSUPPORTED_FUNCTIONS)) if dice.random() < 0.01 else dice.choice(sorted(FUNCTIONS))
    known = FUNCTIONS.get(name)
    least, most = (1, 2) if known is None else (known.minimum, known.maximum or known.minimum + 2)
    count = dice.randint(least, most) if dice.random() < 0.95 else dice.randrange(5)
    return f"{name}({', '.join(part() for _ in range(count))})"
