"""The templates are consistent. Names and types are checked by tests/infra/bicep.py, which evaluates them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.infra.bicep import INFRA, BicepError, Template
from tests.infra.deployments import VARIANTS, deployment

TEMPLATES = sorted(INFRA.glob("*.bicep"))
PARAMETERS = json.loads((INFRA / "main.parameters.json").read_text(encoding="utf-8"))["parameters"]

each_template = pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_can_be_evaluated(variant: str) -> None:
    assert len(deployment(variant).resources) > 40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("param a string\nvar b = a2\n", "uses undeclared names: a2"),
        ("var a = 1\nvar a = 2\n", "declares a twice"),
        ("param a int = 'one'\n", "a must be of type int"),
        ("@allowed(['x'])\nparam a string = 'y'\n", "a must be one of"),
        ("param a string\n", "lacks parameters: a"),
        ("module m 'none.bicep' = {\n  params: {}\n}\n", "loads none.bicep, which does not exist"),
        ("var a = {\n  b: 1\n}\noutput c int = a.d\n", "a.d does not exist"),
        ("var a = {\n", "syntax error"),
    ],
)
def test_the_evaluator_rejects_wrong_templates(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.bicep"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BicepError, match=message):
        Template(path).deploy({})


@each_template
def test_everything_declared_is_used(path: Path) -> None:
    template = Template(path)

    unused = set(template.of_kind("parameter")) | set(template.of_kind("variable"))
    assert unused - template.names_used() == set()


def test_every_template_is_a_module_of_main() -> None:
    used = {"main.bicep"} | {
        module.detail for path in TEMPLATES for module in Template(path).of_kind("module").values()
    }

    assert {path.name for path in TEMPLATES} == used


@each_template
def test_api_versions_are_pinned_to_stable_ones(path: Path) -> None:
    details = [resource.detail for resource in Template(path).of_kind("resource").values()]

    assert [detail for detail in details if not re.fullmatch(r"Microsoft\.[\w/]+@\d{4}-\d\d-\d\d", detail)] == []


def test_each_resource_type_has_one_api_version() -> None:
    versions = {(resource.type, resource.version) for variant in VARIANTS for resource in deployment(variant).resources}

    assert len({type_ for type_, _ in versions}) == len(versions)


@each_template
def test_no_module_comes_from_a_registry(path: Path) -> None:
    assert [
        module.detail for module in Template(path).of_kind("module").values() if not (INFRA / module.detail).is_file()
    ] == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_resource_names_are_valid_and_unique(variant: str) -> None:
    resources = [resource for resource in deployment(variant).resources if not resource.existing]
    names = [
        (resource.type, str(resource.body.get("parent") or resource.body.get("scope")), resource.body["name"])
        for resource in resources
    ]
    (account,) = deployment(variant).of_type("Microsoft.Storage/storageAccounts")

    assert len(set(names)) == len(names)
    assert re.fullmatch("[a-z0-9]{3,24}", account["name"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_resource_that_can_have_tags_has_the_environments(variant: str) -> None:
    located = [
        resource.body
        for resource in deployment(variant).resources
        if not resource.existing and "location" in resource.body
    ]

    assert [body["name"] for body in located if body.get("tags", {}).get("azd-env-name") != "test"] == []


def test_azd_finds_the_function_app_by_its_tag() -> None:
    tagged = [
        resource.type
        for resource in deployment().resources
        if resource.body.get("tags", {}).get("azd-service-name") == "api"
    ]

    assert tagged == ["Microsoft.Web/sites"]


def test_each_parameter_of_main_is_described_and_set_from_an_environment_variable() -> None:
    parameters = Template(INFRA / "main.bicep").of_kind("parameter")

    assert [name for name, parameter in parameters.items() if not parameter.decorator("description")] == []
    assert list(PARAMETERS) == list(parameters)
    # Without a default here: an unset variable leaves the parameter's default in main.bicep.
    assert [value for value in PARAMETERS.values() if not re.fullmatch(r"\$\{[A-Z_]+\}", value["value"])] == []
    assert len({value["value"] for value in PARAMETERS.values()}) == len(PARAMETERS)


def test_outputs_are_not_secret() -> None:
    """azd stores outputs in a file, and Azure in the deployment history."""
    secret = re.compile("key|secret|password|token|connection", re.IGNORECASE)
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)

    assert [name for name in Template(INFRA / "main.bicep").outputs if secret.search(name)] == []
    assert re.findall(r"\blist[A-Z]\w*\(", text) == []
