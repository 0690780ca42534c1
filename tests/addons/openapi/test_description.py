"""The OpenAPI description is valid and complete, and matches what the app serves."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from addons.openapi import docs
from addons.openapi.description import ApiOperation, describe, known_errors
from shared import errors as blog_errors
from shared.platform import errors
from shared.platform.errors import AppError, FieldFault
from shared.platform.http.endpoints import Endpoint
from shared.platform.http.problems import problem_response
from shared.platform.settings import Account, AuthMode
from shared.settings import Settings
from tests.running_app import environment_of

ROOT = Path(__file__).parents[3]
LIST_HTTP_FUNCTIONS = """
import json
from addons.openapi import docs
from addons.openapi.description import describe
from function_app import app
from shared.platform.settings import app_settings
triggers = {function.get_function_name(): function.get_trigger() for function in app.get_functions()}
served = [
    [name, method.value if hasattr(method, "value") else method, trigger.route, trigger.auth_level.name]
    for name, trigger in triggers.items() if trigger.type == "httpTrigger" and trigger.route.startswith("api/")
    for method in trigger.methods if getattr(method, "value", method) != "HEAD"
]
print(json.dumps([served, describe(docs.operations(), app_settings().auth)]))
"""
DOCS = {"get_openapi", "get_docs", "get_docs_asset", "z_api"}
AN_ENDPOINT = Endpoint()
NOT_FOUND = (blog_errors.UserNotFound, blog_errors.PostNotFound, blog_errors.CommentNotFound)
# Other tests in this process can import add-ons and their errors.
OF_CORE = [error for error in known_errors() if error.__module__.startswith("shared.")]
# An instance of every error class, as raised by the app.
RAISED = [
    errors.MalformedRequest("The body must be a JSON object."),
    errors.PathNotFound(),
    errors.NotAuthenticated("The token has expired."),
    errors.Forbidden("You cannot act as this user."),
    blog_errors.AccountDeleted(None),
    *(error("7f2c1b52") for error in NOT_FOUND),
    blog_errors.UsernameTaken("ada"),
    blog_errors.AlreadyRegistered("7f2c1b52"),
    blog_errors.TooManyRenames(retry_after_s=10),
    errors.IdempotencyKeyReused(),
    errors.VersionMismatch(),
    errors.BodyTooLarge("Too large."),
    errors.UnsupportedBody("Send JSON."),
    errors.EncodedBody(),
    errors.InvalidFields([FieldFault("/username", "This is too short. Use at least 3 characters.")]),
    errors.DatabaseThrottled(retry_after_s=1),
    errors.DatabaseUnavailable("unreachable"),
    *(error("400/1001") for error in (errors.RequestRefused, errors.ItemTooLarge, errors.PartitionFull)),
    errors.ItemDamaged("post 7f2c1b52: title"),
    errors.NotReady(["feed"]),
    Exception("unexpected"),
]


@pytest.fixture(autouse=True)
def only_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test in this process can import the app, which adds its add-ons to the description."""
    monkeypatch.setattr(docs, "DESCRIBED", docs.DESCRIBED[:6])
    for cached in (docs.operations, docs.openapi_document):
        monkeypatch.setattr(docs, cached.__name__, cache(cached.__wrapped__))


@pytest.fixture(params=AuthMode)
def auth(request: pytest.FixtureRequest) -> AuthMode:
    """Every authentication mode."""
    return AuthMode(request.param)


@pytest.fixture
def document(auth: AuthMode) -> dict[str, Any]:
    return as_served(auth)


def as_served(auth: AuthMode) -> dict[str, Any]:
    served: dict[str, Any] = json.loads(json.dumps(describe(docs.operations(), auth)))
    return served


def of_one(endpoint: Endpoint) -> dict[str, Any]:
    return describe(
        [ApiOperation("get_thing", "", "GET", "things/{postId}", "things", endpoint)], AuthMode.FUNCTION_KEY
    )


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


def responses(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for _, _, operation in operations(document):
        yield from operation["responses"].items()


def problem_types(response: dict[str, Any]) -> set[str]:
    content = response.get("content", {}).get("application/problem+json")
    return set(content["schema"]["properties"]["type"]["enum"]) if content else set()


def test_the_served_document_describes_the_current_authentication_mode() -> None:
    assert json.loads(docs.openapi_document().content) == as_served(AuthMode.FUNCTION_KEY)


def test_the_document_is_valid_openapi_31(document: dict[str, Any]) -> None:
    OpenAPIV31SpecValidator(document).validate()

    assert document["openapi"].startswith("3.1.")


def test_the_document_lists_exactly_the_http_functions(auth: AuthMode) -> None:
    """Runs in its own process because an app lists its functions only once."""
    listing = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", LIST_HTTP_FUNCTIONS],
        cwd=ROOT,
        env={
            **os.environ,
            **environment_of(
                Settings(
                    account=Account("https://account.example"),
                    database="blog",
                    auth=auth,
                    platform_authenticates="True",
                )
            ),
        },
        capture_output=True,
        text=True,
        check=True,
    )

    functions, document = json.loads(listing.stdout)
    served = {tuple(function) for function in functions if function[0] not in DOCS}
    described = {
        (
            operation["operationId"],
            method.upper(),
            f"api{path}",
            "FUNCTION" if operation["security"] and not auth.users_sign_in else "ANONYMOUS",
        )
        for method, path, operation in operations(document)
    }
    assert described == served


def test_every_operation_has_a_summary_from_its_docstring(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        assert operation["summary"], path
        assert "\n" not in operation["summary"] + operation["description"], path


def test_field_examples_of_request_bodies_are_valid(document: dict[str, Any]) -> None:
    bodies = {operation.name: operation.endpoint.body for operation in docs.operations()}

    for _, _, operation in operations(document):
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            properties = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
            example = {name: field["examples"][0] for name, field in properties.items()}
            validator(document, schema).validate(example)
            model = bodies[operation["operationId"]]
            assert model is not None
            model.model_validate(example)


def test_response_schemas_require_every_field_and_omit_system_properties(document: dict[str, Any]) -> None:
    post = document["components"]["schemas"]["Post"]

    assert set(post["required"]) == set(post["properties"]) - {"editedDate"}
    assert not {"_etag", "_rid", "_ts", "ttl", "version", "nameVersion"} & set(post["properties"])


def test_the_problem_schema_accepts_the_response_to_every_error() -> None:
    document = as_served(AuthMode.FUNCTION_KEY)

    assert {type(error) for error in RAISED} >= {*OF_CORE} - {AppError}
    for error in RAISED:
        response = problem_response(error, "/api/posts")
        validator(document, document["components"]["schemas"]["ProblemDetails"]).validate(
            json.loads(response.get_body())
        )


def test_every_problem_type_is_described_under_its_status() -> None:
    described = {
        (status, type_)
        for auth in AuthMode
        for status, response in responses(as_served(auth))
        for type_ in problem_types(response)
    }

    of_operations = [error.problem for error in OF_CORE if error is not errors.PathNotFound]
    assert described == {(str(problem.status), problem.type) for problem in of_operations}


def test_problem_descriptions_do_not_mention_code(document: dict[str, Any]) -> None:
    for _, response in responses(document):
        assert response["description"]
        assert "`" not in response["description"]


def test_every_header_of_a_problem_is_described() -> None:
    document = as_served(AuthMode.APP_SERVICE)

    for error in RAISED:
        sent = problem_response(error, "/api/posts")
        type_ = json.loads(sent.get_body())["type"]
        for _, response in responses(document):
            if type_ in problem_types(response):
                assert {name for name, _ in sent.headers.items()} <= set(response["headers"]), type_


def test_retry_after_is_described_only_for_429_and_503(document: dict[str, Any]) -> None:
    for status, response in responses(document):
        assert ("Retry-After" in response.get("headers", {})) == (status in {"429", "503"})


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("post", "/users", "201 400 401 409 413 415 422 429 500 503 507"),
        ("delete", "/users/{userId}", "204 400 401 404 412 429 500 503 507"),
        ("put", "/posts/{postId}", "200 400 401 404 412 413 415 422 429 500 503 507"),
        ("delete", "/posts/{postId}/likes/{userId}", "204 400 401 404 412 429 500 503 507"),
        ("get", "/posts/{postId}", "200 304 400 404 412 429 500 503"),
        ("get", "/feed", "200 304 400 412 429 500 503"),
        ("post", "/posts/{postId}/likes", "200 201 400 401 404 413 415 422 429 500 503 507"),
        ("get", "/health", "200 400 500 503"),
    ],
)
def test_an_operation_lists_every_possible_status(
    document: dict[str, Any], auth: AuthMode, method: str, path: str, statuses: str
) -> None:
    if auth.users_sign_in:
        statuses = statuses.replace("401", "401 403")

    assert list(document["paths"][path][method]["responses"]) == statuses.split()


@pytest.mark.parametrize(
    ("method", "path", "names"),
    [
        ("post", "/users", "Idempotency-Key x-ms-session-token traceparent"),
        ("put", "/users/{userId}", "userId If-Match x-ms-session-token traceparent"),
        ("get", "/users/{userId}", "userId If-Match If-None-Match x-ms-session-token traceparent"),
        ("get", "/posts/{postId}/comments", "postId limit cursor x-ms-session-token traceparent"),
        ("get", "/feed", "limit If-Match If-None-Match traceparent"),
        (
            "delete",
            "/posts/{postId}/comments/{commentId}",
            "postId commentId If-Match x-ms-session-token traceparent",
        ),
        ("delete", "/users/{userId}", "userId If-Match x-ms-session-token traceparent"),
    ],
)
def test_an_operation_lists_its_parameters(document: dict[str, Any], method: str, path: str, names: str) -> None:
    parameters = document["paths"][path][method]["parameters"]

    assert [parameter["name"] for parameter in parameters] == names.split()


def test_single_resources_have_an_etag_and_new_ones_a_location(document: dict[str, Any]) -> None:
    created = document["paths"]["/posts"]["post"]["responses"]["201"]["headers"]
    page = document["paths"]["/posts/{postId}/likes"]["get"]["responses"]["200"]["headers"]
    unmodified = document["paths"]["/posts/{postId}"]["get"]["responses"]["304"]["headers"]

    assert set(created) == {"ETag", "Location", "x-ms-request-charge", "x-ms-session-token"}
    assert set(page) == {"x-ms-request-charge"}
    assert set(unmodified) == {"ETag", "x-ms-request-charge"}


def test_a_location_is_that_of_an_operation(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        if created := operation["responses"].get("201"):
            has_path = any(other.rpartition("/")[0] == path and other.endswith("}") for other in document["paths"])
            assert ("Location" in created["headers"]) == has_path, path


def test_every_command_returns_a_session_token(document: dict[str, Any]) -> None:
    for method, _, operation in operations(document):
        for status, response in operation["responses"].items():
            described = response.get("headers", {}).get("x-ms-session-token")
            if status in {"200", "201", "204"}:
                assert (described or {}).get("required", False) == (method != "get")
            elif status != "401":
                assert (described is not None) == (method != "get")


def test_only_the_feed_is_cached_downstream(document: dict[str, Any]) -> None:
    cached = [
        path
        for _, path, operation in operations(document)
        if "Cache-Control" in operation["responses"].get("200", {}).get("headers", {})
    ]

    assert cached == ["/feed"]


SECURITY = {
    AuthMode.FUNCTION_KEY: [{"functionKey": []}, {"functionKeyInQuery": []}],
    AuthMode.APP_SERVICE: [{"appService": []}, {"bearer": []}],
}


def test_commands_require_authentication(document: dict[str, Any], auth: AuthMode) -> None:
    for method, _, operation in operations(document):
        assert operation["security"] == ([] if method == "get" else SECURITY[auth])


def test_a_private_query_requires_authentication() -> None:
    [(_, _, operation)] = operations(of_one(Endpoint(private=True)))

    assert operation["security"] == SECURITY[AuthMode.FUNCTION_KEY]


def test_errors_with_the_same_status_share_one_response(document: dict[str, Any]) -> None:
    response = document["paths"]["/posts"]["post"]["responses"]["404"]

    assert problem_types(response) == {"/api/docs#user-not-found", "/api/docs#post-not-found"}


def test_each_error_of_an_endpoint_has_a_status() -> None:
    declared = {error for operation in docs.operations() for error in operation.endpoint.errors}

    assert [error for error in declared if error.problem is AppError.problem] == []


def test_an_endpoint_that_uses_no_items_promises_no_etag_and_no_charge() -> None:
    class Weather(BaseModel):
        mild: bool = True

    described = of_one(dataclasses.replace(AN_ENDPOINT, returns=Weather))

    response = described["paths"]["/things/{postId}"]["get"]["responses"]["200"]
    assert set(response["headers"]) == {"x-ms-request-charge"}
    assert not response["headers"]["x-ms-request-charge"]["required"]
