"""Requests for pages whose Host header is invalid."""

from __future__ import annotations

import pytest

from addons.web import pages
from addons.web.assets import get_favicon
from tests.invalid_hosts import assert_function_refuses_invalid_hosts, assert_invalid_hosts_are_refused
from tests.running_app import RunningApp


@pytest.mark.parametrize("path", ["/", "/posts/p", "/favicon.ico", "/feed.atom"])
async def test_an_invalid_host_header_returns_an_error(app: RunningApp, path: str) -> None:
    await assert_invalid_hosts_are_refused(app, path)


@pytest.mark.parametrize("path", ["/", "/posts/p", "/favicon.ico"])
async def test_the_site_itself_refuses_an_invalid_host_header(path: str) -> None:
    functions = {"/": pages.z_page, "/posts/p": pages.page_post, "/favicon.ico": get_favicon}

    await assert_function_refuses_invalid_hosts(functions[path], path)
