"""Converts tokens to the syntax tree: recursive descent for clauses, precedence climbing for expressions.

The whole grammar, one method per rule. Precedence, tightest first (learn.microsoft.com/azure/cosmos-db/nosql/query/ and
the .NET SDK's sql.g4): member access; unary `-`, `+`, `~` and NOT; `* / %`; `+ -`; `||`; shifts; `&`, `^`, `|`;
comparisons, IN, BETWEEN, LIKE; AND; OR; `??`; `? :`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal as OneOf
from typing import TypeVar

from cosmos_emulator.query import syntax
from cosmos_emulator.query.errors import Location, not_supported, query_error, syntax_error
from cosmos_emulator.query.lexer import Kind, Token, tokenize
from cosmos_emulator.query.syntax import Expression, Query
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined

MAX_NESTING = 100
"""Maximum nesting of parentheses, literals, subqueries and chained operators."""

# A tree needs up to 80 bytes per character, so the caches hold 40 MB at most, and 1 MB of usual queries.
_SHORT = 512
_LONG = 8192

_CONDITIONAL, _COALESCE, _OR, _AND, _COMPARISON = 1, 2, 3, 4, 5
_BINARY_POWER = {
    **dict.fromkeys(("=", "!=", "<>", "<", "<=", ">", ">="), _COMPARISON),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys(("<<", ">>", ">>>"), 9),
    "||": 10,
    **dict.fromkeys(("+", "-"), 11),
    **dict.fromkeys(("*", "/", "%"), 12),
}
_POSTFIX_TESTS = ("IN", "BETWEEN", "LIKE", "NOT")
_CONSTANTS: dict[str, JsonOrUndefined] = {"TRUE": True, "FALSE": False, "NULL": None, "UNDEFINED": UNDEFINED}
# FIRST and LAST are in microsoft/vscode-cosmosdb, skills/cosmosdb-nosql-query-generation.
_SUBQUERIES: dict[str, syntax.SubqueryKind] = {"FIRST": "FIRST", "LAST": "LAST"}

T = TypeVar("T")


def parse(text: str) -> Query:
    """Return the syntax tree of a query. Raises 400 (SC1001)."""
    if len(text) <= _SHORT:
        return _short_query(text)
    return _long_query(text) if len(text) <= _LONG else _parsed(text, _Parser.query)


def parse_condition(text: str) -> Query:
    """Return a patch condition, `FROM c WHERE …`, as a query."""
    return _condition(text) if len(text) <= _SHORT else _parsed(text, _Parser.condition)


@lru_cache(maxsize=512)
def _short_query(text: str) -> Query:
    return _parsed(text, _Parser.query)


@lru_cache(maxsize=16)
def _long_query(text: str) -> Query:
    return _parsed(text, _Parser.query)


@lru_cache(maxsize=128)
def _condition(text: str) -> Query:
    return _parsed(text, _Parser.condition)


def _parsed(text: str, rule: Callable[[_Parser], Query]) -> Query:
    parser = _Parser(tokenize(text))
    query = rule(parser)
    parser.expect_end()
    return query


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._nesting = 0

    # Tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    @property
    def _following(self) -> Token:
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def _advance(self) -> Token:
        token = self._tokens[self._position]
        self._position += token.kind is not Kind.END
        return token

    def _at(self, kind: Kind, *texts: str) -> bool:
        token = self._tokens[self._position]
        return token.kind is kind and token.text in texts

    def _take(self, kind: Kind, text: str) -> bool:
        if self._at(kind, text):
            self._position += 1
            return True
        return False

    def _keyword(self, word: str) -> bool:
        return self._take(Kind.KEYWORD, word)

    def _operator(self, text: str) -> bool:
        return self._take(Kind.OPERATOR, text)

    def _expect_keyword(self, word: str) -> None:
        if not self._keyword(word):
            raise self._unexpected()

    def _expect(self, text: str) -> None:
        if not self._operator(text):
            raise self._unexpected()

    def expect_end(self) -> None:
        if self._next.kind is not Kind.END:
            raise self._unexpected()

    def _unexpected(self) -> Exception:
        token = self._next
        return syntax_error(str(token.value) if token.kind is Kind.KEYWORD else token.text, token.location)

    def _since(self, start: Token) -> Location:
        return Location(start.location.start, self._tokens[max(self._position - 1, 0)].location.end)

    def _from(self, left: Expression) -> Location:
        return Location(left.location.start, self._tokens[self._position - 1].location.end)

    def _name(self) -> str:
        if self._next.kind is not Kind.IDENTIFIER:
            raise self._unexpected()
        return self._advance().text

    def _list(self, item: Callable[[], T]) -> tuple[T, ...]:
        items = [item()]
        while self._operator(","):
            items.append(item())
        return tuple(items)

    def _list_until(self, closing: str, item: Callable[[], T]) -> tuple[T, ...]:
        if self._operator(closing):
            return ()
        items = self._list(item)
        self._expect(closing)
        return items

    def _deeper(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            message = f"The query exceeds the maximum nesting depth of {MAX_NESTING}."
            raise query_error("SC3002", message, self._next.location)

    # Clauses

    def query(self) -> Query:
        start = self._next
        self._expect_keyword("SELECT")
        distinct = self._keyword("DISTINCT")
        top = self._count("SC2060", "TOP clause") if self._keyword("TOP") else None
        select = self._selection()
        sources = self._sources() if self._keyword("FROM") else ()
        where = self._expression() if self._keyword("WHERE") else None
        group_by = self._group_by() if self._keyword("GROUP") else ()
        rank, order_by = self._order_by() if self._keyword("ORDER") else (False, ())
        offset, limit = self._offset_limit() if self._keyword("OFFSET") else (None, None)
        return Query(
            select,
            distinct,
            top,
            sources,
            where,
            group_by,
            order_by,
            offset,
            limit,
            rank,
            location=self._since(start),
        )

    def condition(self) -> Query:
        start = self._next
        self._expect_keyword("FROM")
        sources = self._sources()
        where = self._expression() if self._keyword("WHERE") else None
        select = syntax.SelectValue(syntax.Literal(True))
        return Query(select, sources=sources, where=where, location=self._since(start))

    def _selection(self) -> syntax.Selection:
        start = self._next
        if self._operator("*"):
            if self._next.kind is Kind.END:
                message = "Syntax error, 'SELECT *' is not valid if FROM clause is omitted."
                raise query_error("SC1021", message, start.location)
            return syntax.SelectStar(location=start.location)
        if self._keyword("VALUE"):
            return syntax.SelectValue(self._expression(), location=self._since(start))
        return syntax.SelectList(self._list(self._select_item), location=self._since(start))

    def _select_item(self) -> syntax.SelectItem:
        start = self._next
        expression = self._expression()
        alias: str | None
        if self._at(Kind.KEYWORD, "AS") and self._following.kind is Kind.STRING:
            self._advance()
            alias = str(self._advance().value)
        else:
            alias = self._alias()
        return syntax.SelectItem(expression, alias, location=self._since(start))

    def _alias(self) -> str | None:
        """Parse `[[AS] alias]` (learn.microsoft.com/cosmos-db/query/select)."""
        named = self._keyword("AS") or self._next.kind is Kind.IDENTIFIER
        return self._name() if named else None

    def _count(self, code: str, clause: str) -> syntax.Count:
        token = self._next
        if token.kind is Kind.PARAMETER:
            self._advance()
            return syntax.Parameter(token.text, location=token.location)
        if token.kind is not Kind.NUMBER:
            raise self._unexpected()
        self._advance()
        if type(token.value) is not int:
            message = f"The count value provided for a {clause} must be an integer."
            raise query_error(code, message, token.location)
        return syntax.Literal(token.value, location=token.location)

    def _sources(self) -> tuple[syntax.Source, ...]:
        sources = [self._source()]
        while self._keyword("JOIN"):
            sources.append(self._source())
        return tuple(sources)

    def _source(self) -> syntax.Source:
        start = self._next
        following = self._following
        if start.kind is Kind.IDENTIFIER and following.kind is Kind.KEYWORD and following.text == "IN":
            element = self._name()
            self._expect_keyword("IN")
            return syntax.Source(self._collection(), element, iterate=True, location=self._since(start))
        collection = self._collection()
        return syntax.Source(collection, self._alias(), iterate=False, location=self._since(start))

    def _collection(self) -> syntax.PathCollection | syntax.SubqueryCollection:
        start = self._next
        if self._operator("("):
            query = self._subquery()
            return syntax.SubqueryCollection(query, location=self._since(start))
        name = self._name()
        path: list[str | int] = []
        while self._at(Kind.OPERATOR, ".", "["):
            path.append(self._path_step())
        return syntax.PathCollection(name, tuple(path), location=self._since(start))

    def _path_step(self) -> str | int:
        if self._operator("."):
            return self._name()
        self._expect("[")
        step = self._next.value
        if self._next.kind not in (Kind.STRING, Kind.NUMBER) or not (type(step) is str or type(step) is int):
            raise self._unexpected()
        self._advance()
        self._expect("]")
        return step

    def _subquery(self) -> Query:
        self._deeper()
        query = self.query()
        self._expect(")")
        self._nesting -= 1
        for clause, code, name in (
            (query.order_by, "SC2202", "ORDER BY"),
            (query.top, "SC2203", "TOP"),
            (query.offset, "SC2204", "OFFSET LIMIT"),
        ):
            if clause:
                suffix = " clause" if name == "OFFSET LIMIT" else ""
                raise query_error(code, f"'{name}'{suffix} is not supported in subqueries.", query.location)
        return query

    def _group_by(self) -> tuple[Expression, ...]:
        self._expect_keyword("BY")
        return self._list(self._expression)

    def _order_by(self) -> tuple[bool, tuple[syntax.OrderItem, ...]]:
        self._expect_keyword("BY")
        if self._next.text.upper() != "RANK" or self._following.kind is not Kind.IDENTIFIER:
            return False, self._list(self._order_item)
        self._advance()
        if self._following.text != "(":
            self._advance()
            raise self._unexpected()
        return True, (self._order_item(),)

    def _order_item(self) -> syntax.OrderItem:
        start = self._next
        expression = self._expression()
        direction = self._advance().text if self._at(Kind.KEYWORD, "ASC", "DESC") else ""
        return syntax.OrderItem(expression, direction == "DESC", direction, location=self._since(start))

    def _offset_limit(self) -> tuple[syntax.Count, syntax.Count]:
        offset = self._count("SC2062", "OFFSET clause")
        self._expect_keyword("LIMIT")
        return offset, self._count("SC2061", "LIMIT clause")

    # Expressions

    def _expression(self, power: int = 0) -> Expression:
        """Parse operators that bind tighter than `power`."""
        before = self._nesting
        self._deeper()
        left = self._unary()
        while (longer := self._continued(left, power)) is not None:
            left = longer
        self._nesting = before
        return left

    def _continued(self, left: Expression, power: int) -> Expression | None:
        """Parse an operator after `left`; return None if none of that power follows."""
        token = self._next
        if token.kind is Kind.OPERATOR:
            if token.text == "?" and power < _CONDITIONAL:
                return self._conditional(left)
            if token.text == "??" and power < _COALESCE:
                return self._coalesce(left)
            binding = _BINARY_POWER.get(token.text, 0)
            return self._binary(left, binding) if power < binding else None
        if token.kind is Kind.KEYWORD:
            if token.text == "OR" and power < _OR:
                return self._logical(left, "OR", _OR)
            if token.text == "AND" and power < _AND:
                return self._logical(left, "AND", _AND)
            if token.text in _POSTFIX_TESTS and power < _COMPARISON:
                return self._postfix_test(left)
        return None

    def _conditional(self, test: Expression) -> Expression:
        self._advance()
        then = self._expression()
        self._expect(":")
        otherwise = self._expression()
        return syntax.Conditional(test, then, otherwise, location=self._from(test))

    def _coalesce(self, left: Expression) -> Expression:
        self._deeper()
        self._advance()
        right = self._expression(_COALESCE)
        return syntax.Coalesce(left, right, location=self._from(left))

    def _binary(self, left: Expression, power: int) -> Expression:
        # Each operator of a chain adds a level to the tree.
        self._deeper()
        operator = self._advance().text
        right = self._expression(power)
        operator = "!=" if operator == "<>" else operator
        return syntax.Binary(operator, left, right, location=self._from(left))

    def _logical(self, left: Expression, operator: OneOf["AND", "OR"], power: int) -> Expression:
        operands = list(_operands(left, operator))
        while self._keyword(operator):
            operands.extend(_operands(self._expression(power), operator))
        return syntax.Logical(operator, tuple(operands), location=self._from(left))

    def _postfix_test(self, left: Expression) -> Expression:
        self._deeper()
        negated = self._keyword("NOT")
        test: Expression
        if self._keyword("IN"):
            test = self._in(left)
        elif self._keyword("BETWEEN"):
            test = self._between(left)
        elif self._keyword("LIKE"):
            test = self._like(left)
        else:
            raise self._unexpected()
        return syntax.Unary("NOT", test, location=test.location) if negated else test

    def _in(self, value: Expression) -> Expression:
        self._expect("(")
        choices = self._list(self._expression)
        self._expect(")")
        return syntax.In(value, choices, location=self._from(value))

    def _between(self, value: Expression) -> Expression:
        low = self._expression(_COMPARISON)
        self._expect_keyword("AND")
        high = self._expression(_COMPARISON)
        return syntax.Between(value, low, high, location=self._from(value))

    def _like(self, value: Expression) -> Expression:
        pattern = self._expression(_COMPARISON)
        escape: str | None = None
        if self._keyword("ESCAPE"):
            escape = self._escape_character()
        return syntax.Like(value, pattern, escape, location=self._from(value))

    def _escape_character(self) -> str:
        token = self._next
        if token.kind is not Kind.STRING or type(token.value) is not str or len(token.value) != 1:
            raise self._unexpected()
        self._advance()
        return token.value

    def _unary(self) -> Expression:
        start = self._next
        if self._at(Kind.OPERATOR, "-", "+", "~") or self._at(Kind.KEYWORD, "NOT"):
            self._deeper()
            operator = self._advance().text
            operand = self._unary()
            return syntax.Unary(operator, operand, location=self._since(start))
        return self._member(self._primary())

    def _member(self, target: Expression) -> Expression:
        while True:
            if self._operator("."):
                self._deeper()
                name = self._name()
                target = syntax.Property(target, name, location=self._from(target))
            elif self._operator("["):
                self._deeper()
                target = self._indexed(target)
            else:
                return target

    def _indexed(self, target: Expression) -> Expression:
        index = self._expression()
        self._expect("]")
        location = self._from(target)
        if isinstance(index, syntax.Literal) and type(index.value) is str:
            return syntax.Property(target, index.value, bracketed=True, location=location)
        return syntax.Index(target, index, location=location)

    def _primary(self) -> Expression:
        token = self._next
        match token.kind:
            case Kind.NUMBER | Kind.STRING:
                self._advance()
                return syntax.Literal(token.value, location=token.location)
            case Kind.PARAMETER:
                self._advance()
                return syntax.Parameter(token.text, location=token.location)
            case Kind.IDENTIFIER:
                return self._named()
            case Kind.KEYWORD:
                return self._keyword_expression()
            case Kind.OPERATOR:
                return self._bracketed()
        raise self._unexpected()

    def _named(self) -> Expression:
        start = self._advance()
        name = start.text
        if not self._operator("("):
            return syntax.Identifier(name, location=start.location)
        if self._at(Kind.KEYWORD, "SELECT"):
            if name.upper() == "ALL":
                raise not_supported("ALL subquery", start.location)
            if (kind := _SUBQUERIES.get(name.upper())) is not None:
                return syntax.Subquery(kind, self._subquery(), location=self._since(start))
        return self._call(start)

    def _call(self, start: Token) -> Expression:
        arguments = self._list_until(")", self._expression)
        return syntax.FunctionCall(start.text.upper(), arguments, start.text, location=self._since(start))

    def _keyword_expression(self) -> Expression:
        token = self._next
        if token.text in _CONSTANTS:
            self._advance()
            return syntax.Literal(_CONSTANTS[token.text], location=token.location)
        if token.text == "UDF":
            return self._udf_call()
        if token.text in ("LEFT", "RIGHT"):
            self._advance()
            self._expect("(")
            return self._call(token)
        if token.text in ("EXISTS", "ARRAY"):
            self._advance()
            self._expect("(")
            kind: syntax.SubqueryKind = "EXISTS" if token.text == "EXISTS" else "ARRAY"
            return syntax.Subquery(kind, self._subquery(), location=self._since(token))
        raise self._unexpected()

    def _udf_call(self) -> Expression:
        start = self._advance()
        self._expect(".")
        name = self._name()
        self._expect("(")
        arguments = self._list_until(")", self._expression)
        return syntax.UdfCall(name, arguments, location=self._since(start))

    def _bracketed(self) -> Expression:
        start = self._next
        if self._operator("("):
            if self._at(Kind.KEYWORD, "SELECT"):
                return syntax.Subquery("SCALAR", self._subquery(), location=self._since(start))
            inner = self._expression()
            self._expect(")")
            return inner
        if self._operator("["):
            elements = self._list_until("]", self._expression)
            return syntax.ArrayLiteral(elements, location=self._since(start))
        if self._operator("{"):
            members = self._list_until("}", self._object_member)
            return syntax.ObjectLiteral(members, location=self._since(start))
        raise self._unexpected()

    def _object_member(self) -> tuple[str, Expression]:
        token = self._next
        if token.kind is Kind.STRING and type(token.value) is str:
            name = token.value
        elif token.kind is Kind.IDENTIFIER:
            name = token.text
        else:
            raise self._unexpected()
        self._advance()
        self._expect(":")
        return name, self._expression()


def _operands(expression: Expression, operator: str) -> tuple[Expression, ...]:
    """Return the operands that an expression adds to a chain of AND or OR."""
    if isinstance(expression, syntax.Logical) and expression.operator == operator:
        return expression.operands
    return (expression,)
