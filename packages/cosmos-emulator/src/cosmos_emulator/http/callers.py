"""Who may call the emulator: no pages of other sites, and no other machine may administer it without the key."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from cosmos_emulator.errors import CosmosError

# Top-level domains that nobody can register: RFC 2606, RFC 6762, and ICANN's resolution on .internal of 2024.
_PRIVATE_DOMAINS: Final = (".localhost", ".internal", ".local", ".test")


def check_host(host: str, peer: str | None) -> None:
    """Raise 400 for an invalid host, and 403 for a request from this machine to a name that a site can own.

    Such a site's page reaches the emulator by DNS rebinding: its name resolves to 127.0.0.1, so that the browser takes
    the emulator for the site itself.
    """
    if not host.isascii():
        raise CosmosError(400, "The header Host is invalid: it can have ASCII characters only.")
    if _is_loopback(peer) and not _is_private(host):
        raise CosmosError(403, f"The emulator does not serve the host name {host!r}. Use localhost or an IP address.")


def check_administrator(headers: Mapping[str, str], peer: str | None, *, has_key: bool) -> None:
    """Raise 403 for a request from another site's page, or one without the key from another machine."""
    if not (has_key or _is_loopback(peer)):
        raise CosmosError(
            403,
            "The emulator can only be administered from its own machine, or with its key in a header: "
            "Authorization: Bearer KEY.",
        )
    check_origin(headers)


def check_origin(headers: Mapping[str, str]) -> None:
    """Raise 403 for a request from another site's page. Browsers send some without asking, such as a POST of text."""
    origin = headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != headers.get("Host"):
        raise CosmosError(403, "The emulator cannot be used from pages of other sites.")


@lru_cache(maxsize=64)
def _is_loopback(peer: str | None) -> bool:
    return peer is not None and ipaddress.ip_address(peer.partition("%")[0]).is_loopback


@lru_cache(maxsize=64)
def _is_private(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if "." not in name:  # localhost, a container's name, or IPv6
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.endswith(_PRIVATE_DOMAINS)
    return True
