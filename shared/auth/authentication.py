"""Who sends a command, by the way that `BLOG_AUTH` names. Nothing of the other ways is looked at: a token means nothing
where function keys are the gate, and the headers of App Service authentication mean nothing unless it is declared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache

from shared.auth.callers import BACK_END, Caller
from shared.auth.principals import caller_of_app_service
from shared.settings import AuthMode, AuthSettings, auth_settings

# From the headers of a request, their names in any case. Raises NotAuthenticated, IssuerUnavailable.
Authenticator = Callable[[Mapping[str, str]], Awaitable[Caller]]


async def authenticate(headers: Mapping[str, str]) -> Caller:
    """The caller of a command with these headers. Raises NotAuthenticated, IssuerUnavailable."""
    return await _authenticator()(headers)


def authenticator(settings: AuthSettings) -> Authenticator:
    """The way in that `settings` name."""
    match settings.mode:
        case AuthMode.OIDC:
            # Imported only where tokens are read: PyJWT and cryptography are slow to import.
            from shared.auth.signing_keys import SigningKeys
            from shared.auth.tokens import Tokens

            return Tokens(settings.issuer, settings.audience, SigningKeys(settings)).caller_of
        case AuthMode.APP_SERVICE:
            return caller_of_app_service
        case AuthMode.FUNCTION_KEY:
            return _back_end


async def _back_end(_headers: Mapping[str, str]) -> Caller:
    """The host has checked the key before it called the function."""
    return BACK_END


@cache
def _authenticator() -> Authenticator:
    return authenticator(auth_settings())
