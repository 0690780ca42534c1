"""Authorization: trusted back ends and signed-in callers with the app role `BLOG_MODERATOR_ROLE` are moderators."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import azure.functions as func

from addons.moderation.settings import moderation_settings
from addons.web.web_page import WebPage
from shared.endpoints import Endpoint
from shared.platform.errors import Forbidden
from shared.platform.http.callers import BackEnd, signed_in_caller
from shared.platform.http.calls import Call

# The name that App Service gives this provider. Users of another one might choose their roles themselves.
_ENTRA_ID = "aad"
# The second is the first one after the claims mapping of App Service, which depends on the token:
# https://github.com/AzureAD/microsoft-identity-web/issues/1983, https://github.com/Azure/static-web-apps/issues/655
_ROLE_CLAIMS = ("roles", "http://schemas.microsoft.com/ws/2008/06/identity/claims/role")


def moderates(headers: Mapping[str, str]) -> bool:
    """Return whether the reader of a page is a moderator."""
    return moderation_settings().everybody_moderates or has_role(headers)


def has_role(headers: Mapping[str, str]) -> bool:
    """Return whether a caller with the app role is signed in. Malformed claims have no role."""
    role = moderation_settings().moderator_role
    if not role or headers.get("X-MS-CLIENT-PRINCIPAL-IDP") != _ENTRA_ID or signed_in_caller(headers) is None:
        return False
    try:
        # The claims of the principal are base64-encoded JSON.
        principal = json.loads(base64.b64decode(headers.get("X-MS-CLIENT-PRINCIPAL", ""), validate=True))
        claims = [(claim["typ"], claim["val"]) for claim in principal["claims"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    return any((claim_type, role) in claims for claim_type in _ROLE_CLAIMS)


def _require_moderator(call: Call[Any], request: func.HttpRequest) -> None:
    if not isinstance(call.caller, BackEnd) and not has_role(request.headers):
        raise Forbidden("Only moderators can do this.")


@dataclass(frozen=True)
class ModeratorEndpoint(Endpoint):
    """An endpoint for moderators only, whatever user its path names."""

    def authorize(self, call: Call[Any], request: func.HttpRequest) -> None:
        _require_moderator(call, request)


@dataclass(frozen=True)
class ModeratorPage(WebPage):
    """A page for moderators only."""

    def authorize(self, call: Call[Any], request: func.HttpRequest) -> None:
        _require_moderator(call, request)
