"""What the compiler knows while it turns the tree into closures.

A compiled query runs on a *frame*: a list with one slot per input alias and aggregate, made once per run
and written over for every row. The item itself is always in slot 0. Closures read their slot; nothing is
looked up by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cosmos_emulator.query.errors import query_error
from cosmos_emulator.query.functions.regex import RegexMatcher
from cosmos_emulator.query.syntax import Identifier, Parameter, PathCollection, UdfCall
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined

Frame: TypeAlias = "list[JsonOrUndefined]"
Evaluator: TypeAlias = Callable[[Frame], JsonOrUndefined]
Test: TypeAlias = Callable[[Frame], bool]
Binder: TypeAlias = Callable[[Frame], Iterator[None]]
"""Fills the frame for one row after the other; yields once per row."""
UdfCaller: TypeAlias = Callable[[str, "list[JsonOrUndefined]"], JsonOrUndefined]

Checkpoint: TypeAlias = Callable[[], None]
"""Called now and then inside loops over arrays; raises to stop a query that takes too long."""

ITEM_SLOT = 0
MAX_UDF_CALLS = 10
MAX_JOINS = 10


@dataclass(frozen=True, slots=True)
class Constant:
    """An evaluator of a value that is known already: the compiler folds and specialises on it."""

    value: JsonOrUndefined

    def __call__(self, _frame: Frame) -> JsonOrUndefined:
        return self.value


@dataclass(slots=True)
class Scope:
    """The aliases that an expression can name, those of the enclosing queries included.

    `opens_container`: the first name of FROM stands for the item, whatever it is. So at the top level, and in a
    subquery that is the first source there.
    """

    parent: Scope | None = None
    slots: dict[str, int] = field(default_factory=dict)
    opens_container: bool = False

    def bind(self, alias: str, slot: int, source: Identifier | PathCollection) -> None:
        """Raises CosmosError 400 if this query has the alias already."""
        if alias in self.slots:
            message = f"The input alias '{alias}' is specified more than once in the FROM clause."
            raise query_error("SC2011", message, source.location)
        self.slots[alias] = slot

    def slot_of(self, name: str) -> int | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.slots:
                return scope.slots[name]
            scope = scope.parent
        return None

    def resolve(self, name: Identifier | PathCollection) -> int:
        """The slot of an alias. Raises CosmosError 400 (SC2001) for an unknown one."""
        slot = self.slot_of(name.name)
        if slot is None:
            raise query_error("SC2001", f"Identifier '{name.name}' could not be resolved.", name.location)
        return slot


@dataclass(slots=True)
class Context:
    """One compilation: the request's parameters and functions, and the slots and calls handed out so far."""

    parameters: Mapping[str, Json]
    udfs: UdfCaller | None = None
    checkpoint: Checkpoint | None = None
    frame_size: int = 1
    udf_calls: int = 0
    joins: int = 0
    regex_match: RegexMatcher = field(default_factory=RegexMatcher)  # its time limit is per query

    def new_slot(self) -> int:
        self.frame_size += 1
        return self.frame_size - 1

    def new_frame(self) -> Frame:
        return [UNDEFINED] * self.frame_size

    def parameter(self, node: Parameter) -> Json:
        """Raises CosmosError 400 for a parameter that the request does not declare."""
        if node.name not in self.parameters:
            raise query_error("SC2001", f"Parameter '{node.name}' is not declared.", node.location)
        return self.parameters[node.name]

    def count_udf_call(self, call: UdfCall) -> None:
        self.udf_calls += 1
        if self.udf_calls > MAX_UDF_CALLS:
            message = f"The query exceeds the maximum of {MAX_UDF_CALLS} calls of user-defined functions."
            raise query_error("SC3005", message, call.location)

    def count_join(self) -> None:
        self.joins += 1
        if self.joins > MAX_JOINS:
            raise query_error("SC3004", f"The query exceeds the maximum of {MAX_JOINS} JOINs.")
