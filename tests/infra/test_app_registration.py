"""The app registration, with programs that stand for az and azd and keep the documented rules of Microsoft Graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.running_app import REPOSITORY

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stands for az with a script")

CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
# Keeps objects by path, as in `applications(appId='…')`. An upsert answers 201 with the object, then 204 without.
AZ = """
import json, os, pathlib, sys
arguments, state = sys.argv[1:], pathlib.Path(os.environ["GRAPH"])
if problem := os.environ.get("AZ_FAILS"):
    sys.exit("ERROR: " + problem)
if arguments[:2] == ["account", "show"]:
    print(json.dumps({"id": "sub", "tenantId": "tenant"}))
    sys.exit()
options = {name: arguments[place + 1] for place, name in enumerate(arguments) if name.startswith("--")}
path, graph = options["--url"].removeprefix("https://graph.microsoft.com/v1.0/"), json.loads(state.read_text())
place = graph["aliases"].get(path.partition("/")[0], path.partition("/")[0])
key = "/".join([place, *path.split("/")[1:]])
if options["--method"] == "GET":
    if key not in graph["objects"]:
        sys.exit('ERROR: Not Found({"error":{"code":"Request_ResourceNotFound"}})')
    print(json.dumps(graph["objects"][key]))
    sys.exit()
assert "Prefer=create-if-missing" in arguments and "Content-Type=application/json" in arguments
body = json.loads(pathlib.Path(options["--body"].removeprefix("@")).read_text())
is_new = key not in graph["objects"]
made = graph["objects"].setdefault(key, {})
if is_new and path.startswith("applications(uniqueName"):
    web = {"redirectUris": [], "implicitGrantSettings": {"enableAccessTokenIssuance": False}}
    made |= {"appId": "client", "web": web}
    graph["aliases"]["applications(appId='client')"] = key
made |= body
state.write_text(json.dumps(graph))
print(json.dumps(made) if is_new else "")
"""
AZD = """
import os, pathlib, sys
with pathlib.Path(os.environ["AZD_CALLS"]).open("a") as file:
    print(*sys.argv[1:], file=file)
"""


@dataclass
class Tenant:
    """The state of Microsoft Graph, and what azd was told."""

    folder: Path

    @property
    def objects(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "graph.json").read_text(encoding="utf-8"))["objects"])

    @property
    def application(self) -> dict[str, Any]:
        return dict(self.objects["applications(uniqueName='blog-test-sub')"])

    @property
    def told(self) -> str:
        file = self.folder / "azd.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def run(self, command: str, **environment: str) -> str:
        """Run a command as a hook does, and return what it prints."""
        given = {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "GRAPH": str(self.folder / "graph.json"),
            "AZD_CALLS": str(self.folder / "azd.log"),
            "AZURE_ENV_NAME": "test",
            "AZURE_SUBSCRIPTION_ID": "sub",
            "HOOK_WAIT_S": "0",
        }
        run = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "infra.app_registration", command],
            cwd=REPOSITORY,
            env=given | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return run.stdout

    def connect(self, **environment: str) -> str:
        outputs = {"BLOG_URL": "https://func.example", "APP_IDENTITY_PRINCIPAL_ID": "identity"}
        return self.run("connect", **{"AUTH_CLIENT_ID": "client"} | outputs | environment)


@pytest.fixture
def tenant(tmp_path: Path) -> Tenant:
    for name, source in (("az", AZ), ("azd", AZD)):
        (tmp_path / name).write_text(f"#!{sys.executable}\n{textwrap.dedent(source)}", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "graph.json").write_text('{"objects": {}, "aliases": {}}', encoding="utf-8")
    return Tenant(tmp_path)


def test_create_registers_the_app_and_tells_azd(tenant: Tenant) -> None:
    tenant.run("create")

    assert tenant.told == "env set AUTH_CLIENT_ID client\n"
    application = tenant.application
    assert (application["signInAudience"], application["identifierUris"]) == ("AzureADMyOrg", ["api://client"])
    assert application["api"]["requestedAccessTokenVersion"] == 2
    (scope,) = application["api"]["oauth2PermissionScopes"]
    (known,) = application["api"]["preAuthorizedApplications"]
    assert known == {"appId": CLI, "delegatedPermissionIds": [scope["id"]]}
    assert "servicePrincipals(appId='client')" in tenant.objects


def test_connect_adds_redirects_and_trusts_the_identity_instead_of_a_secret(tenant: Tenant) -> None:
    tenant.run("create")

    tenant.connect(BLOG_SITE_URL="https://blog.example")

    web = tenant.application["web"]
    callback = "/.auth/login/aad/callback"
    assert web["redirectUris"] == [f"https://func.example{callback}", f"https://blog.example{callback}"]
    assert web["implicitGrantSettings"] == {"enableAccessTokenIssuance": False, "enableIdTokenIssuance": True}
    trusted = tenant.objects[
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
    assert len(tenant.objects) == 3


def test_a_given_registration_is_used(tenant: Tenant) -> None:
    tenant.run("create", AUTH_CLIENT_ID="given", AZ_FAILS="not asked")

    assert (tenant.objects, tenant.told) == ({}, "")


@pytest.mark.parametrize("command", ["create", "connect"])
def test_nothing_is_registered_for_function_keys(tenant: Tenant, command: str) -> None:
    assert tenant.run(command, BLOG_AUTH="function-key", AZ_FAILS="not asked") == ""
    assert tenant.objects == {}


def test_without_permission_it_says_what_is_missing_and_azd_continues(tenant: Tenant) -> None:
    printed = tenant.run("create", AZ_FAILS='Forbidden({"error":{"code":"Authorization_RequestDenied"}})')

    assert "Authorization_RequestDenied" in printed
    assert "Application Developer" in printed
    assert "BLOG_AUTH=function-key" in printed
    assert tenant.told == ""


def test_another_subscription_of_az_is_not_touched(tenant: Tenant) -> None:
    printed = tenant.run("create", AZURE_SUBSCRIPTION_ID="other")

    assert "az account set --subscription other" in printed
    assert tenant.objects == {}


def test_without_az_it_says_so(tenant: Tenant) -> None:
    assert "az is not installed" in tenant.run("create", PATH="/nonexistent")


def test_a_registration_that_cannot_be_changed_is_named(tenant: Tenant) -> None:
    printed = tenant.connect(AZ_FAILS="Forbidden")

    assert "client was not updated" in printed
    assert "azd hooks run postprovision" in printed


def test_a_missing_registration_is_tried_again_and_then_named(tenant: Tenant) -> None:
    assert "Request_ResourceNotFound" in tenant.connect()
