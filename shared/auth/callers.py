"""Callers: their authentication by the mode in `BLOG_AUTH`, and the user they act as.

A signed-in caller has exactly one user, whose ID is derived from the issuer and subject (OpenID Connect Core, section
2). Creating the user is therefore the binding: no lookup or second write is needed, and no crash leaves half of it.
docs/settings.md lists the consequences.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from shared.errors import NotAuthenticated
from shared.settings import AuthMode, app_settings

if TYPE_CHECKING:
    from shared.auth.tokens import Tokens

_NAMESPACE = uuid.UUID("d3a5e9fc-7d0f-4c1c-9a2e-5b8c8b0f2f66")
# OpenID Connect Core, section 2: at most 255 ASCII characters. Printable only, so it cannot contain a line break.
_SUBJECT = re.compile(r"[\x20-\x7e]{1,255}")


@dataclass(frozen=True)
class Caller:
    """The sender of a request. `user` is the ID of the user they act as, which may not exist yet; None for any."""

    user: uuid.UUID | None

    def is_user(self, user_id: str) -> bool:
        """Whether the caller can act as this user."""
        return self.user is None or str(self.user) == user_id


# A trusted back end with a function key.
BACK_END = Caller(None)
# The caller of a query. No user can have this ID.
ANONYMOUS = Caller(uuid.UUID(int=0))


async def authenticate(headers: Mapping[str, str]) -> Caller:
    """The caller of a command with these headers. Credentials of other modes are ignored.

    Raises NotAuthenticated, IssuerUnavailable.
    """
    match app_settings().auth:
        case AuthMode.OIDC:
            return await _tokens().caller_of(headers)
        case AuthMode.APP_SERVICE:
            return _caller_of_app_service(headers)
        case AuthMode.FUNCTION_KEY:
            # The host has already checked the function key.
            return BACK_END


@cache
def _tokens() -> Tokens:
    # PyJWT and cryptography are slow to import, and only OIDC needs them.
    from shared.auth.tokens import Tokens

    return Tokens(app_settings())


def _caller_of_app_service(headers: Mapping[str, str]) -> Caller:
    """Read the principal that App Service authentication adds to a request.

    The platform removes client-supplied copies of these headers, but only if its authentication is enabled, which
    shared/settings.py checks.
    https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities#access-user-claims-in-app-code
    """
    provider = headers.get("X-MS-CLIENT-PRINCIPAL-IDP")
    principal = headers.get("X-MS-CLIENT-PRINCIPAL-ID")
    if not provider or not principal:
        raise NotAuthenticated
    if not (is_subject(provider) and is_subject(principal)):
        raise NotAuthenticated("The principal must be 1 to 255 printable ASCII characters.")
    # Not a URL, so it cannot collide with an OIDC issuer.
    return signed_in(f"app-service:{provider}", principal)


def signed_in(issuer: str, subject: str) -> Caller:
    """The caller that `issuer` identifies as `subject`. Neither may contain a line break."""
    return Caller(uuid.uuid5(_NAMESPACE, f"{issuer}\n{subject}"))


def is_subject(value: object) -> bool:
    """Whether `value` is a valid subject."""
    return isinstance(value, str) and _SUBJECT.fullmatch(value) is not None
