"""Lease documents.

Shapes: azure-cosmos-dotnet-v3 ChangeFeedProcessor/LeaseManagement (DocumentServiceLeaseCore.cs). This host and the real
host can take over each other's leases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

INCREMENTAL = "Incremental Feed"
FULL_FIDELITY = "Full-Fidelity Feed"
# .NET writes seven decimals, Python parses six.
_FRACTION = re.compile(r"\.(\d{6})\d+")


@dataclass(frozen=True)
class FeedRange:
    """A range of effective partition keys in hexadecimal. `min` is inclusive and `max` exclusive."""

    min: str
    max: str

    def overlaps(self, other: FeedRange) -> bool:
        """Return whether the ranges share a key."""
        return self.min < other.max and other.min < self.max


@dataclass(frozen=True)
class Lease:
    """A lease as last read or written.

    `token` is the partition key range ID. `continuation` is the quoted etag of the last processed page.
    """

    id: str
    token: str
    feed_range: FeedRange
    owner: str | None = None
    continuation: str | None = None
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    etag: str | None = None
    version: int = 0
    partition_key: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    mode: str = INCREMENTAL

    def is_expired(self, now: datetime, expiration: timedelta) -> bool:
        """Return whether the owner has not renewed the lease for `expiration`."""
        return self.timestamp + expiration < now

    def touched(self, **changes: Any) -> Lease:
        """Return a copy with `changes` and the current timestamp."""
        return replace(self, timestamp=datetime.now(UTC), **changes)

    def as_item(self) -> dict[str, Any]:
        """Return the JSON to store."""
        item: dict[str, Any] = {
            "id": self.id,
            "version": self.version,
            "LeaseToken": self.token,
            "FeedRange": {"Range": {"min": self.feed_range.min, "max": self.feed_range.max}},
            "Owner": self.owner,
            "ContinuationToken": self.continuation,
            "properties": self.properties,
            "timestamp": self.timestamp.strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z",
            "Mode": self.mode,
        }
        if self.partition_key is not None:
            item["partitionKey"] = self.partition_key
        return item


def parse_lease(item: dict[str, Any], ranges_by_id: dict[str, FeedRange], mode: str = INCREMENTAL) -> Lease:
    """Parse a lease document. Older processors omit `FeedRange`.

    Raises ValueError for another change feed mode and KeyError for an unknown range.
    """
    if item.get("Mode", INCREMENTAL) != mode:
        raise ValueError(f"lease '{item['id']}' has the mode '{item['Mode']}', which cannot change; use other leases")
    token = str(item["LeaseToken"])
    stored = (item.get("FeedRange") or {}).get("Range")
    return Lease(
        id=item["id"],
        token=token,
        feed_range=FeedRange(stored["min"], stored["max"]) if stored else ranges_by_id[token],
        owner=item.get("Owner") or None,
        continuation=item.get("ContinuationToken"),
        timestamp=_timestamp(item),
        etag=item.get("_etag"),
        version=int(item.get("version", 0)),
        partition_key=item.get("partitionKey"),
        properties=item.get("properties") or {},
        mode=mode,
    )


def _timestamp(item: dict[str, Any]) -> datetime:
    """Return the time that the owner wrote or, if it is invalid, the service's `_ts`."""
    text = item.get("timestamp")
    if isinstance(text, str):
        try:
            moment = datetime.fromisoformat(_FRACTION.sub(r".\1", text))
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        except ValueError:
            pass
    return datetime.fromtimestamp(int(item.get("_ts", 0)), UTC)
