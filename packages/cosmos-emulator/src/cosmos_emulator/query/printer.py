"""Prints the syntax tree like the service's rewritten queries (.NET QueryPlanBaselineTests)."""

from __future__ import annotations

import json
from textwrap import indent

from cosmos_emulator.query import syntax
from cosmos_emulator.query.lexer import is_reserved
from cosmos_emulator.query.syntax import Expression, Query
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined


def printed(node: Expression) -> str:
    """Print an expression, with operators in parentheses and strings in double quotes."""
    match node:
        case syntax.Literal(value=value):
            return _literal(value)
        case syntax.Parameter(name=name) | syntax.Identifier(name=name):
            return name
        case syntax.Property(target=target, name=name, bracketed=bracketed):
            return f"{printed(target)}[{_string(name)}]" if bracketed else f"{printed(target)}.{name}"
        case syntax.Index(target=target, index=index):
            return f"{printed(target)}[{printed(index)}]"
        case syntax.ArrayLiteral(elements=elements):
            return f"[{_list(elements)}]"
        case syntax.ObjectLiteral(members=members):
            return "{" + ", ".join(f"{_string(name)}: {printed(member)}" for name, member in members) + "}"
        case syntax.FunctionCall(name=name, arguments=arguments, written=written):
            return f"{written or name}({_list(arguments)})"
        case syntax.UdfCall(name=name, arguments=arguments):
            return f"udf.{name}({_list(arguments)})"
        case syntax.Subquery(kind=kind, query=query):
            return f"{'' if kind == 'SCALAR' else kind}({print_query(query)})"
    return f"({_operation(node)})"


def _operation(node: Expression) -> str:
    match node:
        case syntax.Unary(operator=operator, operand=operand):
            return f"{operator} {printed(operand)}"
        case syntax.Binary(operator=operator, left=left, right=right):
            return f"{printed(left)} {operator} {printed(right)}"
        case syntax.Logical(operator=operator, operands=operands):
            return f" {operator} ".join(map(printed, operands))
        case syntax.Coalesce(left=left, right=right):
            return f"{printed(left)} ?? {printed(right)}"
        case syntax.Conditional(test=test, then=then, otherwise=otherwise):
            return f"{printed(test)} ? {printed(then)} : {printed(otherwise)}"
        case syntax.Between(value=value, low=low, high=high):
            return f"{printed(value)} BETWEEN {printed(low)} AND {printed(high)}"
        case syntax.In(value=value, choices=choices):
            return f"{printed(value)} IN ({_list(choices)})"
        case syntax.Like(value=value, pattern=pattern, escape=escape):
            suffix = "" if escape is None else f" ESCAPE {_string(escape)}"
            return f"{printed(value)} LIKE {printed(pattern)}{suffix}"
    raise TypeError(f"{type(node).__name__} is not an expression")


def _list(nodes: tuple[Expression, ...]) -> str:
    return ", ".join(map(printed, nodes))


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _literal(value: JsonOrUndefined) -> str:
    return "undefined" if value is UNDEFINED else json.dumps(value, ensure_ascii=False)


def print_query(query: Query) -> str:
    """Print a query with one clause per line."""
    head = "SELECT DISTINCT" if query.distinct else "SELECT"
    if query.top is not None:
        head += f" TOP {printed(query.top)}"
    clauses = [f"{head} {_selection(query.select)}"]
    if query.sources:
        clauses.append("FROM " + "\nJOIN ".join(map(_source, query.sources)))
    if query.where is not None:
        clauses.append(f"WHERE {printed(query.where)}")
    if query.group_by:
        clauses.append(f"GROUP BY {_list(query.group_by)}")
    if query.order_by:
        items = (f"{printed(item.expression)} {item.direction}".rstrip() for item in query.order_by)
        clauses.append(f"ORDER BY {'RANK ' if query.rank else ''}{', '.join(items)}")
    if query.offset is not None and query.limit is not None:
        clauses.append(f"OFFSET {printed(query.offset)} LIMIT {printed(query.limit)}")
    return "\n".join(clauses)


def _selection(select: syntax.Selection) -> str:
    match select:
        case syntax.SelectValue(expression=expression):
            return f"VALUE {printed(expression)}"
        case syntax.SelectList(items=items):
            return ", ".join(printed(item.expression) + _alias(item.alias) for item in items)
    return "*"


def _alias(name: str | None) -> str:
    if name is None:
        return ""
    return f" AS {name}" if _is_plain(name) else f" AS {_string(name)}"


def _source(source: syntax.Source) -> str:
    collection = source.collection
    if isinstance(collection, syntax.PathCollection):
        steps = (f".{key}" if _is_plain(key) else f"[{_literal(key)}]" for key in collection.path)
        text = collection.name + "".join(steps)
    else:
        text = f"(\n{indent(print_query(collection.query), '    ')}\n)"
    if source.iterate:
        return f"{source.alias} IN {text}"
    return f"{text} AS {source.alias}" if source.alias else text


def _is_plain(key: str | int) -> bool:
    return isinstance(key, str) and key.isidentifier() and not is_reserved(key)
