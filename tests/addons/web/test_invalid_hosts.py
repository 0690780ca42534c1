"""Requests for pages whose Host header is invalid."""

from __future__ import annotations

import pytest

from tests.invalid_hosts import assert_invalid_hosts_are_refused
from tests.running_app import RunningApp


@pytest.mark.parametrize("path", ["/", "/posts/p", "/favicon.ico", "/feed.atom"])
async def test_an_invalid_host_header_returns_an_error(app: RunningApp, path: str) -> None:
    await assert_invalid_hosts_are_refused(app, path)
