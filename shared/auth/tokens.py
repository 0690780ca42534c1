"""Bearer tokens (RFC 6750) that are JWTs of one issuer for one audience (RFC 7519, RFC 8725).

The cryptography is PyJWT's. What is decided here: which algorithms, which claims, how long, and that nothing of a token
gets into an answer or a log, neither as text nor in a library's message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import jwt
from jwt.exceptions import InvalidSubjectError

from shared.auth.callers import Caller, is_subject, signed_in
from shared.auth.signing_keys import ALGORITHMS, KEY_ID_LENGTH
from shared.errors import NotAuthenticated

# What a Functions host takes as one header on Azure is more; tokens of the known issuers have one to four thousand.
TOKEN_LENGTH = 8_000
# Between the clocks of issuer and app. https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4
LEEWAY_S = 30
_CLAIMS = ["exp", "iss", "aud", "sub"]

_BEARER = re.compile(r"(?i:bearer)(?: +(.*))?", re.DOTALL)
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")

_ALGORITHM = "The token is signed in a way that is not accepted."
_SUBJECT = "The subject of the token is no text of 1 to 255 ASCII characters."
_UNREADABLE = "The token cannot be read."
_MEANINGS: tuple[tuple[type[Exception], str], ...] = (
    (jwt.ExpiredSignatureError, "The token has expired."),
    (jwt.ImmatureSignatureError, "The token is not valid yet."),
    (jwt.InvalidIssuerError, "The token is of another issuer."),
    (jwt.InvalidAudienceError, "The token is for another audience."),
    (jwt.MissingRequiredClaimError, f"The token lacks one of the claims {', '.join(_CLAIMS)}."),
    (jwt.InvalidAlgorithmError, _ALGORITHM),
    (jwt.InvalidSignatureError, "The signature of the token does not hold."),
    (InvalidSubjectError, _SUBJECT),
)
# What reading hostile JSON can raise past PyJWT's own errors: numbers beyond all bounds, nesting, halves of characters.
_FROM_READING = (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError)


class Keys(Protocol):
    """The keys of the issuer."""

    async def find(self, key_id: str) -> Mapping[str, jwt.PyJWK]:
        """The key of this id, by algorithm. Raises NotAuthenticated, IssuerUnavailable."""


class Tokens:
    """Tokens of `issuer` for `audience`, signed with one of `keys`."""

    def __init__(self, issuer: str, audience: str, keys: Keys) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = keys

    async def caller_of(self, headers: Mapping[str, str]) -> Caller:
        """The subject of the token in `Authorization`. Raises NotAuthenticated, IssuerUnavailable.

        Costs a verification, and a request or two to the issuer where its keys are not known or not fresh.
        """
        token = _token_of(headers.get("Authorization"))
        algorithm, key_id = _read_header(token)
        keys = await self._keys.find(key_id)
        if algorithm not in keys:
            raise NotAuthenticated(_ALGORITHM)
        subject = self._verified(token, keys[algorithm])["sub"]
        if not is_subject(subject):
            raise NotAuthenticated(_SUBJECT)
        return signed_in(self._issuer, subject)

    def _verified(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        """The claims of a token that holds, for certain, what it says."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY_S,
                options={"require": _CLAIMS},
            )
        except _FROM_READING as error:
            # The cause would carry the library's message, which may quote the token, into a log.
            raise NotAuthenticated(_meaning_of(error)) from None
        return claims


def _token_of(authorization: str | None) -> str:
    bearer = _BEARER.fullmatch(authorization.strip()) if authorization is not None else None
    if bearer is None:
        raise NotAuthenticated
    token = bearer.group(1) or ""
    if len(token) > TOKEN_LENGTH:
        raise NotAuthenticated(f"The token is longer than {TOKEN_LENGTH} characters.")
    # Two headers of the name arrive as one, with a comma between them: no token has one.
    if not _COMPACT.fullmatch(token):
        raise NotAuthenticated(_UNREADABLE)
    return token


def _read_header(token: str) -> tuple[str, str]:
    """The algorithm, one of those accepted, and the id of the key: what must be right before the issuer is asked."""
    try:
        header = jwt.get_unverified_header(token)
    except _FROM_READING as error:
        raise NotAuthenticated(_meaning_of(error)) from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or "crit" in header:
        raise NotAuthenticated(_ALGORITHM)
    if not isinstance(key_id, str) or not 1 <= len(key_id) <= KEY_ID_LENGTH:
        raise NotAuthenticated("The token does not name its key (kid).")
    return algorithm, key_id


def _meaning_of(error: Exception) -> str:
    return next((meaning for kind, meaning in _MEANINGS if isinstance(error, kind)), _UNREADABLE)
