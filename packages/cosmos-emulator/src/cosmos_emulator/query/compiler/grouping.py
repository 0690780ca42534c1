"""GROUP BY and aggregates: each group becomes one frame."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cosmos_emulator.query import syntax
from cosmos_emulator.query.aggregates import AGGREGATES, Accumulator
from cosmos_emulator.query.compiler.expressions import ExpressionCompiler
from cosmos_emulator.query.compiler.scope import Context, Evaluator, Frame, Scope
from cosmos_emulator.query.errors import QueryError, query_error
from cosmos_emulator.query.features import is_aggregate
from cosmos_emulator.query.ordering import SortKey, sort_key
from cosmos_emulator.query.printer import printed
from cosmos_emulator.query.sizes import Memory
from cosmos_emulator.query.syntax import Expression, FunctionCall, Query
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, identity


@dataclass(slots=True)
class Grouping:
    """Groups frames by keys; implements `AggregateCalls`.

    Without keys, there is one group, even without rows.
    """

    compiler: ExpressionCompiler
    context: Context
    keys: list[Evaluator]
    key_slots: dict[Expression, int]
    """The slots of the keys' values in the frame of a group."""
    dropped: tuple[int, ...]
    """The slots of items, which a group does not keep."""
    is_top: bool
    """Whether the whole query is grouped, not a subquery. Its aggregates cannot have a subquery."""
    firsts: dict[Expression, int] = field(default_factory=dict)
    """The slots of expressions that have the value of the group's first row."""
    calls: dict[FunctionCall, int] = field(default_factory=dict)
    arguments: list[Evaluator] = field(default_factory=list)
    order: list[tuple[Evaluator, bool]] = field(default_factory=list)
    """What sorts the groups, each with whether it is descending."""

    def slot_for(self, call: FunctionCall) -> int:
        """Return the slot of an aggregate. Equal calls share a slot."""
        if call not in self.calls:
            self.arguments.append(self._argument(call))
            self.calls[call] = self.context.new_slot()
        return self.calls[call]

    def slot_of_key(self, node: Expression) -> int | None:
        """Return the slot of a GROUP BY expression, or of the first row's value; None for others."""
        return self.key_slots.get(node, self.firsts.get(node))

    def is_below_key(self, node: Expression) -> bool:
        """Return whether the path is a GROUP BY expression, or extends one."""
        return node in self.key_slots or _below_grouped(node, tuple(self.key_slots))

    def _argument(self, call: FunctionCall) -> Evaluator:
        for node in syntax.walk(call.arguments[0]):
            if is_aggregate(node) or (self.is_top and isinstance(node, syntax.Subquery)):
                message = "Cannot perform an aggregate function on an expression containing an aggregate or a subquery."
                raise query_error("SC2101", message, call.location)
        return self.compiler.compile(call.arguments[0])

    def groups(self, frames: Iterable[Frame], start: Frame, memory: Memory) -> Iterator[Frame]:
        """Yield one frame per group, with its keys and its aggregates."""
        factories = [AGGREGATES[call.name] for call in self.calls]
        # `start` serves if the only group has no rows.
        gathered: dict[Hashable, tuple[Frame, list[Accumulator]]] = {}
        if not self.keys:
            gathered[()] = (list(start), [factory(memory) for factory in factories])
        for frame in frames:
            values = [evaluate(frame) for evaluate in self.keys]
            key = tuple(map(identity, values))
            group = gathered.get(key)
            if group is None:
                group = gathered[key] = (self._kept(frame, values, memory), [factory(memory) for factory in factories])
            for accumulator, argument in zip(group[1], self.arguments, strict=True):
                accumulator.add(argument(frame))
        groups = list(gathered.values())
        for evaluate, descending in reversed(self.order):  # stable, so the last sort decides first
            groups.sort(key=_by(evaluate), reverse=descending)
        for frame, accumulators in groups:
            for slot, accumulator in zip(self.calls.values(), accumulators, strict=True):
                frame[slot] = accumulator.result()
            yield frame

    def _kept(self, frame: Frame, values: Sequence[JsonOrUndefined], memory: Memory) -> Frame:
        kept = list(frame)
        for node, slot in self.firsts.items():
            kept[slot] = self.compiler.compile(node)(frame)
        for slot in self.dropped:
            kept[slot] = UNDEFINED
        for slot, value in zip(self.key_slots.values(), values, strict=True):
            kept[slot] = value
        for value in values if self.dropped else kept:
            memory.keep(value)
        return kept


def _by(evaluate: Evaluator) -> Callable[[tuple[Frame, list[Accumulator]]], SortKey]:
    return lambda group: sort_key(evaluate(group[0]))


def compile_grouping(query: Query, context: Context, scope: Scope, compiler: ExpressionCompiler) -> Grouping:
    """Return the grouping of a query with GROUP BY or aggregates.

    Errors are `SELECT *` with GROUP BY (SC2041), and a selected property that is neither aggregated nor in GROUP BY
    (SC2102).
    """
    if isinstance(query.select, syntax.SelectStar):
        message = "'SELECT *' is not allowed with GROUP BY."
        context.add_error(query_error("SC2041", message, query.select.location))
    position = _position(query)
    for expression in syntax.selected(query.select):
        if expression != position:
            for error in ungrouped(expression, query.group_by, scope, "SC2102", "select list"):
                context.add_error(error)
    group_by = list(dict.fromkeys(query.group_by))
    # Paths of a subquery can begin at any alias.
    has_subquery = any(
        isinstance(node, syntax.Subquery) for one in syntax.selected(query.select) for node in syntax.walk(one)
    )
    return Grouping(
        compiler,
        context,
        [compiler.compile(key) for key in group_by],
        {key: context.new_slot() for key in group_by},
        () if has_subquery or not group_by else tuple(scope.slots.values()),
        scope.is_top,
        {} if position is None else {position: context.new_slot()},
    )


def _position(query: Query) -> Expression | None:
    """Return `_rid` in `SELECT c._rid, […] AS orderByItems, …`, the query with which clients merge ordered groups."""
    match query.select:
        case syntax.SelectList(
            items=(
                syntax.SelectItem(expression=syntax.Property(name="_rid") as rid),
                syntax.SelectItem(alias=alias),
                *_,
            )
        ) if query.group_by and alias == "orderByItems":
            return rid
    return None


def ungrouped(
    node: Expression, group_by: tuple[Expression, ...], scope: Scope, code: str, clause: str
) -> Iterator[QueryError]:
    """Yield an error for each property of an expression that is neither aggregated nor in GROUP BY."""
    if node in group_by or is_aggregate(node):
        return
    if not isinstance(node, syntax.Identifier | syntax.Property):
        for child in syntax.children(node):
            yield from ungrouped(child, group_by, scope, code, clause)
    elif not _below_grouped(node, group_by) and _is_local(node, scope):
        message = (
            f"Property reference '{printed(node)}' is invalid in the {clause} because it is not contained in "
            "either an aggregate function or the GROUP BY clause."
        )
        yield query_error(code, message, node.location)


def _is_local(node: Expression, scope: Scope) -> bool:
    while isinstance(node, syntax.Property | syntax.Index):
        node = node.target
    return isinstance(node, syntax.Identifier) and node.name in scope.slots


def _below_grouped(node: Expression, group_by: tuple[Expression, ...]) -> bool:
    """Return whether the path extends a GROUP BY expression, as `g.name` does with `GROUP BY g`."""
    while isinstance(node, syntax.Property | syntax.Index):
        node = node.target
        if node in group_by:
            return True
    return False
