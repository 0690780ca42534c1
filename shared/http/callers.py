"""Authentication and authorization: who sends a command (`BLOG_AUTH` selects how), and what they can do.

A back end with a function key can do everything. A signed-in caller

- acts as their own user only: in every command that names a user, in its path or body;
- edits their own posts: the command checks the author (shared/data/posts.py);
- deletes what shared/data/permissions.py lets them delete. A moderator has the app role `BLOG_MODERATOR_ROLE`.

A signed-in caller has exactly one user, whose ID is derived from the identity provider and the principal. Creating the
user is therefore the binding: no lookup or second write is needed, and a crash cannot leave an incomplete binding.
docs/settings.md lists the consequences.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace

from shared.data.permissions import BackEnd, Caller, SignedIn
from shared.errors import Forbidden, NotAuthenticated
from shared.settings import AuthMode, app_settings

_NAMESPACE = uuid.UUID("d3a5e9fc-7d0f-4c1c-9a2e-5b8c8b0f2f66")
# https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header. Pages cannot set this header.
_OTHER_SITES = ("cross-site", "same-site")
# The name that App Service gives this provider. Users of another one might choose their roles themselves.
_ENTRA_ID = "aad"
# The second is the first one after the claims mapping of App Service, which depends on the token:
# https://github.com/AzureAD/microsoft-identity-web/issues/1983, https://github.com/Azure/static-web-apps/issues/655
_ROLE_CLAIMS = ("roles", "http://schemas.microsoft.com/ws/2008/06/identity/claims/role")
# Without line breaks. OpenID Connect Core, section 2, limits subjects to 255 ASCII characters.
_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")

# The caller of a query. No user can have this ID.
ANONYMOUS = SignedIn(uuid.UUID(int=0))


def authenticate(headers: Mapping[str, str], *, is_query: bool = False) -> Caller:
    """Return the caller of a command or of a private query. With function keys, headers about the user are ignored.

    Raises NotAuthenticated, and Forbidden if another site makes a browser send the request with the cookie of its user.
    A link on another site can lead to a private page.
    """
    if app_settings().auth is not AuthMode.APP_SERVICE:
        return BackEnd()  # the host has already checked the function key
    caller = _caller_of_app_service(headers)
    is_link = is_query and headers.get("Sec-Fetch-Mode") == "navigate"
    if headers.get("Sec-Fetch-Site") in _OTHER_SITES and "Authorization" not in headers and not is_link:
        raise Forbidden("Another site sent this request.")
    return caller


def signed_in_caller(headers: Mapping[str, str]) -> SignedIn | None:
    """The caller whose session a page is requested with; None without a session."""
    if app_settings().auth is not AuthMode.APP_SERVICE:
        return None
    try:
        return _caller_of_app_service(headers)
    except NotAuthenticated:
        return None


def _caller_of_app_service(headers: Mapping[str, str]) -> SignedIn:
    """Read the principal that App Service authentication adds to a request.

    The platform removes client-supplied copies of these headers, but only if its authentication is enabled.
    https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities#access-user-claims-in-app-code
    """
    if not app_settings().can_sign_in:
        raise NotAuthenticated("App Service authentication is not enabled.")
    provider = headers.get("X-MS-CLIENT-PRINCIPAL-IDP")
    principal = headers.get("X-MS-CLIENT-PRINCIPAL-ID")
    if not provider or not principal:
        raise NotAuthenticated
    if not (_PRINTABLE.fullmatch(provider) and _PRINTABLE.fullmatch(principal)):
        raise NotAuthenticated("The principal must be 1 to 255 printable ASCII characters.")
    caller = signed_in(f"app-service:{provider}", principal)
    return replace(caller, is_moderator=provider == _ENTRA_ID and _has_moderator_role(headers))


def signed_in(provider: str, principal: str) -> SignedIn:
    """Return the caller that `provider` identifies as `principal`. Neither can contain a line break."""
    return SignedIn(uuid.uuid5(_NAMESPACE, f"{provider}\n{principal}"))


def _has_moderator_role(headers: Mapping[str, str]) -> bool:
    """Whether the claims of the principal, base64-encoded JSON, have the app role. Malformed claims have no role."""
    role = app_settings().moderator_role
    try:
        principal = json.loads(base64.b64decode(headers.get("X-MS-CLIENT-PRINCIPAL", ""), validate=True))
        claims = [(claim["typ"], claim["val"]) for claim in principal["claims"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    return bool(role) and any((claim_type, role) in claims for claim_type in _ROLE_CLAIMS)


def require_can_act_as(caller: Caller, user_id: str, *, or_moderate: bool = False) -> None:
    """Raise Forbidden unless the caller acts as this user, or is a moderator where these can act, too."""
    if isinstance(caller, SignedIn) and not (or_moderate and caller.is_moderator) and not caller.is_one_of([user_id]):
        raise Forbidden(f"You cannot act as the user {user_id!r}; your user ID is {str(caller.user)!r}.")


def require_moderator(caller: Caller) -> None:
    """Raise Forbidden unless the caller is a moderator or a trusted back end."""
    if isinstance(caller, SignedIn) and not caller.is_moderator:
        raise Forbidden("Only moderators can do this.")
