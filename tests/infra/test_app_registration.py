"""The app registration, with programs that stand for az and azd, and a server that stands for Microsoft Graph."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.running_app import REPOSITORY

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stands for az with a script")

Json = dict[str, Any]
CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
# cmd.exe, which runs az.cmd on Windows, changes these: https://github.com/Azure/azure-cli/issues/28692
CHANGED_BY_CMD = set("()<>&|^%!\"'")
PROGRAM = """
import json, os, pathlib, sys
with pathlib.Path(os.environ["CALLS"]).open("a") as file:
    print(json.dumps([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]), file=file)
"""
AZ = """
if name := os.environ.get("TENANT_NAME"):
    sys.stdout.reconfigure(encoding="latin-1")
if problem := os.environ.get("AZ_FAILS"):
    sys.exit("ERROR: " + problem)
answers = {
    "account show": {"id": "sub", "tenantId": "tenant", "tenantDisplayName": name},
    "cloud show": {"endpoints": {"microsoftGraphResourceId": os.environ["GRAPH"]}},
    "account get-access-token": {"accessToken": "token"},
}
command = " ".join(word for word in sys.argv[1:3] if not word.startswith("--"))
print(json.dumps(answers[command], ensure_ascii=False))
"""


class Refused(Exception):
    """The status, and the code and message of the error."""


@dataclass
class Graph:
    """Microsoft Graph with its documented rules. Keeps objects by path, as in `applications(appId='…')`."""

    objects: dict[str, Json] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    assigned: list[Json] = field(default_factory=list)
    # The requests that start with one of these are refused.
    forbidden: tuple[str, ...] = ()
    # How many assignments come before the service principal has a new role.
    lag: int = 0
    # How many of the last assignments are not listed yet.
    unlisted: int = 0

    def answer(self, method: str, path: str, body: Json) -> Json | None:
        """Return the body of the answer, or None for 204. Raises Refused."""
        if f"{method} {path}".startswith(self.forbidden or ("never",)):
            raise Refused(403, "Authorization_RequestDenied", "Insufficient privileges to complete the operation.")
        if path == "me":
            return {"id": "deployer"}
        place, _, rest = path.partition("/")
        key = "/".join([self.aliases.get(place, place), rest]).rstrip("/")
        if rest.startswith("appRoleAssignedTo"):
            return self._assign(place, body) if method == "POST" else self._page(rest)
        if method == "GET":
            if key not in self.objects:
                raise Refused(404, "Request_ResourceNotFound", "Resource does not exist.")
            return self.objects[key]
        return self._upsert(path, key, body)

    def _upsert(self, path: str, key: str, body: Json) -> Json | None:
        """https://learn.microsoft.com/graph/api/application-upsert: 201 with the object, then 204."""
        is_new = key not in self.objects
        made = self.objects.setdefault(key, {})
        if is_new and path.startswith("applications(uniqueName"):
            web = {"redirectUris": [], "implicitGrantSettings": {"enableAccessTokenIssuance": False}}
            made |= {"appId": "client", "web": web, "appRoles": []}
            self.aliases["applications(appId='client')"] = key
        elif is_new and path.startswith("servicePrincipals"):
            made |= {"id": "resource"}
        self._check_roles(made.get("appRoles", []), body.get("appRoles"))
        self._check_scopes(made.get("api", {}), body.get("api", {}))
        made |= body
        for role in made.get("appRoles", []):
            role["origin"] = "Application"
        return made if is_new else None

    @staticmethod
    def _check_scopes(before: Json, after: Json) -> None:
        """https://github.com/microsoftgraph/microsoft-graph-docs-contrib/issues/1395"""
        known = {scope["id"] for scope in before.get("oauth2PermissionScopes", [])}
        for application in after.get("preAuthorizedApplications", []):
            if not known.issuperset(application["delegatedPermissionIds"]):
                raise Refused(400, "InvalidValue", "Property preAuthorizedApplications has an unknown permission.")

    @staticmethod
    def _check_roles(before: list[Json], after: list[Json] | None) -> None:
        """https://learn.microsoft.com/graph/api/resources/approle"""
        if after is None:
            return
        if any("origin" in role for role in after):
            raise Refused(400, "Request_BadRequest", "Property 'origin' is read-only and cannot be set.")
        if {role["id"] for role in before if role["isEnabled"]} - {role["id"] for role in after}:
            raise Refused(400, "CannotDeleteOrUpdateEnabledEntitlement", "Disable the role before you delete it.")
        for role in after:
            assert re.fullmatch(r"[!#-\[\]-~]{1,120}", role["value"])

    def _assign(self, place: str, body: Json) -> Json:
        """https://learn.microsoft.com/graph/api/serviceprincipal-post-approleassignedto"""
        assert body["resourceId"] == self.objects[place]["id"]
        application = self.objects[self.aliases[place.replace("servicePrincipals", "applications")]]
        self.lag -= 1
        if self.lag >= 0 or body["appRoleId"] not in [role["id"] for role in application["appRoles"]]:
            raise Refused(400, "Request_BadRequest", "Permission being assigned was not found on application")
        if body in self.assigned:
            raise Refused(400, "Request_BadRequest", "Permission being assigned already exists on the object")
        self.assigned.append(body)
        return body

    def _page(self, rest: str) -> Json:
        """One assignment on each page."""
        number = int(rest.partition("skiptoken=")[2] or 0)
        listed = self.assigned[: len(self.assigned) - self.unlisted]
        page: Json = {"value": listed[number : number + 1]}
        if number + 1 < len(listed):
            page["@odata.nextLink"] = f"servicePrincipals(appId='client')/appRoleAssignedTo?$skiptoken={number + 1}"
        return page


@dataclass
class Tenant:
    """Microsoft Graph, and what az and azd were called with."""

    folder: Path
    graph: Graph
    url: str

    @property
    def application(self) -> Json:
        return self.graph.objects["applications(uniqueName='blog-test-sub')"]

    @property
    def calls(self) -> list[list[str]]:
        file = self.folder / "calls.log"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    @property
    def told(self) -> list[str]:
        """What azd was told."""
        return [" ".join(arguments) for name, *arguments in self.calls if name == "azd"]

    def run(self, command: str, **environment: str) -> str:
        """Run a command as a hook does, and return what it prints."""
        given = {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "GRAPH": self.url,
            "CALLS": str(self.folder / "calls.log"),
            "AZURE_ENV_NAME": "test",
            "AZURE_SUBSCRIPTION_ID": "sub",
            "HOOK_WAIT_S": "0",
        }
        run = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "management.app_registration", command],
            cwd=REPOSITORY,
            env=given | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return run.stdout

    def connect(self, **environment: str) -> str:
        outputs = {
            "BLOG_URL": "https://func.example",
            "APP_IDENTITY_PRINCIPAL_ID": "identity",
            "BLOG_MODERATION": "1",
            "BLOG_MODERATOR_ROLE": "Moderator",
        }
        return self.run("connect", **{"AUTH_CLIENT_ID": "client"} | outputs | environment)


@pytest.fixture
def tenant(tmp_path: Path) -> Iterator[Tenant]:
    for name, source in (("az", AZ), ("azd", "")):
        text = f"#!{sys.executable}\n{textwrap.dedent(PROGRAM)}{textwrap.dedent(source)}"
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    graph = Graph()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(graph)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Tenant(tmp_path, graph, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
        thread.join()


def _handler(graph: Graph) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _respond(self) -> None:
            address = urlsplit(self.path)
            assert self.headers["Authorization"] == "Bearer token"
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
            assert not body or self.headers["Content-Type"] == "application/json"
            assert (self.headers["Prefer"] == "create-if-missing") == (self.command == "PATCH")
            path = address.path.removeprefix("/v1.0/") + (f"?{address.query}" if address.query else "")
            status, answer = 200, None
            try:
                answer = graph.answer(self.command, path, body)
            except Refused as refused:
                status, code, message = refused.args
                answer = {"error": {"code": code, "message": message}}
            if answer and "@odata.nextLink" in answer:
                answer["@odata.nextLink"] = f"http://{self.headers['Host']}/v1.0/{answer['@odata.nextLink']}"
            self.send_response(status if answer is not None else 204)
            self.end_headers()
            if answer is not None:
                self.wfile.write(json.dumps(answer).encode())

        do_GET = do_PATCH = do_POST = _respond  # noqa: N815 - names of the library

        def log_message(self, *_: object) -> None:
            """Not to the output of the tests."""

    return Handler


def test_create_registers_the_app_and_tells_azd(tenant: Tenant) -> None:
    tenant.run("create")

    assert tenant.told == ["env set AUTH_CLIENT_ID client"]
    application = tenant.application
    assert (application["signInAudience"], application["identifierUris"]) == ("AzureADMyOrg", ["api://client"])
    assert application["api"]["requestedAccessTokenVersion"] == 2
    (scope,) = application["api"]["oauth2PermissionScopes"]
    (known,) = application["api"]["preAuthorizedApplications"]
    assert known == {"appId": CLI, "delegatedPermissionIds": [scope["id"]]}
    assert "servicePrincipals(appId='client')" in tenant.graph.objects


def test_connect_adds_redirects_and_trusts_the_identity_instead_of_a_secret(tenant: Tenant) -> None:
    tenant.run("create")

    tenant.connect(BLOG_SITE_URL="https://blog.example")

    web = tenant.application["web"]
    callback = "/.auth/login/aad/callback"
    assert web["redirectUris"] == [f"https://func.example{callback}", f"https://blog.example{callback}"]
    assert web["implicitGrantSettings"] == {"enableAccessTokenIssuance": False, "enableIdTokenIssuance": True}
    trusted = tenant.graph.objects[
        "applications(uniqueName='blog-test-sub')/federatedIdentityCredentials(name='function-app')"
    ]
    assert trusted == {
        "issuer": "https://login.microsoftonline.com/tenant/v2.0",
        "subject": "identity",
        "audiences": ["api://AzureADTokenExchange"],
    }
    assert "passwordCredentials" not in tenant.application


def test_both_can_be_repeated(tenant: Tenant) -> None:
    for _ in range(2):
        tenant.run("create")
        tenant.connect(BLOG_SITE_URL="https://func.example")  # the same site

    assert tenant.application["web"]["redirectUris"] == ["https://func.example/.auth/login/aad/callback"]
    assert len(tenant.graph.objects) == 3


def test_a_given_registration_is_used(tenant: Tenant) -> None:
    tenant.run("create", AUTH_CLIENT_ID="given", AZ_FAILS="not asked")

    assert (tenant.graph.objects, tenant.told) == ({}, [])


@pytest.mark.parametrize("command", ["create", "connect"])
def test_nothing_is_registered_for_function_keys(tenant: Tenant, command: str) -> None:
    assert tenant.run(command, BLOG_AUTH="function-key", AZ_FAILS="not asked") == ""
    assert tenant.graph.objects == {}


def test_without_permission_it_says_what_is_missing_and_azd_continues(tenant: Tenant) -> None:
    tenant.graph.forbidden = ("PATCH applications",)

    printed = tenant.run("create")

    assert "Authorization_RequestDenied" in printed
    assert "Application Developer" in printed
    assert "BLOG_AUTH=function-key" in printed
    assert tenant.told == []


def test_another_subscription_of_az_is_not_touched(tenant: Tenant) -> None:
    printed = tenant.run("create", AZURE_SUBSCRIPTION_ID="other")

    assert "az account set --subscription other" in printed
    assert tenant.graph.objects == {}


def test_without_az_it_says_so(tenant: Tenant) -> None:
    assert "az is not installed" in tenant.run("create", PATH="/nonexistent")


def test_a_registration_that_cannot_be_changed_is_named(tenant: Tenant) -> None:
    tenant.run("create")
    tenant.graph.forbidden = ("PATCH applications",)

    printed = tenant.connect()

    assert "Authorization_RequestDenied" in printed
    assert "client was not updated" in printed
    assert "azd hooks run postprovision" in printed


def test_a_missing_registration_is_tried_again_and_then_named(tenant: Tenant) -> None:
    assert "Request_ResourceNotFound" in tenant.connect()


def test_without_a_signed_in_az_it_says_so(tenant: Tenant) -> None:
    assert "Please run 'az login'" in tenant.run("create", AZ_FAILS="Please run 'az login' to setup account.")


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "not an address"])
def test_without_microsoft_graph_it_says_so(tenant: Tenant, address: str) -> None:
    printed = tenant.run("create", GRAPH=address)

    assert "Microsoft Graph" in printed
    assert "BLOG_AUTH=function-key" in printed


def test_az_can_write_in_another_encoding(tenant: Tenant) -> None:
    """As on Windows, where az ignores the UTF-8 mode."""
    assert "Created the app registration" in tenant.run("create", TENANT_NAME="Müller", PYTHONUTF8="1")


def test_no_argument_of_a_program_has_characters_that_windows_changes(tenant: Tenant) -> None:
    """The names are valid for azd, which has them in environment variables."""
    hostile = {"AZURE_ENV_NAME": "bl(o)g", "BLOG_SITE_URL": "https://blog.example/%22&x=(1)^'"}

    tenant.run("create", **hostile)
    tenant.connect(**hostile)

    assert [call for call in tenant.calls if CHANGED_BY_CMD & set("".join(call))] == []
    assert {name for name, *_ in tenant.calls} == {"az", "azd"}
    assert "applications(uniqueName='blog-bl(o)g-sub')" in tenant.graph.objects


def roles(tenant: Tenant) -> list[str]:
    return [role["value"] for role in tenant.application["appRoles"]]


def moderators(tenant: Tenant) -> list[str]:
    (role,) = [role["id"] for role in tenant.application["appRoles"] if role["value"] == "Moderator"]
    return [given["principalId"] for given in tenant.graph.assigned if given["appRoleId"] == role]


def test_connect_creates_the_role_and_gives_it_to_the_deployer(tenant: Tenant) -> None:
    tenant.run("create")

    printed = tenant.connect()

    (role,) = tenant.application["appRoles"]
    assert (role["value"], role["allowedMemberTypes"], role["isEnabled"]) == ("Moderator", ["User"], True)
    assert moderators(tenant) == ["deployer"]
    assert "You are a moderator" in printed


def test_giving_the_role_again_changes_nothing(tenant: Tenant) -> None:
    tenant.run("create")
    tenant.connect()
    before = json.dumps([tenant.graph.objects, tenant.graph.assigned])

    assert tenant.connect() == ""

    assert json.dumps([tenant.graph.objects, tenant.graph.assigned]) == before


def test_roles_and_moderators_of_an_administrator_stay(tenant: Tenant) -> None:
    """Also if the deployer is not a moderator any more."""
    tenant.run("create")
    mine = {"id": "mine", "value": "Editor", "isEnabled": True, "origin": "Application"}
    tenant.application["appRoles"].append(mine)
    tenant.graph.assigned += [
        {"principalId": f"editor {number}", "resourceId": "resource", "appRoleId": "mine"} for number in range(2)
    ]
    tenant.connect()
    tenant.graph.assigned[-1]["principalId"] = "somebody"

    tenant.connect()

    assert roles(tenant) == ["Editor", "Moderator"]
    assert moderators(tenant) == ["somebody"]
    assert len(tenant.graph.assigned) == 3


def test_a_role_that_an_administrator_created_is_used(tenant: Tenant) -> None:
    tenant.run("create")
    tenant.application["appRoles"].append({"id": "mine", "value": "Moderator", "isEnabled": True})

    tenant.connect()

    assert (roles(tenant), moderators(tenant)) == (["Moderator"], ["deployer"])


def test_another_name_of_the_role_is_another_role(tenant: Tenant) -> None:
    tenant.run("create")
    tenant.connect()

    tenant.connect(BLOG_MODERATOR_ROLE="Blog.Moderate")

    first, second = tenant.application["appRoles"]
    assert roles(tenant) == ["Moderator", "Blog.Moderate"]
    assert first["id"] != second["id"]


def test_a_role_is_tried_again_until_it_has_reached_the_service_principal(tenant: Tenant) -> None:
    tenant.run("create")
    tenant.graph.lag = 2

    tenant.connect()

    assert moderators(tenant) == ["deployer"]


def test_a_moderator_who_is_not_listed_yet_is_one(tenant: Tenant) -> None:
    tenant.run("create")
    tenant.connect()
    tenant.graph.unlisted = 1

    assert tenant.connect() == ""

    assert moderators(tenant) == ["deployer"]


@pytest.mark.parametrize("role", ["", None])
def test_without_a_role_there_are_no_moderators(tenant: Tenant, role: str | None) -> None:
    """Templates before the role have no such output."""
    tenant.run("create")

    given = {"AUTH_CLIENT_ID": "client", "APP_IDENTITY_PRINCIPAL_ID": "identity"}
    printed = tenant.run("connect", **given, **({} if role is None else {"BLOG_MODERATOR_ROLE": role}))

    assert (printed, roles(tenant), tenant.graph.assigned) == ("", [], [])


def test_without_the_moderation_there_are_no_moderators(tenant: Tenant) -> None:
    tenant.run("create")

    assert (tenant.connect(BLOG_MODERATION="0"), roles(tenant), tenant.graph.assigned) == ("", [], [])


@pytest.mark.parametrize("forbidden", ["POST servicePrincipals", "GET me"])
def test_without_permission_to_give_the_role_it_says_so_after_the_rest(tenant: Tenant, forbidden: str) -> None:
    """A service principal, such as a pipeline's, is not somebody."""
    tenant.run("create")
    tenant.graph.forbidden = (forbidden,)

    printed = tenant.connect()

    assert "Authorization_RequestDenied" in printed
    assert "docs/sign-in.md (Moderators)" in printed
    assert "was not updated" not in printed
    assert tenant.application["web"]["redirectUris"] == ["https://func.example/.auth/login/aad/callback"]
    assert roles(tenant) == ["Moderator"]
