"""Converts text to tokens in linear time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum, auto

from cosmos_emulator.query.errors import Location, QueryError, query_error, syntax_error
from cosmos_emulator.query.values import JsonOrUndefined, Number, number

MAX_TEXT_BYTES = 512 * 1024
"""Maximum length of a query text (learn.microsoft.com/azure/cosmos-db/concepts-limits, per-request limits)."""

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        AND ARRAY AS ASC BETWEEN BY CASE CAST CONVERT CROSS DESC DISTINCT ELSE END ESCAPE EXISTS FOR FROM GROUP HAVING
        IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT NOT OFFSET ON OR ORDER OUTER OVER RIGHT SELECT SET THEN TOP UPDATE
        VALUE WHEN WHERE WITH
        """,
    )
)
"""Reserved words. They cannot be an alias or a key, or follow a dot (write `c["order"]`).

Microsoft's planner has the same ones (tests/query/test_query_plans.py).
"""

_CASE_SENSITIVE = frozenset({"false", "null", "true", "udf", "undefined"})
"""Reserved words only in this spelling (sql.g4 of the .NET SDK)."""


def is_reserved(word: str) -> bool:
    """Return whether a word cannot be a name."""
    return word in _CASE_SENSITIVE or word.upper() in KEYWORDS


class Kind(Enum):
    """Kinds of tokens."""

    KEYWORD = auto()
    IDENTIFIER = auto()
    PARAMETER = auto()
    NUMBER = auto()
    STRING = auto()
    OPERATOR = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is an operator, name or keyword in capitals.

    `value` is the value of a number or string, or a keyword as written.
    """

    kind: Kind
    text: str
    location: Location
    value: JsonOrUndefined = None


_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?!\w))
  | (?P<malformed>\.?\d[\w.]*)
  | (?P<word>[^\W\d]\w*)
  | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')
  | (?P<parameter>@\w+)
  | (?P<operator>>>>|<<|>>|<=|>=|!=|<>|\?\?|\|\||[-+*/%=<>&|^~?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "/": "/", "'": "'", '"': '"'}
_MOST_DIGITS = 400  # more are beyond every double
_LARGEST_INTEGER = 2**63 - 1


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a query and END. Raises 400 (SC1001, or SC3001 for a long text)."""
    if len(text) > MAX_TEXT_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        message = f"The query text exceeds the maximum length of {MAX_TEXT_BYTES} bytes."
        raise query_error("SC3001", message)
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            message = f"Syntax error, invalid token '{text[position]}'."
            raise query_error("SC1010", message, Location(position, position + 1))
        if match.lastgroup != "blank":
            tokens.append(_token(match))
        position = match.end()
    tokens.append(Token(Kind.END, "", Location(len(text), len(text))))
    return tokens


def _token(match: re.Match[str]) -> Token:
    text, location = match.group(), Location(*match.span())
    match match.lastgroup:
        case "word":
            if is_reserved(text):
                return Token(Kind.KEYWORD, text.upper(), location, text)
            return Token(Kind.IDENTIFIER, text, location)
        case "malformed":
            raise _invalid_number(text, location)
        case "number":
            return Token(Kind.NUMBER, text, location, _number(text, location))
        case "string":
            return Token(Kind.STRING, text, location, _string(text[1:-1], location))
        case "parameter":
            return Token(Kind.PARAMETER, text, location)
    return Token(Kind.OPERATOR, text, location)


def _number(text: str, location: Location) -> Number:
    """Parse a literal. Integers of 64 bits are exact (https://learn.microsoft.com/cosmos-db/query/is-integer)."""
    if text[:2] in ("0x", "0X"):
        integer = int(text, 16)
        if integer >= 2**64:
            raise _invalid_number(text, location)
        return integer if integer <= _LARGEST_INTEGER else number(float(integer))
    if text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) <= _LARGEST_INTEGER:
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise _invalid_number(text, location)
    return number(value)


def _invalid_number(text: str, location: Location) -> QueryError:
    return query_error("SC1011", f"Syntax error, invalid numeric value token '{text}'.", location)


def _string(body: str, location: Location) -> str:
    if "\\" not in body:
        return body
    text = _ESCAPE.sub(lambda match: _unescaped(match.group(1)), body)
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise syntax_error(body, location) from None


def _unescaped(escape: str) -> str:
    """Return the character of an escape; an unknown one keeps its backslash (.NET SDK, CstToAstVisitor.cs)."""
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPED.get(escape, f"\\{escape}")
