"""Converts text to tokens in linear time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum, auto

from cosmos_emulator.query.errors import Location, query_error, syntax_error
from cosmos_emulator.query.values import JsonOrUndefined, Number, number

MAX_TEXT_BYTES = 512 * 1024
"""Maximum length of a query text (learn.microsoft.com/azure/cosmos-db/concepts-limits, per-request limits)."""

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        AND ARRAY AS ASC BETWEEN BY DESC DISTINCT EXISTS FALSE FROM GROUP IN JOIN LEFT LIKE LIMIT NOT NULL
        OFFSET OR ORDER RIGHT SELECT TOP TRUE UNDEFINED VALUE WHERE
        """,
    )
)
"""Reserved words. As in the service, they cannot be an alias or follow a dot (write `c["order"]`)."""


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

    `value` is that of a number or string, or a keyword as written.
    """

    kind: Kind
    text: str
    location: Location
    value: JsonOrUndefined = None


_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?!\w))
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
            raise syntax_error(text[position], Location(position, position + 1))
        if match.lastgroup != "blank":
            tokens.append(_token(match))
        position = match.end()
    tokens.append(Token(Kind.END, "", Location(len(text), len(text))))
    return tokens


def _token(match: re.Match[str]) -> Token:
    text, location = match.group(), Location(*match.span())
    match match.lastgroup:
        case "word":
            upper = text.upper()
            if upper in KEYWORDS:
                return Token(Kind.KEYWORD, upper, location, text)
            return Token(Kind.IDENTIFIER, text, location)
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
            raise syntax_error(text, location)
        return integer if integer <= _LARGEST_INTEGER else number(float(integer))
    if text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) <= _LARGEST_INTEGER:
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise syntax_error(text, location)
    return number(value)


def _string(body: str, location: Location) -> str:
    if "\\" not in body:
        return body
    text = _ESCAPE.sub(lambda match: _unescaped(match.group(1), location), body)
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise syntax_error(body, location) from None


def _unescaped(escape: str, location: Location) -> str:
    if len(escape) > 1:
        return chr(int(escape[1:], 16))
    if escape not in _ESCAPED:
        raise syntax_error("\\" + escape, location)
    return _ESCAPED[escape]
