"""Access to the emulator: for clients with the account key (azure-cosmos auth.py), not for pages of other sites.

No other machine may administer it without the key. Microsoft Entra ID tokens cannot be validated, because there is no
issuer. They are accepted beside the well-known key, which protects nothing either.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
import time
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.links import Link
from cosmos_emulator.messages.resource_tokens import PREFIX, Grant, read_token
from cosmos_emulator.settings import WELL_KNOWN_KEY

_MASTER: Final = "type=master&ver=1.0&sig="
_MAX_SKEW_S: Final = 15 * 60
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


class MasterKey:
    """An account key that verifies signatures."""

    def __init__(self, key: str, *, accept_entra_tokens: bool = False) -> None:
        """Create a key. Beside one's own key, only `accept_entra_tokens` accepts Microsoft Entra ID tokens."""
        self._key = key
        self._accepts_tokens = accept_entra_tokens or key == WELL_KNOWN_KEY
        try:
            self._secret = base64.b64decode(key, validate=True)
        except ValueError as error:
            raise ValueError("the account key must be base64") from error

    def is_borne_by(self, headers: Mapping[str, str]) -> bool:
        """Return whether the request has this key itself, as in `Authorization: Bearer KEY`."""
        given = headers.get(h.AUTHORIZATION, "").encode(errors="replace")
        return hmac.compare_digest(given, b"Bearer " + base64.b64encode(self._secret))

    def authorize(self, verb: str, link: Link, headers: Mapping[str, str], clock: Callable[[], float]) -> Grant | None:
        """Return what a resource token grants; None for the key and Microsoft Entra ID, which allow all.

        Raises 401 without a valid signature or an accepted token.
        """
        header = unquote(headers.get(h.AUTHORIZATION, ""))
        if header.startswith(PREFIX):
            return read_token(header, self._key, clock)
        if not header:
            raise CosmosError(401, "Required Header authorization is missing.")
        if header.startswith("type=aad&"):
            if self._accepts_tokens:
                return None
            raise CosmosError(
                401,
                "The emulator cannot validate Microsoft Entra ID tokens, so it rejects them if you set a key. "
                "To accept any token, use --accept-entra-tokens (accept_entra_tokens).",
            )
        if not header.startswith(_MASTER):
            raise CosmosError(401, "The authorization header must be of type=master, type=resource or type=aad.")
        if not self.has_signed(verb, link, headers):
            raise CosmosError(
                401,
                "The input authorization token can't serve the request. The wrong key is being used or the expected "
                f"payload is not built as per the protocol. Server used the following payload to sign: "
                f"'{_payload(verb, link, headers)!r}'",
            )
        return None

    def has_signed(self, verb: str, link: Link, headers: Mapping[str, str]) -> bool:
        """Return whether the request is signed with this key. Raises 401 if its date is wrong."""
        header = unquote(headers.get(h.AUTHORIZATION, ""))
        if not header.startswith(_MASTER):
            return False
        if abs(time.time() - _seconds(headers.get(h.X_DATE) or headers.get(h.DATE, ""))) > _MAX_SKEW_S:
            raise CosmosError(
                401, "The authorization token is not valid at the current time: its date is off by over 15 minutes."
            )
        payload = _payload(verb, link, headers).encode(errors="replace")
        expected = base64.b64encode(hmac.digest(self._secret, payload, "sha256"))
        return hmac.compare_digest(header.removeprefix(_MASTER).encode(errors="replace"), expected)


def _payload(verb: str, link: Link, headers: Mapping[str, str]) -> str:
    parts = (
        verb.lower(),
        link.signed_type,
        link.signed_link,
        headers.get(h.X_DATE, "").lower(),
        headers.get(h.DATE, "").lower(),
    )
    return "".join(f"{part}\n" for part in parts)


@lru_cache(maxsize=64)
def _seconds(date: str) -> float:
    """Parse an RFC 1123 date; cached, because requests repeat it for a second."""
    try:
        sent = parsedate_to_datetime(date)
    except (ValueError, OverflowError) as error:
        raise CosmosError(401, f"The request has no valid x-ms-date header: {date!r}.") from error
    return (sent if sent.tzinfo else sent.replace(tzinfo=UTC)).timestamp()


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
