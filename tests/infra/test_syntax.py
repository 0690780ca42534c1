"""The templates parse, and their modules get the parameters that they declare. Needs no Bicep compiler."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.running_app import REPOSITORY

tree_sitter = pytest.importorskip("tree_sitter")
tree_sitter_bicep = pytest.importorskip("tree_sitter_bicep")

INFRA = REPOSITORY / "infra"
TEMPLATES = sorted(path.name for path in INFRA.glob("*.bicep"))
Node = Any


def _parse(text: bytes) -> Node:
    language = tree_sitter.Language(tree_sitter_bicep.language())
    return tree_sitter.Parser(language).parse(text).root_node


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _of_type(node: Node, *types: str) -> list[Node]:
    return [one for one in _nodes(node) if one.type in types]


def _text(node: Node) -> str:
    return str(node.text.decode()).strip("'")


def _errors(root: Node) -> list[int]:
    """The lines with errors."""
    return sorted({one.start_point[0] + 1 for one in _nodes(root) if one.type == "ERROR" or one.is_missing})


def _declared(root: Node) -> dict[str, bool]:
    """The parameters of a template, and whether each has a default."""
    declarations = _of_type(root, "parameter_declaration")
    return {_text(one.named_children[0]): len(one.named_children) > 2 for one in declarations}


def _properties(node: Node) -> dict[str, Node]:
    pairs = [one.named_children for one in node.named_children if one.type == "object_property"]
    return {_text(name): value for name, value in pairs}


def _modules(root: Node) -> Iterator[tuple[str, set[str]]]:
    """The file of each module, and the names of what it gets."""
    for module in _of_type(root, "module_declaration"):
        _, file, body = module.named_children
        first_object = _of_type(body, "object")[0]
        yield _text(file), set(_properties(_properties(first_object)["params"]))


def _problems(passed: set[str], declared: dict[str, bool]) -> list[str]:
    needed = {name for name, has_default in declared.items() if not has_default}
    return [f"unknown: {name}" for name in passed - declared.keys()] + [f"missing: {name}" for name in needed - passed]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_parses(name: str) -> None:
    assert _errors(_parse((INFRA / name).read_bytes())) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_modules_get_the_parameters_that_they_declare(name: str) -> None:
    for file, passed in _modules(_parse((INFRA / name).read_bytes())):
        declared = _declared(_parse((INFRA / Path(file)).read_bytes()))

        assert _problems(passed, declared) == [], file


def test_the_modules_of_the_main_template_are_found() -> None:
    """So that the test above does not pass because it finds nothing."""
    found = {file for name in TEMPLATES for file, _ in _modules(_parse((INFRA / name).read_bytes()))}

    assert found == set(TEMPLATES) - {"main.bicep"}


def test_azd_knows_the_settings_that_the_database_depends_on() -> None:
    """Otherwise, `manage.py provision --check` after a deployment takes others from local.settings.json."""
    outputs = _of_type(_parse((INFRA / "main.bicep").read_bytes()), "output_declaration")
    enabling = [
        container["enabledBy"]
        for file in REPOSITORY.glob("addons/*/containers.json")
        for container in json.loads(file.read_text(encoding="utf-8"))["containers"]
        if "enabledBy" in container
    ]

    assert {*enabling, "BLOG_DATABASE", "BLOG_TRANSACTIONS"} <= {_text(one.named_children[0]) for one in outputs}


def test_only_the_app_can_replace_its_package_and_read_function_keys() -> None:
    declared = _declared(_parse((INFRA / "storage.bicep").read_bytes()))

    assert [name for name in declared if name.endswith("PrincipalId")] == ["appPrincipalId"]


def test_autoscale_takes_only_multiples_of_a_thousand() -> None:
    """https://learn.microsoft.com/azure/cosmos-db/provision-throughput-autoscale"""
    main = (INFRA / "main.bicep").read_text(encoding="utf-8")

    for name in re.findall(r"param (\w+MaxThroughput) int", main):
        assert f"{name} % 1000 == 0 ? {name} : fail('" in main


def test_problems_are_found() -> None:
    assert _errors(_parse(b"param a string = \n\nvar b = {\n")) != []
    declared = _declared(_parse(b"param a string\nparam b object = {}\n@secure()\nparam c string\n"))
    assert declared == {"a": False, "b": True, "c": False}
    text = b"module m 'x.bicep' = if (y) {\n  name: 'm'\n  params: {\n    a: z\n    d: z\n  }\n}\n"
    ((file, passed),) = _modules(_parse(text))
    assert (file, passed) == ("x.bicep", {"a", "d"})
    assert _problems(passed, declared) == ["unknown: d", "missing: c"]
