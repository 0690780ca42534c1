"""App Service authentication with a form instead of an identity provider. Everybody can sign in as anybody.

Rules: https://learn.microsoft.com/azure/app-service/configure-authentication-customize-sign-in-out and
https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web
from multidict import CIMultiDict

from .callers import check_page

COOKIE = "AppServiceAuthSession"
PREFIX = ".auth/"
_HEADER = "x-ms-client-principal"
# Only the platform sets headers with these prefixes. https://learn.microsoft.com/azure/app-service/configure-authentication-oauth-tokens
_OF_THE_PLATFORM = (_HEADER, "x-ms-token-")
_CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
_PROVIDER = re.compile("[a-z0-9]{1,32}")
_LOGIN = re.compile(f"login/({_PROVIDER.pattern})")
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,100}")
# The value of an app role: https://learn.microsoft.com/graph/api/resources/approle. A comma separates roles here.
_ROLE = re.compile(r"[!#-+\--\[\]-~]{1,120}")
# A cookie can have 4 KiB (RFC 6265, section 6.1), which leaves room for the longest name.
_ROLES = 10
# Microsoft Entra ID's claims of roles have the type "roles", but App Service names another one as the type of roles:
# https://github.com/AzureAD/microsoft-identity-web/issues/1983
_ROLE_TYPE = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"
# A path of this site. Browsers read `//` and `/\` as the start of another host.
_LOCAL = re.compile(r"/(?![/\\])[!-~]*")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<h1>{title}</h1>
{content}
"""
_INVALID = f"Write a name of 1 to 100 characters, and up to {_ROLES} roles of 1 to 120 ASCII characters without spaces."
_FORM = """<p>The local Functions host shows this form instead of an identity provider.</p>
<form method="post">
<p><label>Who are you? <input name="name" required autofocus maxlength="100"></label></p>
<p><label>Roles, with commas (optional) <input name="roles" maxlength="1209"></label></p>
<button>Sign in</button>
</form>"""


@dataclass(frozen=True)
class Principal:
    """A person at an identity provider. The same name at the same provider is always the same person."""

    provider: str
    name: str
    roles: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The ID of the person at the provider."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.provider}/{self.name}"))

    @property
    def claims(self) -> list[dict[str, str]]:
        """What the provider says about the person."""
        person = [{"typ": f"{_CLAIMS}/nameidentifier", "val": self.id}, {"typ": f"{_CLAIMS}/name", "val": self.name}]
        return person + [{"typ": "roles", "val": role} for role in self.roles]

    @property
    def is_valid(self) -> bool:
        """Whether a session can have these values. Raises TypeError for others than strings."""
        return bool(
            _PROVIDER.fullmatch(self.provider)
            and _NAME.fullmatch(self.name)
            and len(self.roles) <= _ROLES
            and all(_ROLE.fullmatch(role) for role in self.roles)
        )

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the platform adds to requests."""
        names = {"name_typ": f"{_CLAIMS}/name", "role_typ": _ROLE_TYPE if self.roles else "roles"}
        content = {"auth_typ": self.provider, "claims": self.claims, **names}
        return {
            _HEADER: _encoded(content),
            f"{_HEADER}-id": self.id,
            f"{_HEADER}-name": self.name,
            f"{_HEADER}-idp": self.provider,
        }


async def respond(request: web.BaseRequest, path: str, query: str) -> web.Response:
    """Return the response for a path below `.auth/`. Raises ForbiddenCallerError for the form of another site."""
    target = path[len(PREFIX) :].lower()
    parameters = dict(parse_qsl(query, errors="replace"))
    match (request.method, target):
        case ("GET", "me"):
            return _me(_principal(request))
        case ("GET", "logout"):
            return _redirect(parameters.get("post_logout_redirect_uri", "/.auth/logout/done"), None)
        case ("GET", "logout/done"):
            return _page("You are signed out", '<p><a href="/">Home</a></p>')
    login = _LOGIN.fullmatch(target)
    if login and request.method == "GET":
        return _page(f"Sign in: {login[1]}", _FORM)
    if login and request.method == "POST":
        check_page(request.headers)
        form = await request.post()
        roles = [role.strip() for role in str(form.get("roles", "")).split(",")]
        principal = Principal(login[1], str(form.get("name", "")).strip(), tuple(dict.fromkeys(filter(None, roles))))
        if not principal.is_valid:
            return web.Response(status=400, text=_INVALID)
        return _redirect(parameters.get("post_login_redirect_uri", "/"), principal)
    return web.Response(status=404)


def authenticated(request: web.BaseRequest) -> CIMultiDict[str]:
    """Return the request's headers, without headers that only the platform can set, and with the session's."""
    sent = request.headers.items()
    headers = CIMultiDict((name, value) for name, value in sent if not name.lower().startswith(_OF_THE_PLATFORM))
    if principal := _principal(request):
        headers.update(principal.headers)
    return headers


def _principal(request: web.BaseRequest) -> Principal | None:
    """Read the session cookie. It is not signed, because everybody can sign in with any name and roles."""
    with suppress(ValueError, TypeError, RecursionError):
        provider, name, *roles = json.loads(base64.b64decode(request.cookies.get(COOKIE, "")))
        principal = Principal(provider, name, tuple(roles))
        return principal if principal.is_valid else None
    return None


def _me(principal: Principal | None) -> web.Response:
    if principal is None:
        return web.Response(status=401)
    described = {"provider_name": principal.provider, "user_id": principal.name, "user_claims": principal.claims}
    return web.json_response([described], headers={"Cache-Control": "no-store"})


def _redirect(target: str, principal: Principal | None) -> web.Response:
    """Redirect to a path of this site, and start the session of a principal, or end it."""
    if not _LOCAL.fullmatch(target):
        return web.Response(status=400, text="The redirect URI must be a path of this site.")
    response = web.Response(status=302, headers={"Location": target, "Cache-Control": "no-store"})
    if principal is None:
        response.del_cookie(COOKIE)
    else:
        session = _encoded([principal.provider, principal.name, *principal.roles])
        response.set_cookie(COOKIE, session, httponly=True, samesite="Lax")
    return response


def _page(title: str, content: str) -> web.Response:
    page = _PAGE.format(title=title, content=content)
    # Without a referrer, browsers would not tell which page sends the form.
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    return web.Response(text=page, content_type="text/html", headers=headers)


def _encoded(value: Any) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()
