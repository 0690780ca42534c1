"""The templates as the Bicep compiler sees them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import pytest

from tests.functions.conftest import app
from tests.running_app import REPOSITORY

__all__ = ["app"]

MAIN = REPOSITORY / "infra" / "main.bicep"
Json = Mapping[str, Any]


class Compiled:
    """An ARM template with its modules' templates. `main` has the parameters and outputs."""

    def __init__(self, main: Json) -> None:
        self.main = main

    def of_type(self, type_: str) -> list[tuple[Json, Json]]:
        """Return the resources of a type that are created, each with the template that has it."""
        return [pair for pair in self._resources if pair[1]["type"] == type_]

    def module(self, name: str) -> Json:
        """Return what main.bicep passes to a module."""
        (found,) = [one for _, one in self._resources if one["name"] == name and "Deployments" in one["type"].title()]
        # A conditional parameter is one expression, instead of an object with a value.
        given = found["properties"]["parameters"].items()
        return {key: value if isinstance(value, str) else value.get("value") for key, value in given}

    @cached_property
    def _resources(self) -> list[tuple[Json, Json]]:
        return list(_resources(self.main))


def _resources(template: Json) -> Iterator[tuple[Json, Json]]:
    listed = template.get("resources", [])
    # Templates that need language version 2.0 have names instead of an array, and list what exists already.
    for resource in listed.values() if isinstance(listed, dict) else listed:
        if not resource.get("existing"):
            yield template, resource
            # Resource groups and identities have no properties.
            yield from _resources(resource.get("properties", {}).get("template", {}))


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    """Skips the test without a compiler, unless REQUIRE_BICEP is set. Warnings of the compiler fail it."""
    command = _compiler()
    if not command:
        (pytest.fail if "REQUIRE_BICEP" in os.environ else pytest.skip)(
            "install the Bicep CLI, or run: az bicep install"
        )
    built = _run(*command, str(MAIN), "--stdout")
    assert built.returncode == 0, built.stderr
    assert " : Warning " not in built.stderr, built.stderr
    return Compiled(json.loads(built.stdout))


def _compiler() -> list[str]:
    """Return the command to which the path of a template is appended, or nothing."""
    if program := shutil.which("bicep"):
        return [program, "build"]
    # `az bicep build` would download the compiler.
    if (program := shutil.which("az")) and _run(program, "bicep", "version").returncode == 0:
        return [program, "bicep", "build", "--file"]
    return []


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the developer's compiler
