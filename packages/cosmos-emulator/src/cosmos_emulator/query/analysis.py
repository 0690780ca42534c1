"""Necessary conditions on items, derived from WHERE without running the query.

Only paths count that start at the alias of a plain first source (`FROM c`, `FROM Root r`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import syntax
from cosmos_emulator.query.aggregates import AGGREGATES
from cosmos_emulator.query.compiler.comparisons import MIRRORED
from cosmos_emulator.query.compiler.expressions import ExpressionCompiler, Rows
from cosmos_emulator.query.compiler.scope import ITEM_SLOT, Constant, Context, Scope, Test
from cosmos_emulator.query.compiler.selection import set_dialect
from cosmos_emulator.query.features import combining_input
from cosmos_emulator.query.rewriting import first_alias
from cosmos_emulator.query.syntax import PLAIN, Dialect, Expression, FunctionCall, Query
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined, identity

Path: TypeAlias = "tuple[str, ...]"
Steps: TypeAlias = "tuple[str | int, ...]"
"""A path, also into array elements."""
PredicateOperator: TypeAlias = OneOf[
    "=", "!=", "<", "<=", ">", ">=", "IN", "STARTSWITH", "ENDSWITH", "CONTAINS", "STRINGEQUALS", "IS_DEFINED"
]

_RANGES: dict[str, PredicateOperator] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TEXT_FUNCTIONS: dict[str, PredicateOperator] = {
    "STARTSWITH": "STARTSWITH",
    "ENDSWITH": "ENDSWITH",
    "CONTAINS": "CONTAINS",
    "STRINGEQUALS": "STRINGEQUALS",
}
_INDEXED_CALLS = _TEXT_FUNCTIONS.keys() | AGGREGATES.keys()


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on one path that every match meets and a range index can serve.

    `values` has the constants: one for a comparison, the choices of IN, none for IS_DEFINED. `ignore_case` is for text
    functions.
    """

    path: Path
    op: PredicateOperator
    values: tuple[Json, ...]
    ignore_case: bool
    test: Test = field(compare=False, repr=False)


class ItemReader:
    """Recognizes paths of the item, and constants. `alias` is the item's, or None."""

    def __init__(self, query: Query, parameters: Mapping[str, Json], dialect: Dialect = PLAIN) -> None:
        self.alias = _item_alias(query)
        scope = Scope(slots={} if self.alias is None else {self.alias: ITEM_SLOT})
        context = Context(parameters)
        set_dialect(dialect, context)
        self.compiler = ExpressionCompiler(context, scope, _no_subquery)

    def path(self, node: Expression) -> Path | None:
        """Return the property names of an item's path, otherwise None."""
        names: list[str] = []
        while isinstance(node, syntax.Property):
            names.append(node.name)
            node = node.target
        if isinstance(node, syntax.Identifier) and node.name == self.alias:
            return tuple(reversed(names))
        return None

    def constant(self, node: Expression) -> JsonOrUndefined:
        """Return the value of a constant expression, otherwise UNDEFINED."""
        folded = self.folded(node)
        return UNDEFINED if folded is None else folded.value

    def folded(self, node: Expression) -> Constant | None:
        """Return the constant that an expression is; None for others."""
        dependent = (syntax.Identifier, syntax.Subquery, syntax.UdfCall)
        if any(isinstance(part, dependent) for part in syntax.walk(node)):
            return None
        try:
            evaluate = self.compiler.compile(node)
        except CosmosError:  # a function of the container, or an aggregate
            return None
        return evaluate if isinstance(evaluate, Constant) else None


def _no_subquery(_query: Query) -> Rows:
    raise TypeError("a predicate on one path has no subquery")


def _item_alias(query: Query) -> str | None:
    if not query.sources:
        return None
    first = query.sources[0]
    collection = first.collection
    if first.iterate or not isinstance(collection, syntax.PathCollection) or collection.path:
        return None
    return first.alias or collection.name


# Pinned values


def pinned_values(query: Query, parameters: Mapping[str, Json], path: Path) -> list[Json] | None:
    """Return the only values of the path in a match; None if WHERE allows any.

    An empty list means that nothing matches. Undefined is never included: it makes all these conditions false.
    """
    if query.where is None:
        return None
    return _pinned(query.where, ItemReader(query, parameters), path)


def selects_nothing(query: Query, parameters: Mapping[str, Json]) -> bool:
    """Return whether SELECT VALUE is always undefined."""
    if not isinstance(query.select, syntax.SelectValue):
        return False
    constant = ItemReader(query, parameters).folded(query.select.expression)
    return constant is not None and constant.value is UNDEFINED


def _pinned(node: Expression, reader: ItemReader, path: Path) -> list[Json] | None:
    match node:
        case syntax.Logical(operator="AND", operands=operands):
            known = [values for operand in operands if (values := _pinned(operand, reader, path)) is not None]
            return _intersection(known) if known else None
        case syntax.Logical(operands=operands):
            branches = [_pinned(operand, reader, path) for operand in operands]
            return _union([values for values in branches if values is not None]) if None not in branches else None
    if (constant := reader.folded(node)) is not None:
        return None if constant.value is True else []
    if reader.path(node) == path:
        return [True]
    return _pinned_by_test(node, reader, path)


def _pinned_by_test(node: Expression, reader: ItemReader, path: Path) -> list[Json] | None:
    match node:
        case syntax.Binary(operator="=", left=left, right=right):
            values = _equal(left, right, reader, path)
            return _equal(right, left, reader, path) if values is None else values
        case syntax.In(value=value, choices=choices) if reader.path(value) == path:
            return _constants(choices, reader)
        case syntax.Like(value=value, pattern=syntax.Literal(value=str() as text)) if reader.path(value) == path:
            return None if set(text) & set("%_[") else [text]
        case syntax.Unary(operator="NOT", operand=operand) if reader.path(operand) == path:
            return [False]
        case FunctionCall(name="IS_NULL", arguments=(argument,)) if reader.path(argument) == path:
            return [None]
        case FunctionCall(name="IS_BOOL", arguments=(argument,)) if reader.path(argument) == path:
            return [False, True]
        case FunctionCall(name="ARRAY_CONTAINS", arguments=(array, argument)) if reader.path(argument) == path:
            choices_array = reader.constant(array)
            return _union([choices_array]) if type(choices_array) is list else None
    return None


def _equal(left: Expression, right: Expression, reader: ItemReader, path: Path) -> list[Json] | None:
    if reader.path(left) != path:
        return None
    constant = reader.folded(right)
    return None if constant is None else [] if constant.value is UNDEFINED else [constant.value]


def _constants(nodes: tuple[Expression, ...], reader: ItemReader) -> list[Json] | None:
    values = [value for node in nodes if (value := reader.constant(node)) is not UNDEFINED]
    return _union([values]) if len(values) == len(nodes) else None


def _union(lists: list[list[Json]]) -> list[Json]:
    return list({identity(value): value for values in lists for value in values}.values())


def _intersection(lists: list[list[Json]]) -> list[Json]:
    common = set.intersection(*({identity(value) for value in values} for values in lists))
    return [value for value in lists[0] if identity(value) in common]


# Predicates that an index serves


def filter_predicates(query: Query, parameters: Mapping[str, Json], dialect: Dialect = PLAIN) -> list[Predicate]:
    """Return the conjuncts of WHERE that a range index can serve, also those on computed properties.

    Source: learn.microsoft.com/azure/cosmos-db/index-overview.
    """
    if query.where is None:
        return []
    reader = ItemReader(query, parameters, dialect)
    return [predicate for conjunct in _conjuncts(query.where) for predicate in _predicates(conjunct, reader)]


def selected_paths(query: Query) -> list[Path]:
    """Return the paths that SELECT gives to text and aggregate functions, which an index evaluates.

    Source: azure-cosmos-dotnet-v3, IndexUtilizationParse.xml and CosmosItemLinqTests.cs.
    """
    reader = ItemReader(query, {})
    calls = (node for expression in syntax.selected(query.select) for node in syntax.walk(expression))
    first = (node.arguments[0] for node in calls if isinstance(node, FunctionCall) and node.name in _INDEXED_CALLS)
    return [path for argument in first if (path := reader.path(argument))]


def _conjuncts(node: Expression) -> tuple[Expression, ...]:
    return node.operands if isinstance(node, syntax.Logical) and node.operator == "AND" else (node,)


def _predicates(node: Expression, reader: ItemReader) -> Iterator[Predicate]:
    match node:
        case syntax.Binary(operator=operator, left=left, right=right) if operator in _RANGES:
            found = _comparison(operator, left, right, node, reader)
            yield from found or _comparison(MIRRORED[operator], right, left, node, reader)
        case syntax.Between(value=value, low=low, high=high):
            yield from _comparison(">=", value, low, syntax.Binary(">=", value, low), reader)
            yield from _comparison("<=", value, high, syntax.Binary("<=", value, high), reader)
        case syntax.In(value=value, choices=choices):
            path, values = reader.path(value), _constants(choices, reader)
            if path and values is not None:
                yield Predicate(path, "IN", tuple(values), False, reader.compiler.test(node))
        case FunctionCall(name="IS_DEFINED", arguments=(argument,)):
            if path := reader.path(argument):
                yield Predicate(path, "IS_DEFINED", (), False, reader.compiler.test(node))
        case FunctionCall(name=name) if name in _TEXT_FUNCTIONS:
            yield from _text_predicate(node, reader)
        case syntax.Property():
            if path := reader.path(node):
                yield Predicate(path, "=", (True,), False, reader.compiler.test(node))
        case syntax.Logical(operator="OR"):
            yield from _alternatives(node, reader)


def _alternatives(node: syntax.Logical, reader: ItemReader) -> Iterator[Predicate]:
    """Find paths that every alternative pins, as when an SDK reads many items by ID and key.

    The service's index merges the alternatives, so the test is the whole condition.
    """
    paths = (reader.path(part) for part in syntax.walk(node.operands[0]))
    for path in dict.fromkeys(path for path in paths if path):
        values = _pinned(node, reader, path)
        if values is not None:
            yield Predicate(path, "IN", tuple(values), False, reader.compiler.test(node))


def _comparison(
    operator: str, subject: Expression, other: Expression, node: Expression, reader: ItemReader
) -> list[Predicate]:
    path = reader.path(subject)
    if not path or (value := reader.constant(other)) is UNDEFINED:
        return []
    return [Predicate(path, _RANGES[operator], (value,), False, reader.compiler.test(node))]


def _text_predicate(node: FunctionCall, reader: ItemReader) -> Iterator[Predicate]:
    if len(node.arguments) not in (2, 3):
        return
    path, part = reader.path(node.arguments[0]), reader.constant(node.arguments[1])
    ignore_case = reader.constant(node.arguments[2]) if len(node.arguments) == 3 else False
    if path and type(part) is str and type(ignore_case) is bool:
        yield Predicate(path, _TEXT_FUNCTIONS[node.name], (part,), ignore_case, reader.compiler.test(node))


def order_by_paths(query: Query) -> list[tuple[Path, bool]] | None:
    """Return the ORDER BY paths and directions; None unless all are paths of the item."""
    reader = ItemReader(query, {})
    paths = [(reader.path(item.expression), item.descending) for item in query.order_by]
    known = [(path, descending) for path, descending in paths if path]
    return known if known and len(known) == len(paths) else None


def order_by_steps(query: Query) -> list[tuple[Steps, bool]] | None:
    """Return like `order_by_paths`, also for array elements and for rows of FROM subqueries that are parts of items.

    The service orders `SELECT VALUE s FROM (SELECT * FROM c) s ORDER BY s.n` and `ORDER BY c.a[0]` (dotnet/efcore,
    the functional tests of the Cosmos provider).
    """
    found = [(_steps_of(item.expression, query), item.descending) for item in query.order_by]
    known = [(steps, descending) for steps, descending in found if steps]
    return known if known and len(known) == len(found) else None


def _steps_of(node: Expression, query: Query) -> Steps | None:
    """Return the steps from the item to the value of a path, if it starts at the first source."""
    steps: list[str | int] = []
    while isinstance(node, syntax.Property | syntax.Index):
        if isinstance(node, syntax.Property):
            steps.insert(0, node.name)
        elif isinstance(node.index, syntax.Literal) and type(node.index.value) is int:
            steps.insert(0, node.index.value)
        else:
            return None
        node = node.target
    first = query.sources[0] if query.sources else None
    if first is None or first.iterate or not isinstance(node, syntax.Identifier):
        return None
    if node.name == _item_alias(query):
        return tuple(steps)
    rows = first.collection
    if node.name != first.alias or not isinstance(rows, syntax.SubqueryCollection) or combining_input(query):
        return None
    return _steps_in_row(rows.query, tuple(steps))


def _steps_in_row(query: Query, steps: Steps) -> Steps | None:
    match query.select:
        case syntax.SelectStar() if len(query.sources) == 1:
            node: Expression = syntax.Identifier(first_alias(query))
        case syntax.SelectValue(expression=expression):
            node = expression
        case syntax.SelectList() if steps:
            named = {name: item.expression for name, item in query.select.named()}
            if steps[0] not in named:
                return None
            node, steps = named[str(steps[0])], steps[1:]
        case _:
            return None
    start = _steps_of(node, query)
    return None if start is None else start + steps
