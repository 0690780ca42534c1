"""The keys with which the issuer signs: found by OpenID Connect Discovery 1.0, kept, and asked for again.

- Keys are asked for again after `FRESH_S`, so that one which the issuer has withdrawn is not trusted for much longer.
- An id of a key that is not known asks again at once: the issuer may have changed its keys. Anyone can write such an
  id, so however many come, the issuer is asked once in `ISSUER_PAUSE_S`; in between they are refused.
- While the issuer does not answer, keys that it once gave are used for `KEPT_S` since. Past that, and for keys never
  seen, nobody can say whether a token is good: that is `IssuerUnavailable`, and no fault of the token.
- Requests that need the keys at the same time wait for one answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import jwt
from aiohttp import ClientError, ClientSession, ClientTimeout

from shared.errors import IssuerUnavailable, NotAuthenticated
from shared.logs import log
from shared.retries import ISSUER_ANSWER_S, ISSUER_PAUSE_S
from shared.settings import AuthSettings, is_trustworthy_url

FRESH_S = 600.0
KEPT_S = 3600.0
DOCUMENT_LIMIT = 256 * 1024
KEY_LIMIT = 100
KEY_ID_LENGTH = 255
_RSA_BITS = 2048

# Signatures by key pairs alone: with none of these does a public key work as a secret, and "none" is none of them.
# https://www.rfc-editor.org/rfc/rfc8725#section-3.1
_BY_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_BY_CURVE = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",)}
ALGORITHMS = (*_BY_RSA, *(name for names in _BY_CURVE.values() for name in names))
_PUBLIC = ("kty", "n", "e", "crv", "x", "y")

# A key by the algorithms that it may be used with.
Key = Mapping[str, jwt.PyJWK]
JsonObject = dict[str, Any]


class _Unusable(Exception):
    """The issuer answered what cannot be used."""


async def fetch_json(url: str) -> JsonObject:
    """The JSON object at `url`. Raises _Unusable, and what aiohttp raises."""
    # A redirection is not followed: it could lead where this address may not.
    async with (
        ClientSession(timeout=ClientTimeout(total=ISSUER_ANSWER_S), trust_env=True) as session,
        session.get(url, allow_redirects=False, headers={"Accept": "application/json"}) as answer,
    ):
        if answer.status != 200:
            raise _Unusable(f"it answered {answer.status}")
        content = b""
        async for chunk in answer.content.iter_chunked(DOCUMENT_LIMIT):
            content += chunk
            if len(content) > DOCUMENT_LIMIT:
                raise _Unusable(f"its answer has more than {DOCUMENT_LIMIT} bytes")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise _Unusable("its answer is no JSON object")
    return document


class SigningKeys:
    """The keys of the issuer that `settings` name. `clock` gives seconds."""

    def __init__(
        self,
        settings: AuthSettings,
        *,
        fetch: Callable[[str], Awaitable[JsonObject]] = fetch_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._fetch = fetch
        self._clock = clock
        self._keys: Mapping[str, Key] = {}
        self._fetched_at = self._asked_at = float("-inf")
        self._failed = True
        self._asking = asyncio.Lock()

    async def find(self, key_id: str) -> Key:
        """The key of this id: no request as a rule, see above. Raises NotAuthenticated, IssuerUnavailable."""
        if self._has(key_id, FRESH_S) or (self._has(key_id, KEPT_S) and self._asking.locked()):
            return self._keys[key_id]
        async with self._asking:
            if not self._has(key_id, FRESH_S) and self._clock() - self._asked_at >= ISSUER_PAUSE_S:
                await self._ask()
        if self._has(key_id, KEPT_S):
            return self._keys[key_id]
        if self._failed:
            raise IssuerUnavailable
        raise NotAuthenticated("The token is signed with a key that is not the issuer's.")

    def _has(self, key_id: str, age_s: float) -> bool:
        return key_id in self._keys and self._clock() - self._fetched_at < age_s

    async def _ask(self) -> None:
        # Counted before the answer is there: a request that gives up in between has asked, too.
        self._asked_at, self._failed = self._clock(), True
        try:
            async with asyncio.timeout(ISSUER_ANSWER_S):
                self._keys = _keys_of(await self._fetch(await self._address()))
        except (_Unusable, ClientError, OSError, TimeoutError, ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, _Unusable) else type(error).__name__
            log(logging.WARNING, "issuer unavailable", issuer=self._settings.issuer, reason=reason)
            return
        self._fetched_at, self._failed = self._clock(), False

    async def _address(self) -> str:
        """Where the keys are. The document that says so must be the issuer's own (Discovery, section 4.3)."""
        if self._settings.jwks_uri is not None:
            return self._settings.jwks_uri
        issuer = self._settings.issuer
        document = await self._fetch(issuer.removesuffix("/") + "/.well-known/openid-configuration")
        if document.get("issuer") != issuer:
            raise _Unusable("it calls itself by another name than BLOG_OIDC_ISSUER")
        address = document.get("jwks_uri")
        if not isinstance(address, str) or not is_trustworthy_url(address):
            raise _Unusable("its jwks_uri is no https address")
        return address


def _keys_of(document: JsonObject) -> Mapping[str, Key]:
    """The usable keys of a JWK Set (RFC 7517) by their ids; others are passed over, as the RFC has it."""
    entries = document.get("keys")
    if not isinstance(entries, list):
        raise _Unusable("its keys are no list")
    found = {}
    for entry in entries[:KEY_LIMIT]:
        key_id = entry.get("kid") if isinstance(entry, dict) else None
        if isinstance(key_id, str) and 1 <= len(key_id) <= KEY_ID_LENGTH and (key := _key_of(entry)):
            found[key_id] = key
    return found


def _key_of(entry: JsonObject) -> Key:
    public = {name: entry[name] for name in _PUBLIC if name in entry}
    try:
        key = {algorithm: jwt.PyJWK(public, algorithm) for algorithm in _algorithms_of(entry)}
    except (jwt.PyJWTError, ValueError, TypeError):
        return {}
    sizes = {getattr(jwk.key, "key_size", 0) for jwk in key.values()}
    return key if entry.get("kty") != "RSA" or min(sizes, default=0) >= _RSA_BITS else {}


def _algorithms_of(entry: JsonObject) -> tuple[str, ...]:
    """What the key may be used with: as it says itself, within what is accepted for keys of its kind."""
    if entry.get("use", "sig") != "sig" or "verify" not in entry.get("key_ops", ["verify"]):
        return ()
    kind = entry.get("kty")
    possible = _BY_RSA if kind == "RSA" else _BY_CURVE.get(str(entry.get("crv")), ()) if kind == "EC" else ()
    return tuple(name for name in possible if entry.get("alg", name) == name)
