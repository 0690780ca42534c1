"""Compiles expressions to closures; folds constants."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from cosmos_emulator.query import syntax
from cosmos_emulator.query.aggregates import AGGREGATES
from cosmos_emulator.query.compiler.calls import call_evaluator
from cosmos_emulator.query.compiler.comparisons import (
    COMPARISONS,
    comparison_test,
    membership,
    membership_test,
)
from cosmos_emulator.query.compiler.logic import between, coalesce, conditional, like, logical, logical_test
from cosmos_emulator.query.compiler.operators import BINARY, UNARY
from cosmos_emulator.query.compiler.paths import path_evaluator, slot_evaluator, step_evaluator
from cosmos_emulator.query.compiler.scope import Constant, Context, Evaluator, Frame, Scope, Test
from cosmos_emulator.query.errors import Location, QueryError, evaluation_error, not_supported, query_error
from cosmos_emulator.query.functions import FUNCTIONS, PLANAR_FUNCTIONS, SEARCH_FUNCTIONS, Evaluated, Function
from cosmos_emulator.query.functions.function import Call, check_arity
from cosmos_emulator.query.functions.regex import REGEX_FUNCTIONS
from cosmos_emulator.query.syntax import Expression
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined, finite

Rows = Callable[[Frame], Iterator[Json]]

# learn.microsoft.com/cosmos-db/query/tostring and stringtonumber; no result can contain them.
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf}


class AggregateCalls(Protocol):
    """Collects the aggregate calls of SELECT, and knows the values by which rows are grouped."""

    def slot_for(self, call: syntax.FunctionCall) -> int:
        """Return the slot of the call's result."""

    def slot_of_key(self, node: Expression) -> int | None:
        """Return the slot of a GROUP BY expression; None for others."""

    def is_below_key(self, node: Expression) -> bool:
        """Return whether the path is a GROUP BY expression, or extends one."""


class ExpressionCompiler:
    """Compiles the expressions of one query level.

    `subquery` compiles a nested query in this scope. If `aggregates` is None, aggregates are not allowed.
    """

    def __init__(
        self,
        context: Context,
        scope: Scope,
        subquery: Callable[[syntax.Query], Rows],
        aggregates: AggregateCalls | None = None,
    ) -> None:
        self._context = context
        self._scope = scope
        self._subquery = subquery
        self._aggregates = aggregates

    def with_aggregates(self, aggregates: AggregateCalls) -> ExpressionCompiler:
        """Return a compiler that allows aggregate functions."""
        return ExpressionCompiler(self._context, self._scope, self._subquery, aggregates)

    # Values

    def compile(self, node: Expression) -> Evaluator:
        """Return a closure from a frame to the value. Raises 400, or the context does at the end of `all_errors`."""
        try:
            if self._aggregates is not None and (slot := self._aggregates.slot_of_key(node)) is not None:
                return slot_evaluator(slot)
            match node:
                case syntax.Property():
                    return self._property(node)
                case syntax.Literal(value=value):
                    return Constant(value)
                case syntax.Parameter():
                    return Constant(self._context.parameter(node))
                case syntax.Identifier(name=name) if name in _NUMBERS and self._scope.slot_of(name) is None:
                    return Constant(_NUMBERS[name])
                case syntax.Identifier():
                    return slot_evaluator(self._scope.resolve(node))
                case syntax.Index(target=target, index=index):
                    of = self.compile(target)
                    literal = index.operand if isinstance(index, syntax.Unary) else index
                    if not isinstance(literal, syntax.Literal | syntax.Parameter):
                        raise not_supported("member indexer", node.location)
                    step = self.compile(index)
                    return _folded(step_evaluator(of, step), [of, step])
                case syntax.Unary():
                    return self._unary(node)
                case syntax.Binary():
                    return self._binary(node)
                case syntax.Logical(operator=operator, operands=operands):
                    parts = [self.compile(operand) for operand in operands]
                    return _folded(logical(operator, parts), parts)
                case syntax.FunctionCall():
                    return self._function(node)
                case syntax.UdfCall():
                    return self._udf(node)
                case syntax.Subquery():
                    return self._nested(node)
            return self._compound(node)
        except QueryError as error:
            self._context.add_error(error)
            return Constant(UNDEFINED)

    def projected(self, node: Expression) -> Evaluator:
        """Compile an expression of a result row; its values have JSON or are undefined."""
        evaluate = self.compile(node)
        if isinstance(evaluate, Constant):
            return Constant(finite(evaluate.value))
        if isinstance(node, syntax.Property | syntax.Identifier | syntax.Index):
            return evaluate
        return lambda frame: finite(evaluate(frame))

    def _compound(self, node: Expression) -> Evaluator:
        match node:
            case syntax.ArrayLiteral():
                return self._array(node)
            case syntax.ObjectLiteral():
                return self._object(node)
        parts = [self.compile(child) for child in syntax.children(node)]
        return _folded(_combined(node, parts), parts)

    def _property(self, node: syntax.Property) -> Evaluator:
        if self._aggregates is not None and self._aggregates.is_below_key(node.target):
            return step_evaluator(self.compile(node.target), Constant(node.name))
        names = [node.name]
        target = node.target
        while isinstance(target, syntax.Property):
            names.append(target.name)
            target = target.target
        names.reverse()
        if isinstance(target, syntax.Identifier):
            slot = self._scope.resolve(target)
            computed = self._context.computed_property(slot, names[0])
            if computed is None:
                return path_evaluator(slot, names)
            evaluate = computed
            del names[0]
        else:
            evaluate = self.compile(target)
        for name in names:
            evaluate = _folded(step_evaluator(evaluate, Constant(name)), [evaluate])
        return evaluate

    def _unary(self, node: syntax.Unary) -> Evaluator:
        apply, operand = UNARY[node.operator], self.compile(node.operand)
        return _folded(lambda frame: apply(operand(frame)), [operand])

    def _binary(self, node: syntax.Binary) -> Evaluator:
        apply = COMPARISONS.get(node.operator) or BINARY[node.operator]
        left, right = self.compile(node.left), self.compile(node.right)
        return _folded(lambda frame: apply(left(frame), right(frame)), [left, right])

    def _array(self, node: syntax.ArrayLiteral) -> Evaluator:
        elements = [self.projected(element) for element in node.elements]

        # Undefined elements are omitted.
        def evaluate(frame: Frame) -> JsonOrUndefined:
            values = (element(frame) for element in elements)
            return [value for value in values if value is not UNDEFINED]

        return _folded(evaluate, elements)

    def _object(self, node: syntax.ObjectLiteral) -> Evaluator:
        names = [name for name, _ in node.members]
        for name in {name: None for name in names if names.count(name) > 1}:
            self._context.add_error(repeated(name, node.location))
        members = [(name, self.projected(member)) for name, member in node.members]
        return _folded(object_evaluator(members), [member for _, member in members])

    def _function(self, node: syntax.FunctionCall) -> Evaluator:
        if node.name in AGGREGATES:
            if len(node.arguments) != 1:
                message = f"The {node.name} function requires 1 argument(s)."
                raise query_error("SC2050", message, node.location)
            if self._aggregates is None:
                raise not_supported(f"{node.name} outside of the SELECT list", node.location)
            return slot_evaluator(self._aggregates.slot_for(node))
        context = self._context
        arguments = [self.compile(argument) for argument in node.arguments]
        more = None if context.functions is None else context.functions.function(node, context.parameters)
        if more is not None:
            return call_evaluator(more, arguments)
        function = self._known(node)
        call = self._call(function)
        evaluate = call_evaluator(call, arguments)
        if function.evaluated is Evaluated.PER_ROW:
            return evaluate
        return _folded(evaluate, arguments)

    def _call(self, function: Function) -> Call:
        if function.name in REGEX_FUNCTIONS:
            return partial(REGEX_FUNCTIONS[function.name], self._context.regex)
        if self._context.is_planar and function.name in PLANAR_FUNCTIONS:
            return PLANAR_FUNCTIONS[function.name].call
        return partial(function.call, self._context.clock) if function.reads_clock else function.call

    def _known(self, node: syntax.FunctionCall) -> Function:
        function = FUNCTIONS.get(node.name)
        if function is None:
            reason = (
                "is a search function, which is not supported here"
                if node.name in SEARCH_FUNCTIONS and self._context.functions is None
                else "is not a recognized built-in function name"
            )
            start, name = node.location.start, node.written or node.name
            raise query_error("SC2005", f"'{name}' {reason}.", Location(start, start + len(name)))
        check_arity(function, node)
        return function

    def _udf(self, node: syntax.UdfCall) -> Evaluator:
        self._context.count_udf_call(node)
        call, name = self._context.udfs, node.name
        if call is None:
            raise not_supported(f"udf.{name}", node.location)
        arguments = [self.compile(argument) for argument in node.arguments]
        return lambda frame: call(name, [argument(frame) for argument in arguments])

    def _nested(self, node: syntax.Subquery) -> Evaluator:
        rows = self._subquery(node.query)
        match node.kind:
            case "EXISTS":
                return lambda frame: any(True for _ in rows(frame))
            case "ARRAY":
                return lambda frame: list(rows(frame))
            case "FIRST":
                return lambda frame: next(rows(frame), UNDEFINED)
            case "LAST":
                return lambda frame: next(iter(deque(rows(frame), maxlen=1)), UNDEFINED)
            case "SCALAR":
                return lambda frame: _single(rows(frame))

    # Tests

    def test(self, node: Expression) -> Test:
        """Compile a test for exactly true, as WHERE requires."""
        match node:
            case syntax.Logical(operator=operator, operands=operands):
                return logical_test(operator, [self.test(operand) for operand in operands])
            case syntax.Binary(operator=operator, left=left, right=right) if operator in COMPARISONS:
                return comparison_test(operator, self.compile(left), self.compile(right))
            case syntax.In(value=value, choices=choices):
                return membership_test(self.compile(value), [self.compile(choice) for choice in choices])
        evaluate = self.compile(node)
        return lambda frame: evaluate(frame) is True


def _combined(node: Expression, parts: list[Evaluator]) -> Evaluator:
    match node:
        case syntax.Coalesce():
            return coalesce(*parts)
        case syntax.Conditional():
            return conditional(*parts)
        case syntax.Between():
            return between(*parts)
        case syntax.In():
            return membership(parts[0], parts[1:])
        case syntax.Like(escape=escape):
            return like(parts[0], parts[1], escape)
    raise not_supported(type(node).__name__, node.location)


def object_evaluator(members: Sequence[tuple[str, Evaluator]]) -> Evaluator:
    """Compile an object of its defined members."""

    def evaluate(frame: Frame) -> JsonOrUndefined:
        row: dict[str, Json] = {}
        for name, member in members:
            value = member(frame)
            if value is not UNDEFINED:
                row[name] = value
        return row

    return evaluate


def repeated(name: str, location: Location) -> QueryError:
    """Return the error for a property that an object or row has twice."""
    return query_error("SC2022", f"Object creation error, property name '{name}' specified more than once.", location)


def _folded(evaluate: Evaluator, operands: Sequence[Evaluator]) -> Evaluator:
    if all(isinstance(operand, Constant) for operand in operands):
        return Constant(evaluate([]))
    return evaluate


def _single(rows: Iterator[Json]) -> JsonOrUndefined:
    value: JsonOrUndefined = next(rows, UNDEFINED)
    if value is not UNDEFINED and next(rows, UNDEFINED) is not UNDEFINED:
        raise evaluation_error("The cardinality of a scalar subquery result set cannot be greater than one.")
    return value
