"""The app registration in Microsoft Entra ID with which people sign in. azd's hooks run these commands:

- `create`, before provisioning: creates the registration and stores its client ID in azd's environment.
- `connect`, afterward: adds the redirect URIs of the site, and trusts the app's identity, which replaces a secret. Then
  creates the app role of moderators, and gives it to the deployer.

Both can be repeated, and neither stops a deployment: if something is missing, they say what. Needs no other packages.
"""

from __future__ import annotations

import json
import locale
import os
import shutil
import subprocess
import sys
import time
import uuid
from functools import cache
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Json = dict[str, Any]

_AUDIENCE = "api://AzureADTokenExchange"
# The Azure CLI, which can get tokens for the API without asking for consent.
_AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
_SCOPE = str(uuid.uuid5(uuid.NAMESPACE_URL, "blog/user_impersonation"))
_CALLBACK = "/.auth/login/aad/callback"
# A new object or scope takes a while to reach all of Microsoft Graph, and a new role, its service principal.
_NOT_YET = ("ResourceNotFound", "was not found on application", "preAuthorizedApplications")
_ATTEMPTS = 5
_TIMEOUT_S = 30

_WITHOUT_SIGN_IN = """
People cannot sign in on this blog yet: {reason}
An app registration needs az, which `az login` signs in, and, if your tenant does not let you create one, the role
Application Developer. Until then, the blog is deployed with BLOG_AUTH=function-key, and its site is read-only.
docs/sign-in.md describes how an administrator can create the registration.
"""
_NOT_CONNECTED = """
The app registration {client} was not updated, so signing in can fail: {reason}
Sign in as its owner with `az login`, and run: azd hooks run postprovision
"""
_NO_MODERATOR = """
Nobody was made a moderator: {reason}
docs/sign-in.md (Moderators) describes how an owner of the enterprise application, or an administrator, gives the role.
"""


class RegistrationError(Exception):
    """Something that the registration needs is missing. The message says what."""


def create() -> str:
    """Create or update the registration of this azd environment. Returns its client ID. Raises RegistrationError."""
    account = _account()
    name = f"blog-{os.environ['AZURE_ENV_NAME']}"
    # https://learn.microsoft.com/graph/api/application-upsert
    place = f"applications(uniqueName='{name}-{account['id']}')"
    scope = {
        "id": _SCOPE,
        "value": "user_impersonation",
        "type": "User",
        "isEnabled": True,
        "adminConsentDisplayName": "Write on the blog",
        "adminConsentDescription": "Write on the blog as the signed-in user.",
    }
    # The audience of version 2 tokens is the client ID, which infra/auth.bicep allows.
    api = {"requestedAccessTokenVersion": 2, "oauth2PermissionScopes": [scope]}
    registration = {"displayName": name, "signInAudience": "AzureADMyOrg", "api": api}
    client = str((_graph("PATCH", place, registration) or _graph("GET", place))["appId"])
    # Graph accepts only a scope that exists: https://github.com/microsoftgraph/microsoft-graph-docs-contrib/issues/1395
    api["preAuthorizedApplications"] = [{"appId": _AZURE_CLI, "delegatedPermissionIds": [_SCOPE]}]
    _graph("PATCH", f"applications(appId='{client}')", {"identifierUris": [f"api://{client}"], "api": api})
    # https://learn.microsoft.com/graph/api/serviceprincipal-upsert
    _graph("PATCH", f"servicePrincipals(appId='{client}')", {"displayName": name})
    return client


def connect(client: str, sites: list[str], identity: str) -> None:
    """Let people return from signing in to `sites`, and trust the identity. Raises RegistrationError."""
    account = _account()
    place = f"applications(appId='{client}')"
    web = _graph("GET", place)["web"]
    redirects = list(dict.fromkeys([*web["redirectUris"], *(site + _CALLBACK for site in sites)]))
    tokens = {**web["implicitGrantSettings"], "enableIdTokenIssuance": True}
    _graph("PATCH", place, {"web": {"redirectUris": redirects, "implicitGrantSettings": tokens}})
    # https://learn.microsoft.com/graph/api/federatedidentitycredential-upsert
    trust = {
        "issuer": f"https://login.microsoftonline.com/{account['tenantId']}/v2.0",
        "subject": identity,
        "audiences": [_AUDIENCE],
    }
    _graph("PATCH", f"{place}/federatedIdentityCredentials(name='function-app')", trust)


def appoint(client: str, role: str) -> bool:
    """Create the app role, and give it to the deployer unless somebody has it. Returns whether the deployer got it.

    Roles and assignments of an administrator stay. Raises RegistrationError, for example without permission:
    https://learn.microsoft.com/graph/api/serviceprincipal-post-approleassignedto#permissions
    """
    place, principal = f"applications(appId='{client}')", f"servicePrincipals(appId='{client}')"
    roles = _graph("GET", place)["appRoles"]
    found = next((one for one in roles if one["value"] == role), None)
    if found is None:
        found = {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"blog/roles/{role}")),
            "value": role,
            "allowedMemberTypes": ["User"],  # and groups
            "isEnabled": True,
            "displayName": role,
            "description": "Delete posts, comments and accounts of others.",
        }
        # Replaces the list. `origin` is read-only: https://learn.microsoft.com/graph/api/resources/approle
        others = [{name: value for name, value in one.items() if name != "origin"} for one in roles]
        _graph("PATCH", place, {"appRoles": [*others, found]})
    assigned = f"{principal}/appRoleAssignedTo"
    if any(one["appRoleId"] == found["id"] for one in _list(assigned)):
        return False
    deployer, resource = _graph("GET", "me")["id"], _graph("GET", principal)["id"]
    try:
        _graph("POST", assigned, {"principalId": deployer, "resourceId": resource, "appRoleId": found["id"]})
    except RegistrationError as error:
        # The list can lag: https://learn.microsoft.com/graph/api/serviceprincipal-list-approleassignedto
        if "already exists" in str(error):
            return False
        raise
    return True


def _account() -> Json:
    """The account of az: `id` is the subscription."""
    account = _az("account", "show")
    wanted = os.environ.get("AZURE_SUBSCRIPTION_ID") or account["id"]
    if account["id"] != wanted:
        raise RegistrationError(f"az uses another subscription than azd. Run: az account set --subscription {wanted}")
    return account


def _list(path: str) -> list[Json]:
    """Return the items of all pages."""
    items: list[Json] = []
    while path:
        page = _graph("GET", path)
        items += page["value"]
        path = page.get("@odata.nextLink", "").removeprefix(f"{_endpoint()[0]}/")
    return items


def _graph(method: str, path: str, body: Json | None = None) -> Json:
    """Send a request to Microsoft Graph. A PATCH creates what does not exist; if it exists, the answer is empty.

    `az rest` cannot do this on Windows, where cmd.exe changes parentheses: https://github.com/Azure/azure-cli/issues/14783
    """
    attempts = 1
    while True:
        try:
            return _send(method, path, body)
        except RegistrationError as error:
            if not any(reason in str(error) for reason in _NOT_YET) or attempts == _ATTEMPTS:
                raise
        attempts += 1
        time.sleep(float(os.environ.get("HOOK_WAIT_S", "5")))


@cache
def _endpoint() -> tuple[str, str]:
    """The address of Microsoft Graph in the cloud of az, and a token for it."""
    address = _az("cloud", "show")["endpoints"]["microsoftGraphResourceId"].rstrip("/")
    return f"{address}/v1.0", _az("account", "get-access-token", "--resource-type", "ms-graph")["accessToken"]


def _send(method: str, path: str, body: Json | None) -> Json:
    address, token = _endpoint()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    if method == "PATCH":
        headers["Prefer"] = "create-if-missing"
    data = None if body is None else json.dumps(body).encode()
    try:
        request = Request(f"{address}/{path}", data, headers, method=method)  # noqa: S310 - az names the address
        with urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310 - as above
            return dict(json.loads(response.read() or "{}"))
    except HTTPError as error:
        with error:
            raise RegistrationError(f"{error}: {_line(error.read().decode(errors='replace'))}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise RegistrationError(f"Microsoft Graph did not answer: {_line(str(error))}") from error


def _line(text: str) -> str:
    return " ".join(text.split())[:500]


def _az(*command: str) -> Json:
    return dict(json.loads(_run("az", *command, "--output", "json")))


def _run(program: str, *arguments: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RegistrationError(f"{program} is not installed.")
    # On Windows, az ignores the UTF-8 mode of this process, and writes in the code page of the system.
    encoding = locale.getencoding()
    done = subprocess.run([found, *arguments], capture_output=True, encoding=encoding, errors="replace", check=False)  # noqa: S603 - az and azd
    if done.returncode != 0:
        raise RegistrationError(_line(done.stderr))
    return done.stdout.strip()


def main(command: str) -> None:
    """Run a command, and say what is missing if it fails."""
    client = os.environ.get("AUTH_CLIENT_ID", "")
    if os.environ.get("BLOG_AUTH") == "function-key":
        return
    message = _NOT_CONNECTED if client else _WITHOUT_SIGN_IN
    try:
        if command == "create" and not client:
            client = create()
            message = _NOT_CONNECTED
            _run("azd", "env", "set", "AUTH_CLIENT_ID", client)
            sys.stdout.write(f"Created the app registration {client}, with which people sign in.\n")
        elif command == "connect" and client:
            sites = [os.environ[name].rstrip("/") for name in ("BLOG_URL", "BLOG_SITE_URL") if os.environ.get(name)]
            connect(client, sites, os.environ["APP_IDENTITY_PRINCIPAL_ID"])
            message = _NO_MODERATOR
            # An output of main.bicep. Empty: nobody moderates.
            role = os.environ.get("BLOG_MODERATOR_ROLE") if os.environ.get("BLOG_MODERATION") == "1" else None
            if role and appoint(client, role):
                sys.stdout.write(f"You are a moderator of the blog (app role {role}), from when you next sign in.\n")
    except RegistrationError as error:
        sys.stdout.write(message.format(client=client, reason=error))


if __name__ == "__main__":
    main(sys.argv[1])
