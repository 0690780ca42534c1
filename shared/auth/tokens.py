"""Bearer tokens (RFC 6750): JWTs of one issuer for one audience (RFC 7519, RFC 8725).

No part of a token may appear in a response or log, neither directly nor through a library's error message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import jwt

from shared.auth.callers import Caller, is_subject, signed_in
from shared.auth.signing_keys import ALGORITHMS, KEY_ID_LENGTH, SigningKeys
from shared.errors import NotAuthenticated
from shared.settings import AppSettings

# Tokens of well-known issuers have 1,000 to 4,000 characters.
TOKEN_LENGTH = 8_000
# Clock skew between the issuer and the app. https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4
LEEWAY_S = 30
_CLAIMS = ["exp", "iss", "aud", "sub"]

_BEARER = re.compile(r"(?i:bearer)(?: +(.*))?", re.DOTALL)
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")

_ALGORITHM = "The token's signature algorithm is not accepted."
_UNREADABLE = "The token cannot be read."
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (jwt.ExpiredSignatureError, "The token has expired."),
    (jwt.ImmatureSignatureError, "The token is not valid yet."),
    (jwt.InvalidIssuerError, "The token is from another issuer."),
    (jwt.InvalidAudienceError, "The token is for another audience."),
    (jwt.MissingRequiredClaimError, f"The token lacks one of the claims {', '.join(_CLAIMS)}."),
    (jwt.InvalidAlgorithmError, _ALGORITHM),
    (jwt.InvalidSignatureError, "The token's signature is invalid."),
)
# Hostile JSON raises more than PyJWT's errors: huge numbers, deep nesting, unpaired surrogates.
_DECODING_ERRORS = (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError)


class Tokens:
    """Tokens of the issuer in `settings` for the audience in `settings`."""

    def __init__(self, settings: AppSettings) -> None:
        self._settings = settings
        self._keys = SigningKeys(settings)

    async def caller_of(self, headers: Mapping[str, str]) -> Caller:
        """The subject of the token in `Authorization`. Raises NotAuthenticated, IssuerUnavailable.

        Costs a signature verification, plus up to two requests to the issuer if its keys are unknown or stale.
        """
        token = _token_of(headers.get("Authorization"))
        algorithm, key_id = _read_header(token)
        keys = await self._keys.find(key_id)
        if algorithm not in keys:
            raise NotAuthenticated(_ALGORITHM)
        subject = self._verified_claims(token, keys[algorithm])["sub"]
        if not is_subject(subject):
            raise NotAuthenticated("The token's subject must be 1 to 255 printable ASCII characters.")
        return signed_in(self._settings.issuer, subject)

    def _verified_claims(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._settings.issuer,
                audience=self._settings.audience,
                leeway=LEEWAY_S,
                options={"require": _CLAIMS, "verify_sub": False},
            )
        except _DECODING_ERRORS as error:
            # No cause: PyJWT's message may quote the token.
            raise NotAuthenticated(_reason(error)) from None


def _token_of(authorization: str | None) -> str:
    bearer = _BEARER.fullmatch(authorization.strip()) if authorization is not None else None
    if bearer is None:
        raise NotAuthenticated
    token = bearer.group(1) or ""
    if len(token) > TOKEN_LENGTH:
        raise NotAuthenticated(f"The token is longer than {TOKEN_LENGTH} characters.")
    # Also rejects two Authorization headers, which arrive joined by a comma.
    if not _COMPACT.fullmatch(token):
        raise NotAuthenticated(_UNREADABLE)
    return token


def _read_header(token: str) -> tuple[str, str]:
    """The algorithm and key ID, checked before they can cause a request to the issuer."""
    try:
        header = jwt.get_unverified_header(token)
    except _DECODING_ERRORS as error:
        raise NotAuthenticated(_reason(error)) from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or "crit" in header:
        raise NotAuthenticated(_ALGORITHM)
    if not isinstance(key_id, str) or not 1 <= len(key_id) <= KEY_ID_LENGTH:
        raise NotAuthenticated("The token does not name its key (kid).")
    return algorithm, key_id


def _reason(error: Exception) -> str:
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), _UNREADABLE)
