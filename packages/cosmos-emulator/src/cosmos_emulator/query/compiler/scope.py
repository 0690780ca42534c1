"""The state of a compilation.

A compiled query runs on a *frame*: a list with a slot per input alias and aggregate, allocated once per run and
overwritten for every row. Slot 0 is the item.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from cosmos_emulator.query.errors import Location, QueryError, query_error, together
from cosmos_emulator.query.functions.regex import RegexFunctions
from cosmos_emulator.query.syntax import Identifier, MoreFunctions, Parameter, PathCollection, UdfCall
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined

Frame: TypeAlias = "list[JsonOrUndefined]"
Evaluator: TypeAlias = Callable[[Frame], JsonOrUndefined]
Test: TypeAlias = Callable[[Frame], bool]
Binder: TypeAlias = Callable[[Frame], Iterator[None]]
"""Fills the frame for each row in turn and yields once per row."""
UdfCaller: TypeAlias = Callable[[str, "list[JsonOrUndefined]"], JsonOrUndefined]

ITEM_SLOT = 0
MAX_UDF_CALLS = 10
MAX_JOINS = 10


@dataclass(frozen=True, slots=True)
class Constant:
    """An evaluator with a known value, for folding and specialization."""

    value: JsonOrUndefined

    def __call__(self, _frame: Frame) -> JsonOrUndefined:
        """Return the value."""
        return self.value


@dataclass(slots=True)
class Scope:
    """The aliases visible to an expression, including aliases of enclosing queries.

    If `opens_container` (the top level, or a subquery that is its first source), any first name in FROM is the item.
    """

    parent: Scope | None = None
    slots: dict[str, int] = field(default_factory=dict)
    opens_container: bool = False

    @property
    def is_top(self) -> bool:
        """Whether this is the scope of the whole query."""
        return self.parent is None

    def bind(self, alias: str, slot: int, source: Identifier | PathCollection) -> None:
        """Bind an alias to a slot. Raises 400 for a duplicate in this query."""
        if alias in self.slots:
            message = f"The input alias '{alias}' is specified more than once in the FROM clause."
            raise query_error("SC2011", message, source.location)
        self.slots[alias] = slot

    def slot_of(self, name: str) -> int | None:
        """Return the slot of an alias, if known."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.slots:
                return scope.slots[name]
            scope = scope.parent
        return None

    def resolve(self, name: Identifier | PathCollection) -> int:
        """Return the slot of an alias. Raises 400 (SC2001) if unknown."""
        slot = self.slot_of(name.name)
        if slot is None:
            raise query_error("SC2001", f"Identifier '{name.name}' could not be resolved.", name.location)
        return slot


@dataclass(slots=True)
class Context:
    """One compilation: parameters, functions, slots, counts and the dialect."""

    parameters: Mapping[str, Json]
    udfs: UdfCaller | None = None
    frame_size: int = 1
    udf_calls: int = 0
    joins: int = 0
    positions: list[int] = field(default_factory=list)  # slots with the indexes of the top level's current row
    computed: Mapping[str, Evaluator] = field(default_factory=dict)
    is_planar: bool = False
    functions: MoreFunctions | None = None
    clock: Callable[[], float] = time.time
    _regex: RegexFunctions | None = None
    _errors: list[QueryError] | None = None

    @contextmanager
    def all_errors(self, select: Location) -> Iterator[None]:
        """Collect the errors of the expressions that are compiled in this block, and raise them together.

        The errors of `select` come last.
        """
        self._errors = []
        try:
            yield
        except QueryError as error:
            self._errors.append(error)
        if self._errors:
            raise together(self._errors, select)

    @property
    def regex(self) -> RegexFunctions:
        """The functions with regular expressions, with one time limit per query."""
        if self._regex is None:
            self._regex = RegexFunctions()
        return self._regex

    @property
    def has_errors(self) -> bool:
        """Whether there are collected errors."""
        return bool(self._errors)

    def add_error(self, error: QueryError) -> None:
        """Collect an error of an expression, or raise it outside of `all_errors`."""
        if self._errors is None:
            raise error
        self._errors.append(error)

    def new_slot(self) -> int:
        """Allocate a slot."""
        self.frame_size += 1
        return self.frame_size - 1

    def new_frame(self) -> Frame:
        """Return an empty frame for one run."""
        frame: Frame = [UNDEFINED] * self.frame_size
        for slot in self.positions:
            frame[slot] = 0
        return frame

    def computed_property(self, slot: int, name: str | int) -> Evaluator | None:
        """Return the computed property of this name if the slot is the item's."""
        return self.computed.get(str(name)) if slot == ITEM_SLOT else None

    def parameter(self, node: Parameter) -> Json:
        """Return a parameter's value. Raises 400 if it is not declared."""
        if node.name not in self.parameters:
            raise query_error("SC2001", f"Parameter '{node.name}' is not declared.", node.location)
        return self.parameters[node.name]

    def count_udf_call(self, call: UdfCall) -> None:
        """Count a UDF call. Raises 400 if there are too many."""
        self.udf_calls += 1
        if self.udf_calls > MAX_UDF_CALLS:
            message = f"The query exceeds the maximum of {MAX_UDF_CALLS} calls of user-defined functions."
            raise query_error("SC3005", message, call.location)

    def count_join(self) -> None:
        """Count a JOIN. Raises 400 if there are too many."""
        self.joins += 1
        if self.joins > MAX_JOINS:
            raise query_error("SC3004", f"The query exceeds the maximum of {MAX_JOINS} JOINs.")
