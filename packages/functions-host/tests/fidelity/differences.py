"""Where this host's responses differ from Microsoft's host, and why. The README has the same table."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fidelity.exchange import Response

_LENIENT = "Newtonsoft.Json accepts comments and single quotes. Such a text is sent as it is."
_STATUS = "The real host returns {} for a function that runs. Ours says when its trigger listens."

ACCEPTED = {
    "GET /api/answer/json-date": "Newtonsoft.Json reads a date, and .NET writes it in another format.",
    "GET /api/answer/json-comment": _LENIENT,
    "GET /api/answer/json-single": _LENIENT,
    "GET /api/status/100/body": "Kestrel sends a body after 100, which no client reads. aiohttp sends none.",
    "GET /admin/functions x-functions-key: local": "In the real host's list, URLs begin with https://localhost.",
    "GET /admin/functions/keyed/status x-functions-key: local": _STATUS,
    "GET /admin/functions/yearly/status x-functions-key: local": _STATUS,
    "GET /admin/host/config x-functions-key: local": "Not supported: it describes options that ours does not have.",
    "raw: HTTP/2 preface": "Kestrel answers in HTTP/2, which ours does not speak: 505.",
}


def differences(theirs: Mapping[str, Response], ours: Mapping[str, Response]) -> dict[str, str]:
    """Return what differs, by the request's name."""
    return {name: _described(theirs[name], ours[name]) for name in theirs if theirs[name] != ours[name]}


def assert_only_accepted(differing: Mapping[str, str]) -> None:
    """Fail if another response differs, or one of ACCEPTED does not differ anymore."""
    unexpected = [f"{name}: {text}" for name, text in differing.items() if name not in ACCEPTED]
    assert not unexpected, "\n".join(unexpected)
    assert differing.keys() == ACCEPTED.keys(), f"these do not differ anymore: {ACCEPTED.keys() - differing.keys()}"


def _described(theirs: Response, ours: Response) -> str:
    parts = {
        "status": (theirs.status, ours.status),
        "headers": (sorted(set(theirs.headers) - set(ours.headers)), sorted(set(ours.headers) - set(theirs.headers))),
        "body": (theirs.body[:300], ours.body[:300]),
        "closed": (theirs.closed, ours.closed),
    }
    return ", ".join(f"{name} {left!r} | {right!r}" for name, (left, right) in parts.items() if left != right)
