"""ASP.NET Core route templates (`items/{id:int}`, `{a}-{b}`, `{id?}`, `{id=1}`, `{*path}`) as regular expressions.

Rules: aspnetcore Routing/Template/TemplateParser and TemplateMatcher.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ..errors import FunctionIndexError
from .route_constraints import Constraint, parse_constraint

_TOKEN = re.compile(
    r"(?P<literal>(?:\{\{|\}\}|[^{}/?])+)|\{(?P<parameter>(?:\{\{|\}\}|[^}])*+)\}|(?P<separator>/)|(?P<unexpected>.)",
    re.DOTALL,
)
_PARAMETER = re.compile(r"(?P<catch_all>\*{0,2})(?P<name>[^:=?*/{}]+)(?P<rest>.*)", re.DOTALL)
_CONSTRAINT_NAME = re.compile(r":([A-Za-z]+)")


@dataclass(frozen=True)
class _Parameter:
    name: str
    catch_all: bool
    optional: bool
    default: str | None
    constraints: tuple[Constraint, ...]


_Part = str | _Parameter
_Segment = tuple[_Part, ...]


class RouteTemplate:
    """A compiled route template."""

    def __init__(self, text: str) -> None:
        """Compile a template. Raises FunctionIndexError."""
        self.text = text
        try:
            segments = _parse(text)
            parameters = [part for segment in segments for part in segment if isinstance(part, _Parameter)]
            _check(segments, parameters)
        except ValueError as error:
            raise FunctionIndexError(f"route '{text}': {error}") from error
        self._group_names: list[str] = []
        self._regex = re.compile(self._pattern(segments), re.IGNORECASE | re.DOTALL)
        self._defaults = {p.name: p.default for p in parameters if p.default is not None}
        self._constraints = [(p.name, constraint) for p in parameters for constraint in p.constraints]

    def match(self, path: str) -> dict[str, str] | None:
        """Return the route values of `path`, or None.

        `path` has no leading slash and keeps %2F encoded. A missing value has no key.
        """
        found = self._regex.fullmatch(path)
        if found is None:
            return None
        matched = zip(self._group_names, found.groups(), strict=True)
        values = self._defaults | {name: value for name, value in matched if value}
        for name, constraint in self._constraints:
            if not constraint.accepts(values.get(name)):
                return None
        return values

    def _pattern(self, segments: list[_Segment]) -> str:
        """Return the pattern. Trailing segments that can be missing are nested: `a(?:/b(?:/c)?)?`."""
        required = len(segments)
        while required and _may_be_missing(segments[required - 1]):
            required -= 1
        pattern = "".join(
            ("/" if index else "") + self._segment(segment) for index, segment in enumerate(segments[:required])
        )
        tail = ""
        for index, segment in enumerate(segments[required:], required):
            pattern += "(?:" + ("/" if index else "") + self._segment(segment)
            tail += ")?"
        return "(?!/)" + pattern + tail + "/?"

    def _segment(self, segment: _Segment) -> str:
        last = segment[-1]
        if len(segment) > 2 and isinstance(last, _Parameter) and last.optional:
            # `{file}.{ext?}` matches both the separator and the extension, or neither.
            return f"(?:{self._parts(segment)}|{self._parts(segment[:-2])}(?<!\\.))"
        return self._parts(segment)

    def _parts(self, parts: _Segment) -> str:
        pattern = ""
        for part in parts:
            if isinstance(part, str):
                pattern += re.escape(part)
            else:
                self._group_names.append(part.name)
                pattern += "((?!/).*)" if part.catch_all else "([^/]+)"
        return pattern


def _may_be_missing(segment: _Segment) -> bool:
    part = segment[0]
    return (
        len(segment) == 1
        and isinstance(part, _Parameter)
        and (part.optional or part.catch_all or part.default is not None)
    )


def _check(segments: list[_Segment], parameters: list[_Parameter]) -> None:
    names = [parameter.name.lower() for parameter in parameters]
    if len(set(names)) < len(names):
        raise ValueError("a parameter name appears twice")
    for position, segment in enumerate(segments):
        for before, after in pairwise(segment):
            if isinstance(before, _Parameter) and isinstance(after, _Parameter):
                raise ValueError("two parameters need a literal between them")  # noqa: TRY004 - not a Python type
            if isinstance(before, _Parameter) and before.optional:
                raise ValueError("an optional parameter must end its segment")
            if isinstance(after, _Parameter) and after.optional and before != ".":
                raise ValueError("only '.' may precede an optional parameter")
        catches = any(isinstance(part, _Parameter) and part.catch_all for part in segment)
        if catches and (len(segment) > 1 or position < len(segments) - 1):
            raise ValueError("a catch-all must be the whole last segment")


def _parse(text: str) -> list[_Segment]:
    body = text.removeprefix("~").removeprefix("/")
    if not body:
        return []
    segments: list[list[_Part]] = [[]]
    for token in _TOKEN.finditer(body):
        match token.lastgroup:
            case "literal":
                segments[-1].append(_unescaped(token[0]))
            case "parameter":
                segments[-1].append(_parameter(_unescaped(token["parameter"])))
            case "separator":
                segments.append([])
            case _:
                raise ValueError(f"unexpected '{token[0]}'")
    if len(segments) > 1 and not segments[-1]:
        segments.pop()
    if not all(segments):
        raise ValueError("two separators in a row")
    return [tuple(segment) for segment in segments]


def _unescaped(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


def _parameter(inner: str) -> _Parameter:
    found = _PARAMETER.fullmatch(inner)
    if found is None:
        raise ValueError(f"'{inner}' is not a parameter")
    constraints, rest = _constraints(found["rest"])
    optional = rest.endswith("?")
    rest = rest.removesuffix("?")
    if rest and not rest.startswith("="):
        raise ValueError(f"'{inner}' is not a parameter")
    default = rest[1:] if rest else None
    catch_all = bool(found["catch_all"])
    if optional and (default is not None or catch_all):
        raise ValueError(f"'{found['name']}' cannot combine '?' with a default or a catch-all")
    return _Parameter(found["name"], catch_all, optional, default, constraints)


def _constraints(rest: str) -> tuple[tuple[Constraint, ...], str]:
    found = []
    while name := _CONSTRAINT_NAME.match(rest):
        rest = rest[name.end() :]
        argument = None
        if rest.startswith("("):
            ends = _closing_parentheses(rest)
            if not ends:
                raise ValueError("a '(' is not closed")
            argument, rest = rest[1 : ends[0]], rest[ends[0] + 1 :]
        found.append(parse_constraint(name[1], argument))
    return tuple(found), rest


def _closing_parentheses(rest: str) -> list[int]:
    """Return the indexes at which an argument can end. A regular expression in it can contain parentheses."""
    return [i for i, character in enumerate(rest) if character == ")" and (i + 1 == len(rest) or rest[i + 1] in ":=?")]
