"""An issuer where a browser signs in: authorization code flow with PKCE, refresh tokens, and a session."""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping

from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from tests.auth.issuer import Issuer

CLIENT_ID = "the-site"


class SignInIssuer(Issuer):
    """Signs in `subject` without a question. Its session ends if that is None."""

    def __init__(self) -> None:
        super().__init__()
        self.subject: str | None = None
        self.lifetime_s = 600
        # What the site asked for, to be compared with what it then redeems.
        self._codes: dict[str, Mapping[str, str]] = {}
        self.grants: list[str] = []
        # Like many issuers, it accepts a refresh token once.
        self._refresh_tokens: set[str] = set()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_get("/tenant/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/tenant/keys", self._published)
        app.router.add_get("/tenant/authorize", self._authorize)
        app.router.add_post("/tenant/token", self._token)
        app.router.add_get("/tenant/logout", self._logout)
        app.on_response_prepare.append(_allow_any_origin)
        self._released = asyncio.Event()
        self._released.set()
        self._server = TestServer(app)
        await self._server.start_server()
        self.url = str(self._server.make_url("/tenant"))
        self.document = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "end_session_endpoint": f"{self.url}/logout",
        }

    async def _authorize(self, request: web.Request) -> web.Response:
        query = request.query
        assert (query["client_id"], query["code_challenge_method"]) == (CLIENT_ID, "S256")
        answer = {"state": query["state"]}
        if self.subject is None:
            answer["error"] = "login_required"
        else:
            answer["code"] = uuid.uuid4().hex
            self._codes[answer["code"]] = query
        raise web.HTTPFound(URL(query["redirect_uri"]).with_query(answer))

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.grants.append(str(form["grant_type"]))
        if form["grant_type"] == "authorization_code":
            asked = self._codes.pop(str(form["code"]))
            digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
            assert urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
            assert form["redirect_uri"] == asked["redirect_uri"]
        elif form["refresh_token"] not in self._refresh_tokens:
            return web.json_response({"error": "invalid_grant"}, status=400)
        else:
            self._refresh_tokens.remove(str(form["refresh_token"]))
        subject, refresh_token = str(self.subject), uuid.uuid4().hex
        self._refresh_tokens.add(refresh_token)
        return web.json_response(
            {
                "access_token": self.token(subject, exp=int(time.time()) + 600),
                "id_token": self.token(subject, aud=CLIENT_ID),
                "refresh_token": refresh_token,
                "token_type": "Bearer",
                "expires_in": self.lifetime_s,
            }
        )

    async def _logout(self, request: web.Request) -> web.Response:
        self.subject = None
        raise web.HTTPFound(request.query["post_logout_redirect_uri"])


async def _allow_any_origin(_: web.Request, response: web.StreamResponse) -> None:
    response.headers["Access-Control-Allow-Origin"] = "*"
