"""What this repository's host does differently, with the reasons. The README of functions-host has the same table."""

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
