"""The syntax tree of a query.

Nodes are frozen. Comparisons ignore locations and the spelling `c["a"]`, so GROUP BY recognizes its expressions in
SELECT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias
from typing import Literal as OneOf

from cosmos_emulator.query.errors import Location
from cosmos_emulator.query.values import Json, JsonOrUndefined, identity

NOWHERE = Location(0, 0)
"""The location of nodes created by a rewrite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The base of nodes."""

    location: Location = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A number, string, true, false, null or undefined."""

    value: JsonOrUndefined

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and identity(self.value) == identity(other.value)

    def __hash__(self) -> int:
        return hash(identity(self.value))


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """`@name`, including the `@`."""

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
    """`target[index]`, unless the index is a string literal."""

    target: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`-`, `+`, `~` or `NOT`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """An arithmetic, bit, `||` or comparison operator; `<>` becomes `!=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """`AND` or `OR` over a flat chain of operands."""

    operator: OneOf["AND", "OR"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Coalesce(Node):
    """`left ?? right`."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`test ? then : otherwise`."""

    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Between(Node):
    """`value BETWEEN low AND high`."""

    value: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class In(Node):
    """`value IN (choices)`."""

    value: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Like(Node):
    """`value LIKE pattern`; `escape` is a character or None."""

    value: Expression
    pattern: Expression
    escape: str | None


@dataclass(frozen=True, slots=True)
class ArrayLiteral(Node):
    """`[elements]`."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ObjectLiteral(Node):
    """`{members}`."""

    members: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class FunctionCall(Node):
    """A built-in or aggregate function; `name` is in capitals."""

    name: str
    arguments: tuple[Expression, ...]
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class UdfCall(Node):
    """`udf.name(arguments)`."""

    name: str
    arguments: tuple[Expression, ...]


SubqueryKind: TypeAlias = OneOf["SCALAR", "EXISTS", "ARRAY", "FIRST", "LAST"]


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """`(SELECT …)`, or a keyword with it: `EXISTS(SELECT …)`."""

    kind: SubqueryKind
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
    """`SELECT *`."""


@dataclass(frozen=True, slots=True)
class SelectValue(Node):
    """`SELECT VALUE expression`."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """One item of a SELECT list."""

    expression: Expression
    alias: str | None


@dataclass(frozen=True, slots=True)
class SelectList(Node):
    """`SELECT item, item`."""

    items: tuple[SelectItem, ...]

    def named(self) -> list[tuple[str, SelectItem]]:
        """Return each item with its property name: alias, last property, or `$1`."""
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
    """`c`, `c.children` or `c.children[0]`: a name and steps."""

    name: str
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class SubqueryCollection(Node):
    """A subquery in FROM or JOIN."""

    query: Query


@dataclass(frozen=True, slots=True)
class Source(Node):
    """An input of FROM or JOIN. With `iterate` (IN), each array element is a row."""

    collection: PathCollection | SubqueryCollection
    alias: str | None
    iterate: bool


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    """One item of ORDER BY; `direction` is as written."""

    expression: Expression
    descending: bool
    direction: str = field(default="", compare=False)


Count: TypeAlias = Literal | Parameter
"""The operand of TOP, OFFSET and LIMIT."""


@dataclass(frozen=True, slots=True)
class Query(Node):
    """A whole query or subquery."""

    select: Selection
    distinct: bool = False
    top: Count | None = None
    sources: tuple[Source, ...] = ()
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    offset: Count | None = None
    limit: Count | None = None
    rank: bool = False
    """Whether `order_by` belongs to ORDER BY RANK: one scoring function."""


class MoreFunctions(Protocol):
    """Functions of a container, in addition to the built-in ones."""

    def function(self, call: FunctionCall, parameters: Mapping[str, Json]) -> Callable[..., JsonOrUndefined] | None:
        """Return a function of the call's argument values, which can be UNDEFINED; None for another name. Raises 400.

        The function can return NaN and infinity.
        """


@dataclass(frozen=True, slots=True)
class Dialect:
    """The additions of a container to the language.

    `computed` has the queries of its computed properties. If `is_planar`, spatial functions use a plane instead of the
    earth. `functions` are those that depend on the container's policies.
    """

    computed: Mapping[str, Query] = field(default_factory=dict)
    is_planar: bool = False
    functions: MoreFunctions | None = None


PLAIN: Final = Dialect()


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the direct subexpressions, none of a subquery."""
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
    """Yield the expression and its subexpressions, outside subqueries."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def selected(select: Selection) -> tuple[Expression, ...]:
    """Return the expressions of SELECT."""
    match select:
        case SelectValue(expression=expression):
            return (expression,)
        case SelectList(items=items):
            return tuple(item.expression for item in items)
    return ()
