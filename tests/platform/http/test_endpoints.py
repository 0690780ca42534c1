"""Endpoints of any app."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import azure.functions as func
import pytest

from shared.platform.errors import AppError
from shared.platform.http.calls import Call
from shared.platform.http.endpoints import Endpoint


class EventFull(AppError):
    """An error that the app has forgotten to give a status."""


async def test_an_error_without_a_status_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    @Endpoint()
    async def get_event(_: Call[None]) -> Any:
        raise EventFull("no places are left")

    request = func.HttpRequest("GET", "http://localhost/api/event", body=b"")
    context: Any = SimpleNamespace(invocation_id="1", trace_context=SimpleNamespace(trace_parent=""))
    with caplog.at_level("INFO"):
        response = await get_event(request, context)

    assert response.status_code == 500
    assert "EventFull: no places are left" in caplog.text
