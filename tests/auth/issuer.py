"""A small OpenID Connect issuer with discovery, keys, and failures."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

AUDIENCE = "api://blog"
Claims = dict[str, Any]


@cache
def rsa_key(number: int = 0) -> rsa.RSAPrivateKey:
    """A key pair, cached because generation is slow."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def jwk(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, key_id: str, **members: Any) -> dict[str, Any]:
    """The public key as a JWK."""
    algorithm = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    public: dict[str, Any] = algorithm.to_jwk(key.public_key(), as_dict=True)
    public.pop("key_ops", None)
    return {**public, "kid": key_id, **members}


class Issuer:
    """Listens on its own thread inside a `with` block. Publishes `keys`, or returns the status `fault` if set."""

    def __init__(self) -> None:
        self.keys: list[dict[str, Any]] = [jwk(rsa_key(), "first"), jwk(ec_key(), "elliptic", alg="ES256")]
        self.key_id = "first"
        self.asked: list[str] = []
        self.fault: int | None = None
        self.document: dict[str, Any] = {}
        self._released = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="issuer", daemon=True)
        self._key: rsa.RSAPrivateKey = rsa_key()
        self.url = ""

    def __enter__(self) -> Issuer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._released.set)
        asyncio.run_coroutine_threadsafe(self._server.close(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_get("/tenant/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/tenant/keys", self._published)
        self._released.set()
        self._server = TestServer(app)
        await self._server.start_server()
        self.url = str(self._server.make_url("/tenant"))
        self.document = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}

    async def _discovery(self, request: web.Request) -> web.Response:
        return await self._answer("discovery", self.document)

    async def _published(self, request: web.Request) -> web.Response:
        return await self._answer("keys", {"keys": self.keys})

    async def _answer(self, what: str, content: object) -> web.Response:
        self.asked.append(what)
        await self._released.wait()
        if self.fault is not None:
            return web.Response(status=self.fault, headers={"Location": self.url})
        return web.json_response(content)

    @contextmanager
    def slow(self) -> Iterator[None]:
        """Delay responses until the block ends."""
        self._loop.call_soon_threadsafe(self._released.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._released.set)

    def rotate(self) -> None:
        """Replace the signing key."""
        self.key_id, self._key = uuid.uuid4().hex, rsa_key(len(self.asked) + 1)
        self.keys = [jwk(self._key, self.key_id)]

    def claims(self, subject: str, **changed: Any) -> Claims:
        """Valid claims, updated with `changed`. A value of None removes the claim."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": now, "nbf": now, "exp": now + 600}
        return {name: value for name, value in (claims | changed).items() if value is not None}

    def token(self, subject: str, **changed: Any) -> str:
        """A signed token."""
        return jwt.encode(self.claims(subject, **changed), self._key, algorithm="RS256", headers={"kid": self.key_id})


def bearer(token: str) -> dict[str, str]:
    """The Authorization header."""
    return {"Authorization": f"Bearer {token}"}


def by_hand(header: object, claims: object, secret: bytes | None = None) -> str:
    """A token built without a library: signed with HMAC if `secret` is given, otherwise unsigned."""
    text = f"{_encoded(json.dumps(header).encode())}.{_encoded(json.dumps(claims).encode())}"
    signature = b"" if secret is None else hmac.digest(secret, text.encode(), hashlib.sha256)
    return f"{text}.{_encoded(signature)}"


def public_pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
