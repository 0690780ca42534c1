"""The edition of JavaScript in scripts: newer syntax is refused when a script is stored.

Microsoft states that the service supports ES2015 (MicrosoftDocs/azure-docs#24634), and documents async functions, which
are of ES2017 (learn.microsoft.com/azure/cosmos-db/nosql/how-to-write-stored-procedures-triggers-udfs#async-promises).
So syntax after ES2017 is refused; runtime/edition.js hides newer built-ins. The parser finds syntax by name: what is
not in this list is accepted, and so is a script that the parser cannot read, but the engine can, for example with a
variable named `using`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from cosmos_emulator.errors import CosmosError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_LOG: Final = logging.getLogger(__name__)

# Node types of tree-sitter-javascript, and what they are.
_NEWER: Final = {
    "optional_chain": "optional chaining (ES2020)",
    "??": "nullish coalescing (ES2020)",
    "??=": "logical assignment (ES2021)",
    "||=": "logical assignment (ES2021)",
    "&&=": "logical assignment (ES2021)",
    "private_property_identifier": "a private member (ES2022)",
    "field_definition": "a class field (ES2022)",
    "class_static_block": "a static block (ES2022)",
    "decorator": "a decorator",
    "using": "a using declaration (ES2026)",
}
# The same, within a parent.
_NEWER_WITHIN: Final = {
    ("spread_element", "object"): "object spread (ES2018)",
    ("rest_pattern", "object_pattern"): "object rest (ES2018)",
    ("await", "for_in_statement"): "for await (ES2018)",
    ("import", "call_expression"): "dynamic import (ES2020)",
}
_ASYNC_GENERATOR: Final = {"async", "*"}
_LINE_SEPARATOR: Final = re.compile("[\u2028\u2029]")
_OCTAL: Final = re.compile(r"\\(?:[1-9]|0\d)")
_CLASS_OR_ESCAPE: Final = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.", re.DOTALL)
_MODIFIER: Final = re.compile(r"\(\?[-ims]")
_NEWER_FLAGS: Final = frozenset("dsv")
_PREFIXES: Final = (("(", "\n)"), ("0,", ""))  # as in runtime/compiling.js


def check_edition(body: str) -> None:
    """Raise 400 if a script has syntax after ES2017. Other errors are reported when it runs."""
    parser = _parser()
    if parser is None:
        return
    for prefix, end in _PREFIXES:
        source = f"{prefix}{body}{end}".encode(errors="replace")
        root = parser.parse(source).root_node
        if not root.has_error:
            break
    for node in _nodes(root):
        newer = _newer(node) if not root.has_error or node.is_error else None
        if newer is not None:
            row, start = node.start_point
            before = source.split(b"\n")[row][:start].decode(errors="replace")
            column = len(before) + 1 - (len(prefix) if row == 0 else 0)
            raise CosmosError(
                400,
                f"The script uses {newer} at line {row + 1}, column {column}. The service's JavaScript is ES2015 with "
                "async functions. The option --script-edition latest accepts the script here.",
            )


@cache
def _parser() -> Parser | None:
    try:  # optional
        import tree_sitter_javascript
        from tree_sitter import Language, Parser
    except ModuleNotFoundError:
        _LOG.warning("scripts can use syntax that the service rejects; to check it, install cosmos-emulator[scripts]")
        return None
    return Parser(Language(tree_sitter_javascript.language()))


def _nodes(root: Node) -> Iterator[Node]:
    cursor = root.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _newer(node: Node) -> str | None:
    """Return what a node is if it is newer than ES2017."""
    kind, parent = node.type, node.parent
    if kind in _NEWER:
        return _NEWER[kind]
    if parent is not None and (kind, parent.type) in _NEWER_WITHIN:
        return _NEWER_WITHIN[kind, parent.type]
    match kind:
        case "number":
            text = _text(node)
            return "BigInt (ES2020)" if text.endswith("n") else "a numeric separator (ES2021)" if "_" in text else None
        case "catch_clause" if node.child_by_field_name("parameter") is None:
            return "catch without a parameter (ES2019)"
        case "generator_function" | "generator_function_declaration" | "method_definition":
            return "an async generator (ES2018)" if {one.type for one in node.children} >= _ASYNC_GENERATOR else None
        case "string_fragment" if parent is not None and parent.type == "string":
            return "U+2028 or U+2029 in a string (ES2019)" if _LINE_SEPARATOR.search(_text(node)) else None
        case "escape_sequence" | "ERROR" if parent is not None and _is_tagged(parent):
            is_invalid = node.is_error or _OCTAL.match(_text(node))
            return "an invalid escape in a tagged template (ES2018)" if is_invalid else None
        case "regex":
            return _newer_in_regex(_text(node.child_by_field_name("pattern")), _text(node.child_by_field_name("flags")))
    return None


def _is_tagged(node: Node) -> bool:
    return node.type == "template_string" and node.parent is not None and node.parent.type == "call_expression"


def _newer_in_regex(pattern: str, flags: str) -> str | None:
    if newer := _NEWER_FLAGS.intersection(flags):
        return f"the flag {min(newer)} of regular expressions (ES2018 or later)"
    groups = _CLASS_OR_ESCAPE.sub("", pattern)
    if "(?<" in groups:
        return "lookbehind or a named group in a regular expression (ES2018)"
    if _MODIFIER.search(groups):
        return "a modifier in a regular expression (ES2025)"
    return "a Unicode property in a regular expression (ES2018)" if "u" in flags and "\\p{" in pattern.lower() else None


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode(errors="replace")
