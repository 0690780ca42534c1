"""The description is valid OpenAPI 3.1, complete, and made of what serves."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from functions import description
from shared.errors import BlogError, NotReady, PostNotFound
from shared.http.endpoints import Endpoint
from shared.http.openapi import describe
from shared.http.problems import PROBLEMS
from shared.settings import AuthMode, AuthSettings, Settings
from tests.running_app import environment_of

ROOT = Path(__file__).parents[3]
LIST_HTTP_FUNCTIONS = """
import json
from function_app import app
triggers = {function.get_function_name(): function.get_trigger() for function in app.get_functions()}
print(json.dumps([
    [name, method.value if hasattr(method, "value") else method, trigger.route, trigger.auth_level.name]
    for name, trigger in triggers.items() if trigger.type == "httpTrigger" for method in trigger.methods
]))
"""

AN_ENDPOINT = Endpoint(
    name="get_thing", method="GET", route="things/{postId}", summary="", description="", tag="things", answers=(200,)
)


WAYS_IN = {
    AuthMode.FUNCTION_KEY: AuthSettings(),
    AuthMode.OIDC: AuthSettings(AuthMode.OIDC, "https://issuer.example", "api://blog"),
    AuthMode.APP_SERVICE: AuthSettings(AuthMode.APP_SERVICE),
}


@pytest.fixture(params=WAYS_IN)
def auth(request: pytest.FixtureRequest) -> AuthSettings:
    """Each way in: everything said below holds of the description of each."""
    return WAYS_IN[request.param]


@pytest.fixture
def document(auth: AuthSettings) -> dict[str, Any]:
    return as_served(auth)


def as_served(auth: AuthSettings) -> dict[str, Any]:
    served: dict[str, Any] = json.loads(json.dumps(describe(description.described_endpoints(), auth)))
    return served


def test_what_is_served_is_the_description_of_the_way_in_that_is_set() -> None:
    assert json.loads(description.openapi_document().content) == as_served(AuthSettings())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


def test_the_description_is_valid_openapi_31(document: dict[str, Any]) -> None:
    OpenAPIV31SpecValidator(document).validate()

    assert document["openapi"].startswith("3.1.")


def test_every_http_function_is_described_and_every_described_path_exists(
    document: dict[str, Any], auth: AuthSettings
) -> None:
    """In a process of its own: an app lists its functions once. Where users sign in the host asks for no key."""
    listing = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", LIST_HTTP_FUNCTIONS],
        cwd=ROOT,
        env={**os.environ, **environment_of(Settings("https://account.example", None, "blog", auth=auth))},
        capture_output=True,
        text=True,
        check=True,
    )
    leading_to_it = {endpoint.name for endpoint in description.endpoints.described}

    served = {tuple(function) for function in json.loads(listing.stdout) if function[0] not in leading_to_it}

    described = {
        (
            operation["operationId"],
            method.upper(),
            path.removeprefix("/"),
            "FUNCTION" if operation["security"] and not auth.users_sign_in else "ANONYMOUS",
        )
        for method, path, operation in operations(document)
    }
    assert described == served


def test_every_example_of_a_body_satisfies_its_schema_and_its_model(document: dict[str, Any]) -> None:
    bodies = {endpoint.name: endpoint.body for endpoint in description.described_endpoints() if endpoint.body}

    for _, _, operation in operations(document):
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            validator(document, content["schema"]).validate(content["example"])
            bodies.pop(operation["operationId"]).model_validate(content["example"])

    assert not bodies


def test_every_example_of_an_answer_satisfies_its_schema(document: dict[str, Any]) -> None:
    answers = [
        content
        for _, _, operation in operations(document)
        for response in operation["responses"].values()
        for content in response.get("content", {}).values()
    ]

    assert answers
    for content in answers:
        validator(document, content["schema"]).validate(content["example"])


def test_an_answer_promises_every_field_that_it_has(document: dict[str, Any]) -> None:
    post = document["components"]["schemas"]["Post"]

    assert set(post["required"]) == set(post["properties"])
    assert not {"_etag", "_rid", "_ts", "ttl", "version", "nameVersion"} & set(post["properties"])


def test_every_problem_has_an_example_that_is_the_real_answer() -> None:
    document = as_served(AuthSettings())
    refusals = {
        name: example["value"]
        for auth in WAYS_IN.values()
        for response in as_served(auth)["components"]["responses"].values()
        for content in response.get("content", {}).values()
        for name, example in content["examples"].items()
    }

    assert set(refusals) == {error.__name__ for error in PROBLEMS} | {"InternalError"}
    for error, problem in PROBLEMS.items():
        example = refusals[error.__name__]
        assert (example["type"], example["title"], example["status"]) == (problem.type, problem.title, problem.status)
        validator(document, document["components"]["schemas"]["Problem"]).validate(example)


def test_what_the_description_says_of_an_error_names_nothing_of_the_code(document: dict[str, Any]) -> None:
    for response in document["components"]["responses"].values():
        assert response["description"]
        assert "`" not in response["description"]


def test_a_refusal_that_asks_to_wait_says_for_how_long(document: dict[str, Any]) -> None:
    responses = document["components"]["responses"]

    for name in ("DatabaseThrottled", "DatabaseUnavailable", "NotReady"):
        assert "Retry-After" in responses[name]["headers"]
    assert "Retry-After" not in responses["PostNotFound"]["headers"]


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("post", "/users", "201 400 401 409 413 415 422 429 500 503"),
        ("put", "/posts/{postId}", "200 400 401 404 412 413 415 422 429 500 503"),
        ("delete", "/posts/{postId}/likes/{userId}", "204 400 401 404 412 429 500 503"),
        ("get", "/posts/{postId}", "200 304 400 404 429 500 503"),
        ("get", "/feed", "200 304 400 429 500 503"),
        ("post", "/posts/{postId}/likes", "200 201 400 401 404 413 415 422 429 500 503"),
        ("get", "/health", "200 400 500 503"),
    ],
)
def test_an_operation_lists_every_answer_it_can_give(
    document: dict[str, Any], auth: AuthSettings, method: str, path: str, statuses: str
) -> None:
    if auth.users_sign_in:
        statuses = statuses.replace("401", "401 403")

    assert list(document["paths"][path][method]["responses"]) == statuses.split()


@pytest.mark.parametrize(
    ("method", "path", "names"),
    [
        ("post", "/users", "Idempotency-Key traceparent"),
        ("put", "/users/{userId}", "userId If-Match traceparent"),
        ("get", "/users/{userId}", "userId If-None-Match traceparent"),
        ("get", "/posts/{postId}/comments", "postId limit cursor traceparent"),
        ("get", "/feed", "limit If-None-Match traceparent"),
        ("delete", "/posts/{postId}/comments/{commentId}", "postId commentId If-Match traceparent"),
    ],
)
def test_an_operation_lists_the_parameters_it_heeds(
    document: dict[str, Any], method: str, path: str, names: str
) -> None:
    shared = document["components"]["parameters"]

    parameters = [
        shared[parameter["$ref"].rpartition("/")[2]] if "$ref" in parameter else parameter
        for parameter in document["paths"][path][method]["parameters"]
    ]

    assert [parameter["name"] for parameter in parameters] == names.split()


def test_single_resources_have_an_etag_and_new_ones_a_location(document: dict[str, Any]) -> None:
    created = document["paths"]["/posts"]["post"]["responses"]["201"]["headers"]
    page = document["paths"]["/posts/{postId}/likes"]["get"]["responses"]["200"]["headers"]
    unmodified = document["paths"]["/posts/{postId}"]["get"]["responses"]["304"]["headers"]

    assert set(created) == {"ETag", "Location", "x-ms-request-charge"}
    assert set(page) == {"x-ms-request-charge"}
    assert set(unmodified) == {"ETag", "x-ms-request-charge"}


KEYS_TO = {
    AuthMode.FUNCTION_KEY: [{"functionKey": []}, {"functionKeyInQuery": []}],
    AuthMode.OIDC: [{"bearer": []}],
    AuthMode.APP_SERVICE: [{"appService": []}],
}


def test_commands_need_what_the_settings_say_and_queries_nothing(document: dict[str, Any], auth: AuthSettings) -> None:
    for method, _, operation in operations(document):
        assert operation["security"] == ([] if method == "get" else KEYS_TO[auth.mode])


def test_a_refusal_for_want_of_a_token_says_how_to_authenticate() -> None:
    responses = as_served(WAYS_IN[AuthMode.OIDC])["components"]["responses"]

    assert {"WWW-Authenticate"} == set(responses["NotAuthenticated"]["headers"])
    assert "WWW-Authenticate" in responses["Forbidden"]["headers"]
    assert "Location" in responses["UsernameTakenOrAlreadyRegistered"]["headers"]


def test_refusals_of_one_status_are_one_answer_with_an_example_each(document: dict[str, Any]) -> None:
    response = document["components"]["responses"]["UserNotFoundOrPostNotFound"]

    assert set(response["content"]["application/problem+json"]["examples"]) == {"UserNotFound", "PostNotFound"}


def test_a_field_without_an_example_is_named() -> None:
    class Thing(BaseModel):
        colour: str

    with pytest.raises(ValueError, match="colour"):
        describe([dataclasses.replace(AN_ENDPOINT, resource=Thing)], AuthSettings())


def test_an_error_without_an_example_is_named() -> None:
    class Unheard(BlogError):
        pass

    with pytest.raises(KeyError, match="Unheard"):
        describe([dataclasses.replace(AN_ENDPOINT, refusals=(Unheard,))], AuthSettings())


def test_an_endpoint_that_says_how_things_are_promises_neither_version_nor_charge() -> None:
    class Weather(BaseModel):
        mild: bool = True

    endpoint = dataclasses.replace(AN_ENDPOINT, resource=Weather, refusals=(NotReady, PostNotFound))

    described = describe([endpoint], AuthSettings())

    answer = described["paths"]["/things/{postId}"]["get"]["responses"]["200"]
    assert answer["headers"] == {"x-ms-request-charge": {"$ref": "#/components/headers/RequestChargeIfAny"}}
    assert answer["content"]["application/json"]["example"] == {"mild": True}
