"""Sign requests that are sent without an SDK."""

from __future__ import annotations

import base64
import hmac
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import quote


def signed(key: str, verb: str, kind: str, link: str) -> dict[str, str]:
    """Return the headers that authorize a request for a resource of this type.

    https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources
    """
    date = format_datetime(datetime.now(UTC), usegmt=True)
    payload = f"{verb.lower()}\n{kind}\n{link}\n{date.lower()}\n\n"
    signature = base64.b64encode(hmac.digest(base64.b64decode(key), payload.encode(), "sha256")).decode()
    return {"x-ms-date": date, "authorization": quote(f"type=master&ver=1.0&sig={signature}", safe="")}
