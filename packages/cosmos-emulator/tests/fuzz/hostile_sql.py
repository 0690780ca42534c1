"""Generated queries with every function and extreme values, some invalid."""

from __future__ import annotations

import random
from typing import Final

from cosmos_emulator.query.functions import FUNCTIONS, SEARCH_FUNCTIONS
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


def query(rng: random.Random) -> str:
    """Return a query over items `c`, mostly valid."""
    match rng.randrange(12):
        case 0:
            return soup(rng)
        case 1:
            return changed_text(rng, _query(rng, ["c"], 3))
        case 2:
            words = _query(rng, ["c"], 3).split(" ")
            words[rng.randrange(len(words))] = rng.choice(_SOUP)
            return " ".join(words)
    return _query(rng, ["c"], rng.choice([1, 2, 3, 4]))


def soup(rng: random.Random) -> str:
    """Return tokens in random order."""
    return f"SELECT {' '.join(rng.choices(_SOUP, k=rng.randrange(1, 30)))}"


def condition(rng: random.Random) -> str:
    """Return an expression over `c`."""
    return _expression(rng, ["c"], 3)


def _query(rng: random.Random, outer: list[str], depth: int) -> str:
    names = list(outer)
    parts = ["FROM " + _sources(rng, names, depth)] if len(outer) > 1 or rng.random() < 0.97 else []
    if rng.random() < 0.6:
        parts.append(f"WHERE {_expression(rng, names, depth)}")
    groups = [_expression(rng, names, 1) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    if groups:
        parts.append(f"GROUP BY {', '.join(groups)}")
    if rng.random() < 0.25:
        keys = (f"{_path(rng, names)} {rng.choice(['', 'ASC', 'DESC'])}" for _ in range(rng.choice([1, 1, 2])))
        parts.append(f"ORDER BY {', '.join(keys)}")
    if rng.random() < 0.15:
        parts.append(f"OFFSET {_count(rng)} LIMIT {_count(rng)}")
    top = f"TOP {_count(rng)} " if rng.random() < 0.1 else ""
    distinct = "DISTINCT " if rng.random() < 0.15 else ""
    return f"SELECT {distinct}{top}{_selection(rng, names, depth, groups)} {' '.join(parts)}"


def _selection(rng: random.Random, names: list[str], depth: int, groups: list[str]) -> str:
    if groups:
        return ", ".join(
            [f"{one} AS g{index}" for index, one in enumerate(groups)] + [f"{_aggregate(rng, names)} AS a"]
        )
    match rng.randrange(6):
        case 0:
            return "*"
        case 1 | 2:
            return f"VALUE {_expression(rng, names, depth)}"
        case 3:
            return f"VALUE {_aggregate(rng, names)}"
    return ", ".join(f"{_expression(rng, names, depth - 1)} AS x{index}" for index in range(rng.randrange(1, 4)))


def _sources(rng: random.Random, names: list[str], depth: int) -> str:
    first = "c"
    if len(names) > 1 or rng.random() < 0.1:
        first = f"{_name(names)} IN {_path(rng, names)}" if len(names) > 1 else f"c IN c.{rng.choice(FIELDS)}"
    joins = []
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 4])):
        source = f"({_query(rng, names, depth - 1)})" if depth > 1 and rng.random() < 0.2 else _path(rng, names)
        joins.append(f" JOIN {_name(names)} IN {source}")
    return first + "".join(joins)


def _name(names: list[str]) -> str:
    names.append(f"t{len(names)}")
    return names[-1]


def _aggregate(rng: random.Random, names: list[str]) -> str:
    return f"{rng.choice(_AGGREGATES)}({_expression(rng, names, 1)})"


def _path(rng: random.Random, names: list[str]) -> str:
    steps = rng.choices(
        [f".{rng.choice(FIELDS)}", f"['{rng.choice(FIELDS)}']", "[0]", "[1]"], k=rng.choice([0, 1, 1, 1, 2])
    )
    return rng.choice(names) + "".join(steps)


def _count(rng: random.Random) -> str:
    return rng.choice(["0", "1", "2", "10", "@p", "2147483647", "2147483648", "1e3"])


def _expression(rng: random.Random, names: list[str], depth: int) -> str:
    def part() -> str:
        return _expression(rng, names, depth - 1)

    if depth <= 0:
        return rng.choice(
            [_path(rng, names), _path(rng, names), rng.choice(_NUMBERS), rng.choice(_TEXTS), rng.choice(_OTHERS)]
        )
    match rng.randrange(18):
        case 0 | 1 | 2 | 3:
            return f"({part()} {rng.choice(_BINARY)} {part()})"
        case 4:
            return f"({part()} ? {part()} : {part()})"
        case 5:
            return f"{rng.choice(['NOT ', '-', '~', '+'])}({part()})"
        case 6:
            return f"({part()} {rng.choice(['', 'NOT '])}IN ({part()}, {part()}))"
        case 7:
            return f"({part()} {rng.choice(['', 'NOT '])}BETWEEN {part()} AND {part()})"
        case 8:
            return f"({part()} LIKE {rng.choice([*_TEXTS, part()])})"
        case 9:
            return f"{rng.choice(['EXISTS', 'ARRAY', ''])}({_query(rng, names, depth - 1)})"
        case 10:
            return f"[{part()}, {part()}]"
        case 11:
            return "{" + f"'{rng.choice(FIELDS)}': {part()}, x: {part()}" + "}"
        case 12:
            return f"udf.{rng.choice(['same', 'none'])}({part()})"
        case 13:
            return f"({part()})[{part()}]"
        case 14:
            return _path(rng, names)
    return _call(rng, part)


def _call(rng: random.Random, part: object) -> str:
    assert callable(part)
    name = rng.choice(sorted(SEARCH_FUNCTIONS)) if rng.random() < 0.03 else rng.choice(sorted(FUNCTIONS))
    known = FUNCTIONS.get(name)
    least, most = (1, 2) if known is None else (known.minimum, known.maximum or known.minimum + 2)
    count = rng.randint(least, most) if rng.random() < 0.95 else rng.randrange(5)
    return f"{name}({', '.join(part() for _ in range(count))})"
