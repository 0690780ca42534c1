"""The issuer's signing keys, found by OpenID Connect Discovery 1.0 and cached.

PyJWT's PyJWKClient does not fit: while the issuer is down, it asks once per lookup and drops expired keys; while the
issuer is slow, it blocks every lookup; and it accepts 1024-bit keys and responses of any size (PyJWT 2.15).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import jwt
from aiohttp import ClientError, ClientSession

from shared.database.retries import ISSUER_ANSWER_S, ISSUER_PAUSE_S
from shared.errors import IssuerUnavailable, NotAuthenticated
from shared.observability.logs import log
from shared.settings import AppSettings, is_trustworthy_url

# Keys are refreshed after this time, so a withdrawn key is soon rejected.
FRESH_S = 600.0
# While the issuer is down, its last keys are used for this time.
KEPT_S = 3600.0
DOCUMENT_LIMIT = 256 * 1024
KEY_LIMIT = 100
KEY_ID_LENGTH = 255
_RSA_BITS = 2048

# Asymmetric algorithms only, so that a public key never serves as a secret.
# https://www.rfc-editor.org/rfc/rfc8725#section-3.1
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_ELLIPTIC = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",)}
ALGORITHMS = (*_RSA, *(name for names in _ELLIPTIC.values() for name in names))
_PUBLIC = ("kty", "n", "e", "crv", "x", "y")

# A key by the algorithms it may be used with.
Key = Mapping[str, jwt.PyJWK]
JsonObject = dict[str, Any]


class _UnusableResponse(Exception):
    pass


class SigningKeys:
    """The keys of the issuer in `settings`. `clock` returns seconds.

    An unknown key ID triggers a refresh, because the issuer may have rotated its keys. Since anyone can invent key IDs,
    the issuer is asked at most once per `ISSUER_PAUSE_S`.
    """

    def __init__(self, settings: AppSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: Mapping[str, Key] = {}
        self._fetched_at = self._asked_at = float("-inf")
        self._failed = True
        self._refreshing = asyncio.Lock()

    async def find(self, key_id: str) -> Key:
        """The key with this ID. Raises NotAuthenticated, IssuerUnavailable.

        Concurrent requests share one refresh. Requests that have a usable key do not wait for it.
        """
        if self._has(key_id, FRESH_S) or (self._has(key_id, KEPT_S) and self._refreshing.locked()):
            return self._keys[key_id]
        async with self._refreshing:
            if not self._has(key_id, FRESH_S) and self._clock() - self._asked_at >= ISSUER_PAUSE_S:
                await self._refresh()
        if self._has(key_id, KEPT_S):
            return self._keys[key_id]
        if self._failed:
            raise IssuerUnavailable
        raise NotAuthenticated("The token is signed with a key that is not the issuer's.")

    def _has(self, key_id: str, age_s: float) -> bool:
        return key_id in self._keys and self._clock() - self._fetched_at < age_s

    async def _refresh(self) -> None:
        # Set before the response arrives, so a canceled request counts too.
        self._asked_at, self._failed = self._clock(), True
        try:
            async with asyncio.timeout(ISSUER_ANSWER_S):
                self._keys = _usable_keys(await _fetch_json(await self._jwks_uri()))
        except (_UnusableResponse, ClientError, OSError, TimeoutError, ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, _UnusableResponse) else type(error).__name__
            log(logging.WARNING, "issuer unavailable", issuer=self._settings.issuer, reason=reason)
            return
        self._fetched_at, self._failed = self._clock(), False

    async def _jwks_uri(self) -> str:
        if self._settings.jwks_uri is not None:
            return self._settings.jwks_uri
        issuer = self._settings.issuer
        document = await _fetch_json(issuer.removesuffix("/") + "/.well-known/openid-configuration")
        # Required by Discovery, section 4.3.
        if document.get("issuer") != issuer:
            raise _UnusableResponse("its issuer differs from BLOG_OIDC_ISSUER")
        uri = document.get("jwks_uri")
        if not isinstance(uri, str) or not is_trustworthy_url(uri):
            raise _UnusableResponse("its jwks_uri is not an https URL")
        return uri


async def _fetch_json(url: str) -> JsonObject:
    # Redirects are not followed, because they could lead to an untrusted URL.
    async with (
        ClientSession(trust_env=True) as session,
        session.get(url, allow_redirects=False, headers={"Accept": "application/json"}) as response,
    ):
        if response.status != 200:
            raise _UnusableResponse(f"it answered {response.status}")
        content = b""
        async for chunk in response.content.iter_chunked(DOCUMENT_LIMIT):
            content += chunk
            if len(content) > DOCUMENT_LIMIT:
                raise _UnusableResponse(f"its response exceeds {DOCUMENT_LIMIT} bytes")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise _UnusableResponse("its response is not a JSON object")
    return document


def _usable_keys(document: JsonObject) -> Mapping[str, Key]:
    """The usable keys of a JWK Set (RFC 7517) by ID; others are skipped."""
    entries = document.get("keys")
    if not isinstance(entries, list):
        raise _UnusableResponse("its keys are not a list")
    found = {}
    for entry in entries[:KEY_LIMIT]:
        key_id = entry.get("kid") if isinstance(entry, dict) else None
        if isinstance(key_id, str) and 1 <= len(key_id) <= KEY_ID_LENGTH and (key := _parse_key(entry)):
            found[key_id] = key
    return found


def _parse_key(entry: JsonObject) -> Key:
    public = {name: entry[name] for name in _PUBLIC if name in entry}
    try:
        key = {algorithm: jwt.PyJWK(public, algorithm) for algorithm in _algorithms_of(entry)}
    except (jwt.PyJWTError, ValueError, TypeError):
        return {}
    sizes = {getattr(jwk.key, "key_size", 0) for jwk in key.values()}
    return key if entry.get("kty") != "RSA" or min(sizes, default=0) >= _RSA_BITS else {}


def _algorithms_of(entry: JsonObject) -> tuple[str, ...]:
    if entry.get("use", "sig") != "sig" or "verify" not in entry.get("key_ops", ["verify"]):
        return ()
    kind = entry.get("kty")
    possible = _RSA if kind == "RSA" else _ELLIPTIC.get(str(entry.get("crv")), ()) if kind == "EC" else ()
    return tuple(name for name in possible if entry.get("alg", name) == name)
