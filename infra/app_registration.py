"""The app registration in Microsoft Entra ID with which people sign in. azd's hooks run these commands:

- `create`, before provisioning: creates the registration and stores its client ID in azd's environment.
- `connect`, afterward: adds the redirect URIs of the site, and trusts the app's identity, which replaces a secret.

Both can be repeated, and neither stops a deployment: if something is missing, they say what. Needs no other packages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Json = dict[str, Any]

_GRAPH = "https://graph.microsoft.com/v1.0"
_AUDIENCE = "api://AzureADTokenExchange"
# The Azure CLI, which can get tokens for the API without asking for consent.
_AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
_SCOPE = str(uuid.uuid5(uuid.NAMESPACE_URL, "blog/user_impersonation"))
_CALLBACK = "/.auth/login/aad/callback"
# A new object takes a while to reach all of Microsoft Graph.
_ATTEMPTS = 5

_WITHOUT_SIGN_IN = """
People cannot sign in on this blog yet: {reason}
An app registration needs az, which `az login` signs in, and, if your tenant does not let you create one, the role
Application Developer. Until then, the blog is deployed with BLOG_AUTH=function-key, and its site is read-only.
docs/deploy.md (Sign-in) describes how an administrator can create the registration.
"""
_NOT_CONNECTED = """
The app registration {client} was not updated, so signing in can fail: {reason}
Sign in as its owner with `az login`, and run: azd hooks run postprovision
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
    registration = {
        "displayName": name,
        "signInAudience": "AzureADMyOrg",
        "api": {
            # The audience of version 2 tokens is the client ID, which infra/auth.bicep allows.
            "requestedAccessTokenVersion": 2,
            "oauth2PermissionScopes": [scope],
            "preAuthorizedApplications": [{"appId": _AZURE_CLI, "delegatedPermissionIds": [_SCOPE]}],
        },
    }
    client = str((_graph("PATCH", place, registration) or _graph("GET", place))["appId"])
    _graph("PATCH", f"applications(appId='{client}')", {"identifierUris": [f"api://{client}"]})
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


def _account() -> Json:
    """The account of az: `id` is the subscription."""
    account = json.loads(_run("az", "account", "show", "--output", "json"))
    wanted = os.environ.get("AZURE_SUBSCRIPTION_ID") or account["id"]
    if account["id"] != wanted:
        raise RegistrationError(f"az uses another subscription than azd. Run: az account set --subscription {wanted}")
    return dict(account)


def _graph(method: str, path: str, body: Json | None = None) -> Json:
    """Send a request to Microsoft Graph. A PATCH creates what does not exist; if it exists, the answer is empty."""
    command = ["az", "rest", "--method", method, "--url", f"{_GRAPH}/{path}", "--output", "json"]
    with TemporaryDirectory() as folder:
        if body is not None:
            # In a file, because cmd.exe, which runs az on Windows, changes quotes.
            file = Path(folder, "body.json")
            file.write_text(json.dumps(body), encoding="utf-8")
            command += ["--headers", "Content-Type=application/json", "Prefer=create-if-missing", "--body", f"@{file}"]
        attempts = 1
        while True:
            try:
                return dict(json.loads(_run(*command) or "{}"))
            except RegistrationError as error:
                if "ResourceNotFound" not in str(error) or attempts == _ATTEMPTS:
                    raise
            attempts += 1
            time.sleep(float(os.environ.get("HOOK_WAIT_S", "5")))


def _run(program: str, *arguments: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RegistrationError(f"{program} is not installed.")
    done = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - az and azd
    if done.returncode != 0:
        raise RegistrationError(" ".join(done.stderr.split())[:500])
    return done.stdout.strip()


def main(command: str) -> None:
    """Run a command, and say what is missing if it fails."""
    client = os.environ.get("AUTH_CLIENT_ID", "")
    if os.environ.get("BLOG_AUTH") == "function-key":
        return
    try:
        if command == "create" and not client:
            client = create()
            _run("azd", "env", "set", "AUTH_CLIENT_ID", client)
            sys.stdout.write(f"Created the app registration {client}, with which people sign in.\n")
        elif command == "connect" and client:
            sites = [os.environ[name].rstrip("/") for name in ("BLOG_URL", "BLOG_SITE_URL") if os.environ.get(name)]
            connect(client, sites, os.environ["APP_IDENTITY_PRINCIPAL_ID"])
    except RegistrationError as error:
        message = _NOT_CONNECTED if client else _WITHOUT_SIGN_IN
        sys.stdout.write(message.format(client=client, reason=error))


if __name__ == "__main__":
    main(sys.argv[1])
