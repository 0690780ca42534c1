"""The reading of compiled templates, with one that Bicep 0.49 has compiled, so that it is tested without a compiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.infra.conftest import Compiled

RECORDED = Path(__file__).with_name("compiled_4da992d3.json")


@pytest.fixture(scope="module")
def recorded() -> Compiled:
    return Compiled(json.loads(RECORDED.read_text(encoding="utf-8")))


def test_resources_without_properties_are_read(recorded: Compiled) -> None:
    for type_ in ("Microsoft.Resources/resourceGroups", "Microsoft.ManagedIdentity/userAssignedIdentities"):
        assert len(recorded.of_type(type_)) == 1


def test_a_resource_of_a_module_is_read_with_its_template(recorded: Compiled) -> None:
    ((template, site),) = recorded.of_type("Microsoft.Web/sites")

    assert "settings" in template["parameters"]
    assert "properties" in site


def test_a_conditional_parameter_of_a_module_is_its_expression(recorded: Compiled) -> None:
    given = recorded.module("app")

    assert given["subnetId"].startswith("[if(parameters('privateNetworking')")
    assert "BLOG_DATABASE" in given["settings"]
