"""Protection from pages of other sites that a browser on this machine shows."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

# Top-level domains that nobody can register: RFC 2606, RFC 6762, and ICANN's resolution on .internal of 2024.
_PRIVATE_DOMAINS = (".localhost", ".internal", ".local", ".test")


class ForbiddenCallerError(Exception):
    """The request can come from another site's page."""


def check_host(host: str, allowed: Sequence[str]) -> None:
    """Raise ForbiddenCallerError for a name that a site on the internet can own and that is not `allowed`.

    Such a site's page reaches the host by DNS rebinding: its name resolves to 127.0.0.1, so that the browser takes the
    host for the site itself.
    """
    name = _name(host)
    if not ("*" in allowed or name in allowed or _is_private(name)):
        raise ForbiddenCallerError(
            f"The host does not serve the name {name!r}. Use localhost or an IP address, or the option --allowed-host."
        )


def check_page(headers: Mapping[str, str]) -> None:
    """Raise ForbiddenCallerError for a request from another site's page.

    Browsers add Origin to POST requests, and Sec-Fetch-Site to all requests for localhost and for https
    (https://fetch.spec.whatwg.org/#origin-header, https://w3c.github.io/webappsec-fetch-metadata/).
    """
    origin = headers.get("Origin")
    is_foreign = origin is not None and origin.partition("://")[2] != headers.get("Host")
    if is_foreign or headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        raise ForbiddenCallerError("Pages of other sites cannot send this request.")


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # invalid IPv6
        return host


def _is_private(name: str) -> bool:
    if "." not in name:  # localhost, a container's name, or IPv6
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.endswith(_PRIVATE_DOMAINS)
    return True
