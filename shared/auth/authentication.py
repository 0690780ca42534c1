"""Authentication of commands by the mode in `BLOG_AUTH`. Credentials of other modes are ignored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache

from shared.auth.callers import BACK_END, Caller, is_subject, signed_in
from shared.errors import NotAuthenticated
from shared.settings import AuthMode, AuthSettings, auth_settings

# Takes request headers. Raises NotAuthenticated, IssuerUnavailable.
Authenticator = Callable[[Mapping[str, str]], Awaitable[Caller]]


async def authenticate(headers: Mapping[str, str]) -> Caller:
    """The caller of a command with these headers. Raises NotAuthenticated, IssuerUnavailable."""
    return await _authenticator()(headers)


@cache
def _authenticator() -> Authenticator:
    return authenticator(auth_settings())


def authenticator(settings: AuthSettings) -> Authenticator:
    """The authenticator for these settings."""
    match settings.mode:
        case AuthMode.OIDC:
            # PyJWT and cryptography are slow to import, and only this mode needs them.
            from shared.auth.signing_keys import SigningKeys
            from shared.auth.tokens import Tokens

            return Tokens(settings.issuer, settings.audience, SigningKeys(settings)).caller_of
        case AuthMode.APP_SERVICE:
            return _caller_of_app_service
        case AuthMode.FUNCTION_KEY:
            return _back_end


async def _back_end(_headers: Mapping[str, str]) -> Caller:
    """The host has already checked the function key."""
    return BACK_END


async def _caller_of_app_service(headers: Mapping[str, str]) -> Caller:
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
