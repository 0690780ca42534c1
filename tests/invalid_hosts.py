"""Host headers of which no URL can be made."""

from __future__ import annotations

from tests.raw_http import raw
from tests.running_app import RunningApp


async def assert_invalid_hosts_are_refused(app: RunningApp, path: str) -> None:
    """Send invalid Host headers to a path. The responses are errors, and no traceback is logged."""
    before = len(app.log_lines(containing="Traceback"))

    refused = dict.fromkeys((b"[::1", b"[x]", b"]", b"\xff", "ä".encode()), b"400")
    # Microsoft's host cannot make a URL of these for the app.
    for host, status in {**refused, b"a:99999": b"500", b"[::::]": b"500"}.items():
        lines = [f"GET {path} HTTP/1.1".encode(), b"Host: " + host, b"Connection: close", b"", b""]
        assert (await raw(app, b"\r\n".join(lines))).split()[1] == status, host

    assert len(app.log_lines(containing="Traceback")) == before
