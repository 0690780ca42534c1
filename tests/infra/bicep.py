"""Evaluates the templates in infra/: a part of Bicep, because no Bicep compiler can be installed from PyPI.

It checks what the compiler checks about names: each name is declared, each module gets its required parameters and no
others, and each value has its parameter's type. It does not know the properties of resources.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

INFRA = Path(__file__).parent.parent.parent / "infra"

_PARSER = Parser(Language(tree_sitter_bicep.language()))
_DECLARATIONS = {f"{kind}_declaration": kind for kind in ("parameter", "variable", "resource", "module", "output")}
_TYPES: dict[str, type] = {"string": str, "int": int, "bool": bool, "object": dict, "array": list}
_NOT_EXPRESSIONS = {"decorators", "type", "comment", "loop_variable", "loop_enumerator", "property_identifier"}


class BicepError(Exception):
    """A template is wrong."""


class Unknown(str):
    """A value that only Azure knows, such as a resource's ID. Its properties are unknown too."""

    __slots__ = ()


class _Deployed(dict[str, Any]):
    """An object of a resource of type `owner`. Azure adds properties to those of the template."""

    def __init__(self, owner: str, content: Mapping[str, Any]) -> None:
        super().__init__({name: _deployed(owner, item) for name, item in content.items()})
        self.owner = owner

    def __missing__(self, name: str) -> Unknown:
        return Unknown(f"{self.owner}.{name}")


@dataclass(frozen=True)
class Resource:
    """A resource that a template creates, or refers to if `existing`."""

    type: str
    version: str
    body: Mapping[str, Any]
    existing: bool = False

    def property(self, name: str) -> Any:
        if name == "id":
            return Unknown(f"{self.type}:{self.body['name']}")
        return self.body["name"] if name == "name" else _Deployed(self.type, self.body.get("properties", {}))


@dataclass
class Deployment:
    """What a template yields with given parameters: all resources, including those of its modules, and the outputs."""

    resources: list[Resource] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def of_type(self, type_: str) -> list[Mapping[str, Any]]:
        """Return the bodies of the created resources of a type."""
        return [resource.body for resource in self.resources if resource.type == type_ and not resource.existing]


@dataclass(frozen=True)
class Declaration:
    """A declaration. `detail` is a parameter's or output's type, a resource's type and version, or a module's path."""

    kind: str
    name: str
    detail: str
    value: Node | None
    existing: bool
    decorators: tuple[Node, ...]

    def decorator(self, name: str) -> Any:
        """Return the argument of a decorator, or None."""
        for decorator in self.decorators:
            function, arguments = decorator.named_children[0].named_children
            if _text(function) == name:
                return _Scope(None).evaluate(arguments.named_children[0])
        return None


class Template:
    """A Bicep file. Raises BicepError if it has a syntax error, a duplicate name, or a name that is not declared."""

    def __init__(self, path: Path) -> None:
        self.path = path
        root = _PARSER.parse(path.read_bytes()).root_node
        if root.has_error:
            raise BicepError(f"{path.name} has a syntax error")
        self.declarations: dict[str, Declaration] = {}
        self.outputs: dict[str, Declaration] = {}
        decorators: list[Node] = []
        for child in root.named_children:
            if child.type == "decorators":
                decorators = child.named_children
            elif child.type not in ("comment", "target_scope_assignment"):
                declaration = _declaration(child, decorators)
                decorators = []
                names = self.outputs if declaration.kind == "output" else self.declarations
                if declaration.name in names:
                    raise BicepError(f"{path.name} declares {declaration.name} twice")
                names[declaration.name] = declaration
        if undeclared := self.names_used() - set(self.declarations):
            raise BicepError(f"{path.name} uses undeclared names: {', '.join(sorted(undeclared))}")

    def of_kind(self, kind: str) -> dict[str, Declaration]:
        return {name: declaration for name, declaration in self.declarations.items() if declaration.kind == kind}

    def names_used(self) -> set[str]:
        """Return the names that values refer to."""
        used: set[str] = set()
        for declaration in (*self.declarations.values(), *self.outputs.values()):
            if declaration.value is not None:
                used |= set(_names(declaration.value))
        return used

    def file(self, name: str) -> Path:
        """Return a file that the template loads. Raises BicepError if it does not exist."""
        path = (self.path.parent / name).resolve()
        if not path.is_file():
            raise BicepError(f"{self.path.name} loads {name}, which does not exist")
        return path

    def deploy(self, parameters: Mapping[str, Any]) -> Deployment:
        """Evaluate everything. Raises BicepError if a parameter is missing, unknown, or has another type."""
        declared = self.of_kind("parameter")
        required = {name for name, parameter in declared.items() if parameter.value is None}
        if missing := required - set(parameters):
            raise BicepError(f"{self.path.name} lacks parameters: {', '.join(sorted(missing))}")
        if unknown := set(parameters) - set(declared):
            raise BicepError(f"{self.path.name} has no parameters {', '.join(sorted(unknown))}")
        scope = _Scope(self)
        for name, parameter in declared.items():
            value = parameters[name] if name in parameters else scope.evaluate(parameter.value)
            _check_type(f"{self.path.name}: {name}", parameter.detail, value)
            allowed = parameter.decorator("allowed")
            if allowed is not None and value not in allowed:
                raise BicepError(f"{self.path.name}: {name} must be one of {allowed}, not {value!r}")
            scope.values[name] = value
        for name, declaration in self.declarations.items():
            if declaration.kind in ("resource", "module"):
                scope.lookup(name)
        for name, output in self.outputs.items():
            value = scope.evaluate(output.value)
            _check_type(f"{self.path.name}: output {name}", output.detail, value)
            scope.deployment.outputs[name] = value
        return scope.deployment


class _Scope:
    """Names and their values. Declarations are evaluated when first used, in any order."""

    def __init__(self, template: Template | None) -> None:
        self.template = template
        self.values: dict[str, Any] = {}
        self.deployment = Deployment()
        self._loop_variables: dict[str, Any] = {}

    def nested(self, variable: str, value: Any) -> _Scope:
        """Return the scope of one iteration."""
        scope = copy(self)
        scope._loop_variables = {**self._loop_variables, variable: value}
        return scope

    def lookup(self, name: str) -> Any:
        if name in self._loop_variables:
            return self._loop_variables[name]
        if name not in self.values:
            assert self.template is not None
            self.values[name] = self._declared(self.template.declarations[name])
        return self.values[name]

    def evaluate(self, node: Node | None) -> Any:
        assert node is not None
        evaluate = getattr(self, f"_{node.type}", None)
        if evaluate is None:
            raise BicepError(f"The tests do not know {node.type}: {_text(node)}")
        return evaluate(node)

    def _declared(self, declaration: Declaration) -> Any:
        value = declaration.value
        assert value is not None
        if declaration.kind == "variable":
            return self.evaluate(value)
        if declaration.kind == "module":
            return self._each(value, lambda scope, body: scope._module(declaration, body))
        return self._each(value, lambda scope, body: scope._resource(declaration, body))

    def _each(self, node: Node, evaluate: Callable[[_Scope, Node], Any]) -> Any:
        """Evaluate a resource or module, which can be repeated or conditional."""
        if node.type == "for_statement":
            return [evaluate(scope, body) for scope, body in self._iterations(node)]
        if node.type == "if_statement":
            condition, body = node.named_children
            return evaluate(self, body) if self.evaluate(condition.named_children[0]) else None
        return evaluate(self, node)

    def _iterations(self, node: Node) -> Iterator[tuple[_Scope, Node]]:
        variable, items, body = node.named_children
        for item in self.evaluate(items):
            yield self.nested(_text(variable), item), body

    def _resource(self, declaration: Declaration, body: Node) -> Resource:
        type_, _, version = declaration.detail.partition("@")
        resource = Resource(type_, version, self.evaluate(body), declaration.existing)
        self.deployment.resources.append(resource)
        return resource

    def _module(self, declaration: Declaration, body: Node) -> Deployment:
        assert self.template is not None
        arguments = self.evaluate(body)
        deployment = Template(self.template.file(declaration.detail)).deploy(arguments["params"])
        self.deployment.resources.extend(deployment.resources)
        return deployment

    def _identifier(self, node: Node) -> Any:
        return self.lookup(_text(node))

    def _string(self, node: Node) -> str:
        parts = [part for part in node.children if part.type not in ("'", "'''")]
        values = [self.evaluate(part) for part in parts]
        text = "".join(str(value) for value in values)
        return Unknown(text) if any(isinstance(value, Unknown) for value in values) else text

    def _string_content(self, node: Node) -> str:
        return _text(node)

    def _escape_sequence(self, node: Node) -> str:
        return _text(node)[1:]

    def _interpolation(self, node: Node) -> Any:
        return self.evaluate(node.named_children[0])

    def _number(self, node: Node) -> int:
        return int(_text(node))

    def _boolean(self, node: Node) -> bool:
        return _text(node) == "true"

    def _null(self, _: Node) -> None:
        return None

    def _parenthesized_expression(self, node: Node) -> Any:
        return self.evaluate(node.named_children[0])

    def _array(self, node: Node) -> list[Any]:
        return [self.evaluate(child) for child in node.named_children if child.type != "comment"]

    def _object(self, node: Node) -> dict[str, Any]:
        value = {}
        for child in node.named_children:
            if child.type == "object_property":
                key, content = child.named_children
                name = self.evaluate(key) if key.type == "string" else _text(key)
                value[str(name)] = self.evaluate(content)
        return value

    def _for_statement(self, node: Node) -> list[Any]:
        return [scope.evaluate(body) for scope, body in self._iterations(node)]

    def _ternary_expression(self, node: Node) -> Any:
        condition, yes, no = node.named_children
        return self.evaluate(yes if self.evaluate(condition) else no)

    def _unary_expression(self, node: Node) -> Any:
        operator, operand = node.children
        if operator.type != "!":
            raise BicepError(f"The tests do not know the operator {operator.type}")
        return not self.evaluate(operand)

    def _binary_expression(self, node: Node) -> Any:
        left, operator, right = node.children
        if operator.type not in ("==", ">"):
            raise BicepError(f"The tests do not know the operator {operator.type}")
        one, other = self.evaluate(left), self.evaluate(right)
        return one == other if operator.type == "==" else one > other

    def _subscript_expression(self, node: Node) -> Any:
        value, index = (self.evaluate(child) for child in node.named_children)
        if isinstance(value, Unknown):
            return _unknown_part(value, f"[{index}]")
        if isinstance(value, dict) and index not in value:
            raise BicepError(f"{_text(node)} has no {index}")
        return value[index]

    def _member_expression(self, node: Node) -> Any:
        value, name = self.evaluate(node.named_children[0]), _text(node.named_children[1])
        if isinstance(value, Unknown):
            return _unknown_part(value, f".{name}")
        if isinstance(value, Resource):
            return value.property(name)
        if isinstance(value, Deployment):
            return value.outputs if name == "outputs" else Unknown(f"deployment.{name}")
        if any(child.type == ".?" for child in node.children):
            return value.get(name)
        if name not in value and not isinstance(value, _Deployed):
            raise BicepError(f"{_text(node)} does not exist")
        return value[name]

    def _call_expression(self, node: Node) -> Any:
        name = _text(node.named_children[0])
        arguments = [self.evaluate(child) for child in node.named_children[1].named_children]
        if name in ("loadJsonContent", "loadTextContent"):
            assert self.template is not None
            text = self.template.file(arguments[0]).read_text(encoding="utf-8")
            return json.loads(text) if name == "loadJsonContent" else text
        if name not in _FUNCTIONS:
            raise BicepError(f"The tests do not know the function {name}")
        return _FUNCTIONS[name](*arguments)


def _call(name: str) -> Callable[..., Unknown]:
    return lambda *arguments: Unknown(f"{name}({', '.join(map(str, arguments))})")


def _union(*values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for value in values for key, item in value.items()}


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concat": lambda *lists: [item for each in lists for item in each],
    "empty": lambda value: not value,
    "environment": lambda: {"suffixes": {"storage": "core.windows.net"}},
    "guid": _call("guid"),
    "items": lambda value: [{"key": key, "value": value[key]} for key in sorted(value)],
    "subscription": lambda: {"id": Unknown("subscription")},
    "subscriptionResourceId": lambda type_, name: Unknown(f"{type_}:{name}"),
    "toLower": lambda text: text,
    "union": _union,
    "uniqueString": lambda *_: "abcdefghijklm",
}


def _deployed(owner: str, value: Any) -> Any:
    if isinstance(value, dict):
        return _Deployed(owner, value)
    return [_deployed(owner, item) for item in value] if isinstance(value, list) else value


def _declaration(node: Node, decorators: list[Node]) -> Declaration:
    if node.type not in _DECLARATIONS:
        raise BicepError(f"The tests do not know {node.type}: {_text(node)[:80]}")
    kind = _DECLARATIONS[node.type]
    name, *rest = (child for child in node.named_children if child.type != "comment")
    detail = "" if kind == "variable" else _text(rest.pop(0)).strip("'")
    existing = any(child.type == "existing" for child in node.children)
    return Declaration(kind, _text(name), detail, rest[0] if rest else None, existing, tuple(decorators))


def _names(node: Node, local: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that an expression refers to, without loop variables, keys and functions."""
    children = node.named_children
    if node.type == "identifier":
        if _text(node) not in local:
            yield _text(node)
        return
    if node.type == "for_statement":
        local, children = local | {_text(children[0])}, children[1:]
    elif (node.type == "object_property" and children[0].type == "identifier") or node.type == "call_expression":
        children = children[1:]
    for child in children:
        if child.type not in _NOT_EXPRESSIONS:
            yield from _names(child, local)


def _unknown_part(value: Unknown, part: str) -> Unknown:
    return Unknown(f"{value}{part}")


def _check_type(what: str, type_: str, value: Any) -> None:
    if not isinstance(value, _TYPES[type_]) or (type_ == "int" and isinstance(value, bool)):
        raise BicepError(f"{what} must be of type {type_}, not {value!r}")


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()
