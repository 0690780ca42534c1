"""Authentication: who sends a command. The setting `AUTH` selects how.

A back end with a function key can do everything. A caller who signs in has exactly one user, whose ID is derived from
the identity provider and the principal. Creating the user is therefore the binding: no lookup or second write is
needed, and a crash cannot leave an incomplete binding. docs/settings.md lists the consequences.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from shared.platform.errors import Forbidden, NotAuthenticated
from shared.platform.settings import AuthMode, app_settings

_NAMESPACE = uuid.UUID("d3a5e9fc-7d0f-4c1c-9a2e-5b8c8b0f2f66")
# https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header. Pages cannot set this header.
_OTHER_SITES = ("cross-site", "same-site")
# Without line breaks. OpenID Connect Core, section 2, limits subjects to 255 ASCII characters.
_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")


@dataclass(frozen=True)
class BackEnd:
    """A trusted back end, which acts for everybody."""


@dataclass(frozen=True)
class SignedIn:
    """A caller who signs in. `user` is the ID of the one user they act as, who may not exist yet."""

    user: uuid.UUID

    def is_one_of(self, user_ids: Collection[str]) -> bool:
        """Return whether they act as one of these users."""
        return str(self.user) in user_ids


Caller = BackEnd | SignedIn

# The caller of a query. No user can have this ID.
ANONYMOUS = SignedIn(uuid.UUID(int=0))


def authenticate(headers: Mapping[str, str], *, is_page: bool = False) -> Caller:
    """Return the caller of a command or of a private query. With function keys, headers about the user are ignored.

    Raises NotAuthenticated, and Forbidden if another site makes a browser send the request with the cookie of its user.
    A link on another site can lead to a private page, but not into a frame.
    """
    if app_settings().auth is not AuthMode.APP_SERVICE:
        return BackEnd()  # the host has already checked the function key
    caller = _caller_of_app_service(headers)
    # https://www.w3.org/TR/fetch-metadata/#sec-fetch-dest-header
    is_link = is_page and headers.get("Sec-Fetch-Dest") == "document"
    if headers.get("Sec-Fetch-Site") in _OTHER_SITES and "Authorization" not in headers and not is_link:
        raise Forbidden("Another site sent this request.")
    return caller


def signed_in_caller(headers: Mapping[str, str]) -> SignedIn | None:
    """The caller whose session a page is requested with; None without a session."""
    with suppress(NotAuthenticated):
        return _caller_of_app_service(headers)
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
    return caller_of(f"app-service:{provider}", principal)


def caller_of(provider: str, principal: str) -> SignedIn:
    """Return the caller that `provider` identifies as `principal`. Neither can contain a line break."""
    return SignedIn(uuid.uuid5(_NAMESPACE, f"{provider}\n{principal}"))
