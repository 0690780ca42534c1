"""Long responses are compressed beside the event loop, short ones on it."""

from __future__ import annotations

import gzip
import threading
from typing import Any

import azure.functions as func
import pytest

from shared.platform.http.callers import ANONYMOUS
from shared.platform.http.calls import parse_call
from shared.platform.http.responses import Response, http_response


@pytest.mark.parametrize(("length", "beside"), [(5_000, False), (1_200_000, True)])
async def test_a_long_response_does_not_hold_up_the_event_loop(
    length: int, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, compress = list[int](), gzip.compress

    def recording(*arguments: Any, **options: Any) -> bytes:
        threads.append(threading.get_ident())
        return compress(*arguments, **options)

    monkeypatch.setattr(gzip, "compress", recording)
    request = func.HttpRequest("GET", "/", headers={"Accept-Encoding": "gzip"}, body=b"")
    response = await http_response(Response("阿".encode() * (length // 3)), parse_call(request, None, ANONYMOUS))

    assert [thread != threading.get_ident() for thread in threads] == [beside]
    assert len(gzip.decompress(response.get_body())) == length // 3 * 3
