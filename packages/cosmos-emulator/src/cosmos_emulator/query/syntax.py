"""The syntax tree of a query.

Nodes are frozen and compare by meaning: where they stand in the text, and whether `c.a` was written `c["a"]`,
does not count, so that GROUP BY can recognise its expressions in the SELECT list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from cosmos_emulator.query.errors import Location
from cosmos_emulator.query.values import JsonOrUndefined

NOWHERE = Location(0, 0)
"""The location of nodes that a rewrite makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    location: Location = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A number, string, true, false, null or undefined."""

    value: JsonOrUndefined


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """`@name`; the name includes the `@`."""

    name: str


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    """The alias of an input."""

    name: str


@dataclass(frozen=True, slots=True)
class Property(Node):
    """`target.name` or `target["name"]`."""

    target: Expression
    name: str
    bracketed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`target[index]` where the index is not a string literal."""

    target: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`-`, `+`, `~` or `NOT`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic, bit, `||` and comparison operators; `<>` is written `!=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """`AND` or `OR` over two or more operands; a chain is one flat node."""

    operator: OneOf["AND", "OR"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Coalesce(Node):
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Between(Node):
    value: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class In(Node):
    value: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Like(Node):
    """`escape` is one character or None."""

    value: Expression
    pattern: Expression
    escape: str | None


@dataclass(frozen=True, slots=True)
class ArrayLiteral(Node):
    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ObjectLiteral(Node):
    members: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class FunctionCall(Node):
    """A built-in or aggregate; `name` is in capitals, `written` as in the text."""

    name: str
    arguments: tuple[Expression, ...]
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class UdfCall(Node):
    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """`(SELECT …)`, `EXISTS(SELECT …)` or `ARRAY(SELECT …)`."""

    kind: OneOf["SCALAR", "EXISTS", "ARRAY"]
    query: Query


Expression: TypeAlias = (
    Literal
    | Parameter
    | Identifier
    | Property
    | Index
    | Unary
    | Binary
    | Logical
    | Coalesce
    | Conditional
    | Between
    | In
    | Like
    | ArrayLiteral
    | ObjectLiteral
    | FunctionCall
    | UdfCall
    | Subquery
)


@dataclass(frozen=True, slots=True)
class SelectStar(Node):
    pass


@dataclass(frozen=True, slots=True)
class SelectValue(Node):
    expression: Expression


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    expression: Expression
    alias: str | None


@dataclass(frozen=True, slots=True)
class SelectList(Node):
    items: tuple[SelectItem, ...]

    def named(self) -> list[tuple[str, SelectItem]]:
        """The items with the property each becomes: alias, else last property, else `$1`, `$2`, …"""
        named: list[tuple[str, SelectItem]] = []
        unnamed = 0
        for item in self.items:
            name = item.alias or _own_name(item.expression)
            if name is None:
                unnamed += 1
                name = f"${unnamed}"
            named.append((name, item))
        return named


def _own_name(expression: Expression) -> str | None:
    return expression.name if isinstance(expression, Property | Identifier) else None


Selection: TypeAlias = SelectStar | SelectValue | SelectList


@dataclass(frozen=True, slots=True)
class PathCollection(Node):
    """`c`, `c.children` or `c.children[0]`: a name and the steps below it."""

    name: str
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class SubqueryCollection(Node):
    query: Query


@dataclass(frozen=True, slots=True)
class Source(Node):
    """One input of FROM or JOIN. With `iterate` (`alias IN collection`) each element of an array is a row."""

    collection: PathCollection | SubqueryCollection
    alias: str | None
    iterate: bool


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    expression: Expression
    descending: bool
    direction: str = field(default="", compare=False)


Count: TypeAlias = Literal | Parameter
"""What TOP, OFFSET and LIMIT take."""


@dataclass(frozen=True, slots=True)
class Query(Node):
    select: Selection
    distinct: bool = False
    top: Count | None = None
    sources: tuple[Source, ...] = ()
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    offset: Count | None = None
    limit: Count | None = None


def children(node: Expression) -> tuple[Expression, ...]:
    """The expressions directly below one; a subquery is opaque and has none."""
    match node:
        case Property(target=target):
            return (target,)
        case Index(target=target, index=index):
            return (target, index)
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right) | Coalesce(left=left, right=right):
            return (left, right)
        case Logical(operands=operands):
            return operands
        case Conditional(test=test, then=then, otherwise=otherwise):
            return (test, then, otherwise)
        case Between(value=value, low=low, high=high):
            return (value, low, high)
        case In(value=value, choices=choices):
            return (value, *choices)
        case Like(value=value, pattern=pattern):
            return (value, pattern)
        case ArrayLiteral(elements=elements):
            return elements
        case ObjectLiteral(members=members):
            return tuple(member for _, member in members)
        case FunctionCall(arguments=arguments) | UdfCall(arguments=arguments):
            return arguments
    return ()


def walk(node: Expression) -> Iterator[Expression]:
    """The expression and everything below it, not into subqueries, parents first."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def selected(select: Selection) -> tuple[Expression, ...]:
    """The expressions of a SELECT clause, in order."""
    match select:
        case SelectValue(expression=expression):
            return (expression,)
        case SelectList(items=items):
            return tuple(item.expression for item in items)
    return ()
