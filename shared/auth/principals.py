"""The caller as App Service authentication names him, for `BLOG_AUTH=app-service`.

The platform takes `X-MS-CLIENT-PRINCIPAL*` off every request that comes from outside and puts its own on those whose
caller has signed in. Its own and a forged one look alike, so these headers are read in this mode alone, and the mode
does not start unless the platform says that it authenticates (shared/settings.py).
https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities#access-user-claims-in-app-code
"""

from __future__ import annotations

from collections.abc import Mapping

from shared.auth.callers import Caller, is_subject, signed_in
from shared.errors import NotAuthenticated


async def caller_of_app_service(headers: Mapping[str, str]) -> Caller:
    """The caller by the provider's name and the id that it gives him. Raises NotAuthenticated."""
    provider = headers.get("X-MS-CLIENT-PRINCIPAL-IDP")
    principal = headers.get("X-MS-CLIENT-PRINCIPAL-ID")
    if not provider or not principal:
        raise NotAuthenticated
    if not (is_subject(provider) and is_subject(principal)):
        raise NotAuthenticated("The principal's id is too long or no text.")
    # No address of an issuer looks like this, so that no subject of one is the principal of the other.
    return signed_in(f"app-service:{provider}", principal)
