"""An app of odd functions, which answer requests and return results that a usual app does not."""

import asyncio
import json
import os
import threading

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def _seen(req: func.HttpRequest, **more: object) -> func.HttpResponse:
    """Return everything that a function can see of its request."""
    try:
        parsed: object = req.get_json()
    except ValueError as error:
        parsed = type(error).__name__
    seen = {
        "method": req.method,
        "url": req.url,
        "headers": sorted(req.headers.items()),
        "params": list(req.params.items()),
        "route_params": sorted(req.route_params.items()),
        "body": req.get_body().decode("latin-1")[:2000],
        "length": len(req.get_body()),
        "json": parsed,
        "form": sorted(req.form.items(multi=True)) if hasattr(req.form, "items") else None,
        "files": sorted((name, file.filename, file.read().decode("latin-1")) for name, file in req.files.items()),
        **more,
    }
    return func.HttpResponse(json.dumps(seen), mimetype="application/json")


@app.route(route="api/echo/{*rest}")
async def echo(req: func.HttpRequest) -> func.HttpResponse:
    return _seen(req)


@app.route(route="api/thread/{id?}", methods=["GET", "POST"])
def in_a_thread(req: func.HttpRequest) -> func.HttpResponse:
    return _seen(req, thread=threading.current_thread() is not threading.main_thread())


@app.route(route="api/context")
async def in_context(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
    trace, retry = context.trace_context, context.retry_context
    seen = {
        "function": context.function_name,
        "id": len(context.invocation_id),
        "parent": trace.trace_parent,
        "state": trace.trace_state,
        "retry": [retry.retry_count, retry.max_retry_count],
        "local": getattr(context.thread_local_storage, "invocation_id", "") == context.invocation_id,
        "threads": os.environ.get("PYTHON_THREADPOOL_THREAD_COUNT"),
    }
    return func.HttpResponse(json.dumps(seen), mimetype="application/json")


@app.route(route="api/items/{id:int}", methods=["GET", "PUT", "DELETE"])
async def items(req: func.HttpRequest) -> func.HttpResponse:
    return _seen(req)


@app.route(route="api/items/x", methods=["GET"])
async def items_x(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("x")


@app.route(route="api/posted", methods=["POST"])
async def posted(req: func.HttpRequest) -> func.HttpResponse:
    return _seen(req)


@app.route(route="api/read", methods=["GET"])
async def read(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("read")


@app.route(route="api/head", methods=["HEAD", "OPTIONS"])
async def head(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("of a HEAD request", headers={"X-Method": req.method})


@app.route(route="API/Upper/{ID}")
async def upper(req: func.HttpRequest) -> func.HttpResponse:
    return _seen(req)


_TEMPLATES = {
    "guid": "{v:guid}",
    "bool": "{v:bool}",
    "long": "{v:long}",
    "double": "{v:double}",
    "decimal": "{v:decimal}",
    "date": "{v:datetime}",
    "alpha": "{v:alpha}",
    "min": "{v:min(3)}",
    "max": "{v:max(3)}",
    "range": "{v:range(1,10)}",
    "length": "{v:length(2,4)}",
    "regex": "{v:regex(^a+$)}",
    "both": "{v:int:min(5)}",
    "optional": "{v?}",
    "optional_int": "{v:int?}",
    "default": "{v=7}",
    "pair": "{a}-{b}",
    "file": "{name}.{ext?}",
    "two": "{a}/{b}",
    "braces": "{{v}}",
    "fixed": "a b",
}


def _template(kind: str, template: str) -> None:
    @app.function_name(f"template_{kind}")
    @app.route(route=f"api/template/{kind}/{template}")
    async def matched(req: func.HttpRequest) -> func.HttpResponse:
        return func.HttpResponse(json.dumps([kind, sorted(req.route_params.items())]))


for _kind, _text in _TEMPLATES.items():
    _template(_kind, _text)


class _Stop(BaseException):
    """Not an Exception."""


def _cancelled() -> object:
    raise asyncio.CancelledError


def _raised() -> object:
    raise ValueError("secret")


def _with(**headers: str) -> func.HttpResponse:
    return func.HttpResponse("body", headers={name.replace("_", "-"): value for name, value in headers.items()})


def _cookies(*values: str) -> func.HttpResponse:
    response = func.HttpResponse("body")
    for value in values:
        response.headers.add("Set-Cookie", value)
    return response


def _repeated(name: str, *values: str) -> func.HttpResponse:
    response = func.HttpResponse("body")
    for value in values:
        response.headers.add(name, value)
    return response


_ANSWERS = {
    "text": lambda: "text",
    "empty": lambda: "",
    "unicode": lambda: "ü ☃",
    "json-object": lambda: '{"a":1,  "b":[1,2]}',
    "json-array": lambda: '[1,2,{"a":null}]',
    "json-empty-array": lambda: "[]",
    "json-empty-object": lambda: "{}",
    "json-string": lambda: '"quoted"',
    "json-number": lambda: "1.50",
    "json-big": lambda: "123456789012345678901234567890",
    "json-float": lambda: "1e3",
    "json-true": lambda: "true",
    "json-null": lambda: "null",
    "json-date": lambda: '"2024-01-02T03:04:05Z"',
    "json-dates": lambda: '{"when":"2024-01-02T03:04:05.000Z","n":1.0}',
    "json-unicode": lambda: '{"a":"\\u00fc"}',
    "json-spaces": lambda: '  {"a": 1}  ',
    "json-trailing": lambda: '{"a": 1} x',
    "json-comment": lambda: '/* c */{"a": 1}',
    "json-single": lambda: "{'a': 1}",
    "described": lambda: '{"body":"b","status":201,"headers":{"X-A":"1"}}',
    "described-code": lambda: '{"body":"b","statusCode":"202"}',
    "described-object": lambda: '{"body":{"a":1}}',
    "described-list": lambda: '{"body":[1]}',
    "described-null": lambda: '{"body":null,"status":404}',
    "described-number": lambda: '{"body":5}',
    "described-type": lambda: '{"body":"<p>","headers":{"content-type":"text/html"}}',
    "described-bad": lambda: '{"body":"b","status":"x"}',
    "described-upper": lambda: '{"Body":"b","Status":201}',
    "none": lambda: None,
    "bytes": lambda: b"bytes",
    "dict": lambda: {"a": 1},
    "list": lambda: [1],
    "int": lambda: 5,
    "raised": _raised,
    "cancelled": _cancelled,
    "200": lambda: func.HttpResponse(),
    "http-text": lambda: func.HttpResponse("ü"),
    "http-bytes": lambda: func.HttpResponse(bytes(range(256)), mimetype="application/octet-stream"),
    "http-json": lambda: func.HttpResponse('{"a":1}', mimetype="application/json"),
    "http-charset": lambda: func.HttpResponse("ü", charset="latin-1"),
    "http-html": lambda: func.HttpResponse("<p>", mimetype="text/html"),
    "http-no-type": lambda: func.HttpResponse(b"x", mimetype=""),
    "http-big": lambda: func.HttpResponse("x" * 300_000),
    "http-type": lambda: _with(Content_Type="application/problem+json; charset=utf-8"),
    "http-bad-type": lambda: _with(Content_Type="nonsense"),
    "http-empty-type": lambda: _with(Content_Type=""),
    "http-bad-body": lambda: func.HttpResponse(5),
    "length-right": lambda: _with(Content_Length="4"),
    "length-short": lambda: _with(Content_Length="2"),
    "length-long": lambda: _with(Content_Length="10"),
    "length-text": lambda: _with(Content_Length="x"),
    "chunked": lambda: _with(Transfer_Encoding="chunked"),
    "gzip": lambda: _with(Content_Encoding="gzip"),
    "name-space": lambda: func.HttpResponse("body", headers={"X A": "1"}),
    "name-empty": lambda: func.HttpResponse("body", headers={"": "1"}),
    "name-colon": lambda: func.HttpResponse("body", headers={"X:A": "1"}),
    "name-unicode": lambda: func.HttpResponse("body", headers={"Xü": "1"}),
    "value-unicode": lambda: _with(X_A="☃"),
    "value-latin": lambda: _with(X_A="ü"),
    "value-break": lambda: _with(X_A="a\r\nX-B: c"),
    "value-control": lambda: _with(X_A="a\x01b"),
    "value-tab": lambda: _with(X_A="a\tb"),
    "value-spaces": lambda: _with(X_A="  a  "),
    "value-empty": lambda: _with(X_A=""),
    "value-long": lambda: _with(X_A="a" * 20_000),
    "value-number": lambda: func.HttpResponse("body", headers={"X-A": 5}),
    "both": lambda: _with(X_Both="function"),
    "both-case": lambda: _with(x_both="function"),
    "server": lambda: _with(Server="mine"),
    "date": lambda: _with(Date="Mon, 01 Jan 2024 00:00:00 GMT"),
    "connection": lambda: _with(Connection="close"),
    "keep-alive": lambda: _with(Connection="keep-alive"),
    "location": lambda: func.HttpResponse(status_code=302, headers={"Location": "/x?a=ü"}),
    "location-ascii": lambda: func.HttpResponse(status_code=302, headers={"Location": "/x?a=b"}),
    "cache": lambda: _with(Cache_Control="no-store", ETag='"1"', Vary="Accept"),
    "cookie": lambda: _cookies("a=b"),
    "cookies": lambda: _cookies("a=b", "c=d"),
    "cookie-full": lambda: _cookies("a=b; Path=/x; Domain=example.com; Max-Age=60; Secure; HttpOnly; SameSite=Lax"),
    "cookie-strict": lambda: _cookies("a=b; SameSite=Strict; Path=/"),
    "cookie-none": lambda: _cookies("a=b; SameSite=None; Secure"),
    "cookie-expires": lambda: _cookies("a=b; Expires=Wed, 01 Jan 2031 00:00:00 GMT"),
    "cookie-deleted": lambda: _cookies("a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/"),
    "cookie-bad-date": lambda: _cookies("a=b; Expires=nonsense"),
    "cookie-zero": lambda: _cookies("a=b; Max-Age=0"),
    "cookie-bad-age": lambda: _cookies("a=b; Max-Age=x"),
    "cookie-quoted": lambda: _cookies('a="b c"'),
    "cookie-special": lambda: _cookies("a=b%20c+d/e=f"),
    "cookie-bad": lambda: _cookies("nonsense"),
    "cookie-host": lambda: _cookies("__Host-a=b; Path=/; Secure; HttpOnly"),
    "cookie-partitioned": lambda: _cookies("a=b; Path=/; Secure; Partitioned"),
    "repeated": lambda: _repeated("X-A", "1", "2"),
    "repeated-vary": lambda: _repeated("Vary", "a", "b"),
    "repeated-link": lambda: _repeated("Link", "<a>", "<b>"),
}


@app.route(route="api/answer/{kind}")
async def answer(req: func.HttpRequest):  # type: ignore[no-untyped-def]  # some results are invalid
    return _ANSWERS[req.route_params["kind"]]()


@app.route(route="api/status/{code:int}/{body?}")
async def status(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(req.route_params.get("body"), status_code=int(req.route_params["code"]))


@app.route(route="api/out", methods=["GET"])
async def with_out(req: func.HttpRequest) -> str:
    return "returned"


@app.route(route="api/keyed/{id?}", auth_level=func.AuthLevel.FUNCTION)
async def keyed(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(json.dumps(list(req.params.items())))


@app.route(route="api/master", auth_level=func.AuthLevel.ADMIN)
async def master(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("master")


@app.route(route="api/disabled")
async def disabled(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("disabled")


@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:00")
@app.route(route="api/retried")
async def retried(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
    if context.retry_context.retry_count < 1:
        raise ValueError
    return func.HttpResponse(str(context.retry_context.retry_count))


@app.route(route="api/retried-not")
async def retried_not(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("x")


@app.route(route="{first:regex(^(admin|runtime|other)$)}/{*rest}")
async def zz_catch_all(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(json.dumps(sorted(req.route_params.items())))


@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
async def yearly(timer: func.TimerRequest) -> None:
    pass
