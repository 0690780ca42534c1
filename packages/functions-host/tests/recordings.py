"""What Microsoft's host answered and delivered, in files, which `make test-host-fidelity RECORD=1` writes again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fidelity.exchange import Response

_FOLDER = Path(__file__).with_name("recorded")
_RESPONSES = _FOLDER / "responses.json"
_DATES = _FOLDER / "dates.json"


def recorded_responses() -> dict[str, Response]:
    """Return the responses to the requests in fidelity/cases.py, by the request's name."""
    recorded = json.loads(_RESPONSES.read_text(encoding="utf-8"))["responses"]
    return {name: _response(fields) for name, fields in recorded.items()}


def record_responses(host: str, responses: Mapping[str, Response]) -> None:
    """Write the responses of a host, one a line, so that a diff shows what changed."""
    lines = [f"{_json(name)}: {_json(_fields(response))}" for name, response in responses.items()]
    head = f'{{\n"host": {_json(host)},\n"recorded": {_json(_today())},\n"responses": {{\n'
    _RESPONSES.write_text(head + ",\n".join(lines) + "\n}\n}\n", encoding="utf-8")


def recorded_dates() -> tuple[dict[str, str], list[str]]:
    """Return what was delivered for texts like dates, and the texts that stopped the lease."""
    recorded = json.loads(_DATES.read_text(encoding="utf-8"))
    return recorded["delivered"], recorded["stops_the_lease"]


def record_dates(host: str, delivered: Mapping[str, str], stops_the_lease: Iterable[str]) -> None:
    """Write what a host delivered for each text, and the texts that stopped the lease."""
    recorded = {
        "host": host,
        "recorded": _today(),
        "delivered": dict(delivered),
        "stops_the_lease": list(stops_the_lease),
    }
    _DATES.write_text(json.dumps(recorded, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def _fields(response: Response) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "status": response.status,
        "headers": [f"{name}: {value}" for name, value in response.headers],
    }
    try:
        fields["body"] = response.body.decode()
    except UnicodeDecodeError:
        fields["base64"] = base64.b64encode(response.body).decode()
    return fields if response.closed else fields | {"closed": False}


def _response(fields: Mapping[str, Any]) -> Response:
    body = base64.b64decode(fields["base64"]) if "base64" in fields else fields["body"].encode()
    headers = tuple((name, value) for name, _, value in (line.partition(": ") for line in fields["headers"]))
    return Response(fields["status"], headers, body, fields.get("closed", True))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
