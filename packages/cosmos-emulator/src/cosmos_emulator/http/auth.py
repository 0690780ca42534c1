"""Authentication with the account key (azure-cosmos auth.py).

Microsoft Entra ID tokens cannot be validated, because there is no issuer. They are accepted beside the well-known key,
which protects nothing either.
"""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.links import Link
from cosmos_emulator.settings import WELL_KNOWN_KEY

_MASTER: Final = "type=master&ver=1.0&sig="
_MAX_SKEW_S: Final = 15 * 60


class MasterKey:
    """An account key that verifies signatures."""

    def __init__(self, key: str, *, accept_entra_tokens: bool = False) -> None:
        """Create a key. Beside one's own key, only `accept_entra_tokens` accepts Microsoft Entra ID tokens."""
        self._accepts_tokens = accept_entra_tokens or key == WELL_KNOWN_KEY
        try:
            self._secret = base64.b64decode(key, validate=True)
        except ValueError as error:
            raise ValueError("the account key must be base64") from error

    def is_borne_by(self, headers: Mapping[str, str]) -> bool:
        """Return whether the request has this key itself, as in `Authorization: Bearer KEY`."""
        given = headers.get(h.AUTHORIZATION, "").encode(errors="replace")
        return hmac.compare_digest(given, b"Bearer " + base64.b64encode(self._secret))

    def authorize(self, verb: str, link: Link, headers: Mapping[str, str]) -> None:
        """Raise 401 without a valid signature or an accepted Microsoft Entra ID token."""
        header = unquote(headers.get(h.AUTHORIZATION, ""))
        if not header:
            raise CosmosError(401, "Required Header authorization is missing.")
        if header.startswith("type=aad&"):
            if self._accepts_tokens:
                return
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

    def has_signed(self, verb: str, link: Link, headers: Mapping[str, str]) -> bool:
        """Return whether the request is signed with this key. Raises 401 if its date is wrong."""
        header = unquote(headers.get(h.AUTHORIZATION, ""))
        if not header.startswith(_MASTER):
            return False
        _check_clock(headers)
        payload = _payload(verb, link, headers).encode(errors="replace")
        expected = base64.b64encode(hmac.digest(self._secret, payload, "sha256"))
        return hmac.compare_digest(header.removeprefix(_MASTER).encode(errors="replace"), expected)


def _payload(verb: str, link: Link, headers: Mapping[str, str]) -> str:
    parts = (
        verb.lower(),
        link.signed_type.lower(),
        link.signed_link,
        headers.get(h.X_DATE, "").lower(),
        headers.get(h.DATE, "").lower(),
    )
    return "".join(f"{part}\n" for part in parts)


def _check_clock(headers: Mapping[str, str]) -> None:
    sent = _seconds(headers.get(h.X_DATE) or headers.get(h.DATE, ""))
    if abs(time.time() - sent) > _MAX_SKEW_S:
        raise CosmosError(
            401, "The authorization token is not valid at the current time: its date is off by over 15 minutes."
        )


@lru_cache(maxsize=64)
def _seconds(date: str) -> float:
    """Parse an RFC 1123 date; cached, because requests repeat it for a second."""
    try:
        sent = parsedate_to_datetime(date)
    except (ValueError, OverflowError) as error:
        raise CosmosError(401, f"The request has no valid x-ms-date header: {date!r}.") from error
    return (sent if sent.tzinfo else sent.replace(tzinfo=UTC)).timestamp()
