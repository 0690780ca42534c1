"""Compiles one query level: FROM, WHERE, SELECT and groups.

A subquery starts from a frame that its enclosing query has filled.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

from cosmos_emulator.query import syntax
from cosmos_emulator.query.compiler.expressions import ExpressionCompiler, object_evaluator, repeated
from cosmos_emulator.query.compiler.grouping import Grouping, compile_grouping
from cosmos_emulator.query.compiler.scope import Binder, Context, Evaluator, Frame, Scope, Test
from cosmos_emulator.query.compiler.sources import compile_sources
from cosmos_emulator.query.errors import not_supported, query_error
from cosmos_emulator.query.features import has_aggregates
from cosmos_emulator.query.sizes import Memory, check_row
from cosmos_emulator.query.syntax import Dialect, Query
from cosmos_emulator.query.values import UNDEFINED, Json, identity

MAX_UNMEASURED_NODES = 200
"""Rows are measured if SELECT has more expressions than this or FROM has a subquery."""


@dataclass(frozen=True, slots=True)
class Selection:
    """`bind` fills the frame row by row (None: one unchanged row); `test` is WHERE; `project` is SELECT."""

    compiler: ExpressionCompiler
    bind: Binder | None
    test: Test | None
    grouping: Grouping | None
    project: Evaluator
    may_grow: bool
    """Whether rows must be measured because they can be much larger than the item."""

    def matches(self, frame: Frame) -> Iterator[Frame]:
        """Yield the overwritten frame for each row that WHERE accepts."""
        test = self.test
        if self.bind is None:
            if test is None or test(frame):
                yield frame
            return
        for _ in self.bind(frame):
            if test is None or test(frame):
                yield frame

    def rows(self, frame: Frame) -> Iterator[Json]:
        """Return the rows for one filled frame."""
        return self.projected(self.matches(frame), frame)

    def projected(self, matches: Iterable[Frame], start: Frame, memory: Memory | None = None) -> Iterator[Json]:
        """Return the defined result rows, grouped if the query has groups, which `memory` counts."""
        project = self.project
        frames = matches if self.grouping is None else self.grouping.groups(matches, start, memory or Memory())
        for frame in frames:
            value = project(frame)
            if value is not UNDEFINED:
                self.measure(value)
                yield value

    def measure(self, row: Json) -> None:
        """Raise 400 if the row is too large."""
        if self.may_grow:
            check_row(row)


def compile_selection(query: Query, context: Context, scope: Scope) -> Selection:
    """Compile a query and bind its aliases in `scope`. Raises 400."""

    def source(nested: Query, opens_container: bool) -> Callable[[Frame], Iterator[Json]]:
        return _compile_subquery(nested, context, Scope(scope, opens_container=opens_container))

    def subquery(nested: Query) -> Callable[[Frame], Iterator[Json]]:
        return _compile_subquery(nested, context, Scope(scope))

    bind = compile_sources(query.sources, context, scope, source)
    compiler = ExpressionCompiler(context, scope, subquery)
    test = None if query.where is None else compiler.test(query.where)
    has_groups = query.group_by or has_aggregates(query)
    grouping = compile_grouping(query, context, scope, compiler) if has_groups else None
    project = _projection(query, compiler if grouping is None else compiler.with_aggregates(grouping))
    return Selection(compiler, bind, test, grouping, project, _may_grow(query))


def set_dialect(dialect: Dialect, context: Context) -> None:
    """Apply a dialect to a compilation. Computed properties cannot use each other."""
    context.is_planar, context.functions = dialect.is_planar, dialect.functions
    if not dialect.computed:
        return
    own = Context({}, _regex=context.regex)
    context.computed = {
        name: compile_selection(query, own, Scope(opens_container=True)).project
        for name, query in dialect.computed.items()
    }


def _compile_subquery(query: Query, context: Context, scope: Scope) -> Callable[[Frame], Iterator[Json]]:
    selection = compile_selection(query, context, scope)

    def rows(frame: Frame) -> Iterator[Json]:
        values = selection.rows(frame)
        return distinct_rows(values, Memory()) if query.distinct else values

    return rows


def _may_grow(query: Query) -> bool:
    """Return whether SELECT, or a nested query, can multiply its inputs."""
    if any(isinstance(source.collection, syntax.SubqueryCollection) for source in query.sources):
        return True
    nodes = sum(1 for expression in syntax.selected(query.select) for _ in syntax.walk(expression))
    return nodes > MAX_UNMEASURED_NODES


def _projection(query: Query, compiler: ExpressionCompiler) -> Evaluator:
    match query.select:
        case syntax.SelectStar():
            return _star(query, compiler)
        case syntax.SelectValue(expression=expression):
            return compiler.projected(expression)
        case syntax.SelectList():
            return _list(query.select, compiler)


def _star(query: Query, compiler: ExpressionCompiler) -> Evaluator:
    if len(query.sources) != 1:
        message = "'SELECT *' is only valid with a single input set."
        raise query_error("SC2040", message, query.select.location)
    source = query.sources[0]
    collection = source.collection
    alias = source.alias
    if alias is None and isinstance(collection, syntax.PathCollection):
        last = collection.path[-1] if collection.path else collection.name
        alias = last if isinstance(last, str) else None
    if alias is None:
        raise not_supported("SELECT * from an input without alias", source.location)
    return compiler.compile(syntax.Identifier(alias, location=query.select.location))


def _list(select: syntax.SelectList, compiler: ExpressionCompiler) -> Evaluator:
    members: dict[str, Evaluator] = {}
    for name, item in select.named():
        if name in members:
            raise repeated(name, item.location)
        members[name] = compiler.projected(item.expression)
    return object_evaluator(list(members.items()))


def distinct_rows(rows: Iterable[Json], memory: Memory) -> Iterator[Json]:
    """Yield the first of each set of equal rows. Raises 400 if they are too many."""
    seen: set[Hashable] = set()
    for row in rows:
        key = identity(row)
        if key not in seen:
            memory.keep(row)
            seen.add(key)
            yield row
