"""What a query searches for: the order of its items, conditions on texts, and statistics.

Errors, unless noted: azure-cosmos test_query_vector_similarity.py and test_query_hybrid_search.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from cosmos_emulator.query import UNDEFINED, Dialect, ItemReader, Json, Query, has_aggregates, syntax
from cosmos_emulator.query.errors import Location, QueryError, evaluation_error, not_supported, query_error
from cosmos_emulator.query.syntax import Expression, FunctionCall
from cosmos_emulator.query.values import JsonOrUndefined, as_double, is_number
from cosmos_emulator.search.policies import DATA_TYPES, DISTANCE_FUNCTIONS, Embedding, Names, SearchPolicies
from cosmos_emulator.vocabulary.names import canonical

VECTOR_DISTANCE: Final = "VECTORDISTANCE"
RRF: Final = "RRF"
# The plan uses these; the .NET SDK has examples (QueryPlanRetrieverTests.cs).
PLANNED_VECTOR_SCORE: Final = "_VECTORSCORE"
PLANNED_TEXT_SCORE: Final = "_FULLTEXTSCORE"
WORD_COUNT: Final = "_FULLTEXTWORDCOUNT"
CONTAINS: Final = {"FULLTEXTCONTAINS": "ALL", "FULLTEXTCONTAINSALL": "ALL", "FULLTEXTCONTAINSANY": "ANY"}

_SCORES: Final = (VECTOR_DISTANCE, PLANNED_VECTOR_SCORE, PLANNED_TEXT_SCORE)
_MOST_TERMS: Final = 5
_WEIGHTS: Final = (
    "The last parameter of the RRF function is an optional array of weights. When present, it must be a literal array "
    "of numbers, one for each of the component scores used for the RRF function. The length of this array must be the "
    "same as the number of the component scores."
)
_MOST_MULTIPLIER: Final = 100
_NOT_BOOLEAN: Final = (
    "The third argument provided in the VectorDistance function is invalid. This value must be a boolean value set to "
    'either "true" to execute an exact search or "false" to execute an efficient search leveraging the index.'
)
_OPTIONS: Final = {
    "distanceFunction",
    "dataType",
    "searchListSizeMultiplier",
    "quantizedVectorListMultiplier",
    "filterPriority",
}


class Phrase(NamedTuple):
    """A phrase that is searched for in the texts at a path."""

    path: Names
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """The number of texts at a path, of their terms, and of the texts with each phrase."""

    documents: float
    words: float
    hits: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TextScore:
    """BM25 of phrases at one path; without `statistics`, with the statistics of the items that the query reads."""

    phrases: tuple[Phrase, ...]
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class VectorScore:
    """The nearness of the vectors at a path to `vector`, which is empty if the query has none."""

    path: Names
    embedding: Embedding
    vector: tuple[float, ...]


Score: TypeAlias = TextScore | VectorScore


@dataclass(frozen=True, slots=True)
class Component:
    """One score of an order; a negative weight puts low scores first. `call` is as in the query."""

    call: FunctionCall
    score: Score
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """The order of items: by the only score, or by the fused ranks of several (RRF)."""

    components: tuple[Component, ...]
    is_fused: bool = False
    is_weighted: bool = False


@dataclass(frozen=True, slots=True)
class Conditions:
    """Several conditions, of which `ALL` or `ANY` must hold."""

    needs: str
    parts: tuple[Condition, ...]


Condition: TypeAlias = Phrase | Conditions


@dataclass(frozen=True, slots=True)
class Search:
    """What a query searches for; `condition` holds for every match. The result can be `statistics`, by path."""

    order: Order | None = None
    condition: Condition | None = None
    statistics: tuple[tuple[Phrase, ...], ...] | None = None


def search_of(
    query: Query, parameters: Mapping[str, Json], dialect: Dialect, policies: SearchPolicies
) -> Search | None:
    """Return what a query searches for; None if it searches for nothing. Raises 400."""
    reader = _Reader(query, parameters, dialect, policies)
    order = reader.order()
    condition = None if query.where is None else reader.condition(query.where)
    statistics = reader.statistics()
    if order is None and condition is None and statistics is None:
        return None
    return Search(order, condition, statistics)


def without_order(query: Query) -> Query:
    """Return a query that keeps the order of the items that it reads."""
    return replace(query, order_by=(), rank=False)


def path_of(node: Expression, parameters: Mapping[str, Json]) -> tuple[Expression, Names]:
    """Return the start of a path, such as an alias, and the names after it.

    LangChain uses `c[@name]`, and LINQ `{"a": c.t}["a"]` after a Select.
    """
    names: list[str] = []
    while True:
        match node:
            case syntax.Property(target=syntax.ObjectLiteral(members=members), name=name) if name in dict(members):
                target = dict(members)[name]
            case syntax.Property(target=target, name=name):
                names.append(name)
            case syntax.Index(target=target, index=syntax.Parameter(name=parameter)) if isinstance(
                value := parameters.get(parameter), str
            ):
                names.append(value)
            case _:
                return node, tuple(reversed(names))
        node = target


def embedding_of(path: Names, options: JsonOrUndefined, policies: SearchPolicies) -> Embedding:
    """Return the policy of a path with the options of a VectorDistance call. Raises 400."""
    embedding = policies.embeddings.get(path, Embedding())
    if options is UNDEFINED:
        return embedding
    unknown = None if type(options) is not dict else options.keys() - _OPTIONS
    if unknown or type(options) is not dict:
        raise evaluation_error(f"The options of VectorDistance can be {', '.join(sorted(_OPTIONS))}.")
    return replace(
        embedding,
        distance=_option(options, "distanceFunction", DISTANCE_FUNCTIONS, embedding.distance),
        data_type=_option(options, "dataType", DATA_TYPES, embedding.data_type),
    )


def check_vector_arguments(call: FunctionCall) -> None:
    """Raise 400 if the third argument of VectorDistance is not a boolean, or a literal option is invalid."""
    exact = call.arguments[2] if len(call.arguments) > 2 else syntax.Literal(True)
    if not isinstance(exact, syntax.Parameter) and not (
        isinstance(exact, syntax.Literal) and type(exact.value) is bool
    ):
        raise query_error("SC2212", _NOT_BOOLEAN, exact.location)
    options = call.arguments[3] if len(call.arguments) > 3 else None
    for name, member in options.members if isinstance(options, syntax.ObjectLiteral) else ():
        value = _literal(member)
        if value is UNDEFINED:
            continue
        choices = {"distanceFunction": DISTANCE_FUNCTIONS, "dataType": DATA_TYPES}.get(name)
        if choices is not None and (not isinstance(value, str) or canonical(value, choices) is None):
            message = (
                f"VectorDistance function options argument property value '{value}' is not a valid value for option "
                f"'{name}'."
            )
            raise query_error("SC2210", message, member.location)
        if name == "searchListSizeMultiplier" and not (is_number(value) and 1 <= value <= _MOST_MULTIPLIER):
            message = (
                f"The '{name}' value {value} specified in the VectorDistance function is outside the supported range. "
                f"The value must be between 1 and {_MOST_MULTIPLIER}."
            )
            raise query_error("SC2213", message, member.location)


def _literal(node: Expression) -> JsonOrUndefined:
    match node:
        case syntax.Literal(value=value):
            return value
        case syntax.Unary(operator="-", operand=syntax.Literal(value=int() | float() as value)):
            return -value
    return UNDEFINED


def _option(options: Mapping[str, Json], name: str, choices: tuple[str, ...], default: str) -> str:
    choice = canonical(options.get(name, default), choices)
    if choice is None:
        raise evaluation_error(f"The option {name} of VectorDistance must be {', '.join(choices)}.")
    return choice


def refuse_fuzzy(term: JsonOrUndefined) -> None:
    """Raise 400 for the term of a fuzzy search, `{"term", "distance"}`, a preview of the service."""
    if type(term) is dict:
        raise not_supported("fuzzy search")


class _Reader:
    """Reads the search functions of a query."""

    def __init__(
        self, query: Query, parameters: Mapping[str, Json], dialect: Dialect, policies: SearchPolicies
    ) -> None:
        self._query = query
        self._parameters = parameters
        self._computed = dialect.computed
        self._policies = policies
        self._items = ItemReader(query, parameters)

    # Order

    def order(self) -> Order | None:
        query = self._query
        if query.rank:
            return self._ranked()
        call = query.order_by[0].expression if query.order_by else None
        if not isinstance(call, FunctionCall) or call.name not in _SCORES:
            return None
        if len(query.order_by) > 1:
            raise not_supported(f"ORDER BY {call.written or call.name} with other items", call.location)
        if query.group_by or has_aggregates(query):
            raise not_supported(f"ORDER BY {call.written or call.name} with groups or aggregates", call.location)
        direction = query.order_by[0].direction
        if call.name == VECTOR_DISTANCE and direction:
            message = "Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported."
            raise evaluation_error(message)
        return Order((Component(call, self._score(call), -1.0 if direction == "ASC" else 1.0),))

    def _ranked(self) -> Order:
        """Read ORDER BY RANK. Raises 400 with all errors, in the order of the planner."""
        query, (item,) = self._query, self._query.order_by
        errors = [query_error(*error) for error in _forbidden(query)]
        try:
            order = self._rank(item.expression)
        except QueryError as error:
            errors.append(error)
        if has_aggregates(query):
            errors.append(query_error("SC2226", "Aggregate functions are not allowed with the ORDER BY RANK clause."))
        if query.distinct:
            errors.append(query_error("SC2220", "The DISTINCT keyword is not allowed with the ORDER BY RANK clause."))
        if errors:
            raise QueryError([one for error in errors for one in error.errors])
        self._check_terms(order)
        return order

    def _rank(self, call: Expression) -> Order:
        if not isinstance(call, FunctionCall):
            raise _not_a_score(call)
        if call.name != RRF:
            return Order((Component(call, self._score(call)),))
        arguments, weights = list(call.arguments), list[float]()
        if arguments and isinstance(arguments[-1], syntax.ArrayLiteral | syntax.Parameter):
            value = self._items.constant(arguments.pop())
            weights = [as_double(one) for one in value if is_number(one)] if type(value) is list else []
            if len(weights) != len(arguments) or type(value) is not list or len(value) != len(weights):
                raise query_error("SC2229", _WEIGHTS, call.location)
        if len(arguments) < 2:
            message = "A score fusion function requires at least two component score functions."
            raise query_error("SC2233", message, call.location)
        parts = []
        for number, part in enumerate(arguments):
            if not isinstance(part, FunctionCall):
                raise _not_a_score(part)
            parts.append(Component(part, self._score(part), weights[number] if weights else 1.0))
        return Order(tuple(parts), is_fused=True, is_weighted=bool(weights))

    def _check_terms(self, order: Order) -> None:
        """Raise 400 if a score has too many phrases (queryMaxFullTextScoreSearchTerms of the account)."""
        if any(isinstance(one.score, TextScore) and len(one.score.phrases) > _MOST_TERMS for one in order.components):
            message = (
                "The SQL query exceeded the maximum number of search terms supplied to 'FullTextScore' function call. "
                f"The allowed limit is {_MOST_TERMS}."
            )
            raise query_error("SC3032", message, self._query.location)

    def _score(self, call: FunctionCall) -> Score:
        match call.name:
            case "VECTORDISTANCE" | "_VECTORSCORE":
                return self._vector_score(call)
            case "FULLTEXTSCORE":
                texts = self._texts(call)
                return TextScore(self._at(self._path(call), texts))
            case "_FULLTEXTSCORE":
                return self._planned_text_score(call)
            case "RRF":
                raise query_error(
                    "SC2005", f"'{call.written}' is not a recognized built-in function name.", call.location
                )
        raise _not_a_score(call)

    def _vector_score(self, call: FunctionCall) -> VectorScore:
        if not 2 <= len(call.arguments) <= 4:
            raise query_error("SC2050", "The VECTORDISTANCE function requires 2 to 4 argument(s).", call.location)
        if call.name == VECTOR_DISTANCE:
            check_vector_arguments(call)
        one, other, *rest = call.arguments
        path, constant = self._item_path(one), self._items.constant(other)
        if path is None:
            path, constant = self._item_path(other), self._items.constant(one)
        if path is None or constant is UNDEFINED:
            raise not_supported(
                f"ORDER BY {call.written or call.name} of other values than a path of the item and a constant",
                call.location,
            )
        options = self._items.constant(rest[1]) if len(rest) > 1 else UNDEFINED
        numbers = [as_double(one) for one in constant if is_number(one)] if type(constant) is list else []
        is_vector = type(constant) is list and len(numbers) == len(constant)
        return VectorScore(path, embedding_of(path, options, self._policies), tuple(numbers) if is_vector else ())

    def _planned_text_score(self, call: FunctionCall) -> TextScore:
        path = self._path(call)
        values = [self._items.constant(argument) for argument in call.arguments[1:]]
        match values:
            case [[*phrases], int() | float() as documents, int() | float() as words, [*hits]] if (
                all(isinstance(one, str) for one in phrases)
                and all(is_number(one) for one in hits)
                and len(phrases) == len(hits)
            ):
                statistics = Statistics(documents, words, tuple(as_double(one) for one in hits if is_number(one)))
                return TextScore(self._at(path, map(str, phrases)), statistics)
        raise query_error("SC2050", f"The arguments of {call.written} are not in the query plan.", call.location)

    # Conditions

    def condition(self, node: Expression) -> Condition | None:
        """Return a condition that holds wherever the expression is true, or None."""
        match node:
            case syntax.Logical(operator="AND", operands=operands):
                found = tuple(one for operand in operands if (one := self.condition(operand)) is not None)
                return Conditions("ALL", found) if found else None
            case syntax.Logical(operands=operands):
                parts = [self.condition(operand) for operand in operands]
                known = tuple(one for one in parts if one is not None)
                return Conditions("ANY", known) if len(known) == len(parts) else None
            case FunctionCall(name=name) if name in CONTAINS:
                path = self._item_path(node.arguments[0]) if node.arguments else None
                values = [self._items.constant(argument) for argument in node.arguments[1:]]
                texts = [value for value in values if isinstance(value, str)]
                if path and texts and len(texts) == len(values):
                    return Conditions(CONTAINS[name], self._at(path, texts))
        return None

    # Statistics

    def statistics(self) -> tuple[tuple[Phrase, ...], ...] | None:
        """Recognize the `globalStatisticsQuery` of a plan."""
        select = self._query.select
        items = select.items if isinstance(select, syntax.SelectList) else ()
        if [item.alias for item in items] != ["documentCount", "fullTextStatistics"] or self._query.where is not None:
            return None
        parts = syntax.children(items[1].expression)
        found = tuple(phrases for part in parts if (phrases := self._counted(part)))
        return found if found and len(found) == len(parts) else None

    def _counted(self, node: Expression) -> tuple[Phrase, ...]:
        """Return the phrases that an element of the statistics counts, all at one path; none for another element."""
        calls = [part for part in syntax.walk(node) if isinstance(part, FunctionCall)]
        paths = {self._item_path(call.arguments[0]) for call in calls if call.name in (WORD_COUNT, *CONTAINS)}
        conditions = [self.condition(call) for call in calls if call.name in CONTAINS]
        found = [part for one in conditions if isinstance(one, Conditions) for part in one.parts]
        phrases = tuple(part for part in found if isinstance(part, Phrase))
        return phrases if len(paths) == 1 and len(phrases) == len(conditions) else ()

    # Arguments

    def _item_path(self, node: Expression) -> Names | None:
        start, names = path_of(node, self._parameters)
        is_item = isinstance(start, syntax.Identifier) and start.name == self._items.alias
        return names if is_item and names and names[0] not in self._computed else None

    def _path(self, call: FunctionCall) -> Names:
        path = self._item_path(call.arguments[0]) if call.arguments else None
        if path is None:
            raise not_supported(f"{call.written or call.name} of another value than a path of the item", call.location)
        return path

    def _at(self, path: Names, texts: Iterable[str]) -> tuple[Phrase, ...]:
        return tuple(Phrase(path, self._policies.language(path), text) for text in texts)

    def _texts(self, call: FunctionCall) -> list[str]:
        """Return the phrases of FullTextScore. An array is an error (ikvmnet/calcite-cosmos: measured)."""
        if len(call.arguments) < 2:
            message = f"The {call.written} function requires at least 2 argument(s)."
            raise query_error("SC2050", message, call.location)
        values = [self._items.constant(argument) for argument in call.arguments[1:]]
        for value in values:
            refuse_fuzzy(value)
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) < len(values):
            raise query_error("SC2241", "The FullTextScore function requires a path and strings.", call.location)
        return texts


def _forbidden(query: Query) -> Iterator[tuple[str, str, Location]]:
    """Yield an error for each clause that ORDER BY RANK does not allow, from FROM to ORDER BY."""
    if len(query.sources) > 1:
        yield "SC2224", "The JOIN operator is not allowed with the ORDER BY RANK clause.", query.sources[0].location
    for source in query.sources:
        if source.iterate:
            message = "The FROM clause with the IN operator is not allowed with the ORDER BY RANK clause."
            yield "SC2223", message, source.location
    if query.group_by:
        message = "The GROUP BY clause is not allowed with the ORDER BY RANK clause."
        yield "SC2227", message, query.group_by[0].location
    if query.order_by[0].direction:
        message = "Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not allowed."
        yield "SC2222", message, query.order_by[0].location


def _not_a_score(node: Expression) -> QueryError:
    message = "The ORDER BY RANK clause must be followed by a VectorDistance and/or a FullTextScore function call."
    return query_error("SC2221", message, node.location)
