"""Request parsing: handlers receive a valid Call, or the client receives an error."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import azure.functions as func
from pydantic import ValidationError
from pydantic_core import from_json

from shared.platform import errors
from shared.platform.data.pages import Cursor
from shared.platform.errors import FieldFault, InvalidFields, MalformedRequest, NotFound
from shared.platform.http.callers import Caller
from shared.platform.models import EMPTY, RequestModel, edit_of, is_item_id

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# The methods of queries. The Functions host returns 404 for a method that the route does not list.
QUERY = ["GET", "HEAD"]
# Fits a text of 100,000 characters, unless a client escapes those beyond U+FFFF, as 12 bytes each.
BODY_LIMIT = 1024 * 1024
FAULT_LIMIT = 20
PAGE_LIMIT = 100
DEFAULT_PAGE = 20
# Ends the ETag of a compressed representation (shared/platform/http/responses.py).
GZIP_SUFFIX = "-gzip"
IDEMPOTENCY_KEY_LENGTH = 255

# Advice on an invalid field, by pydantic's type of error (https://docs.pydantic.dev/latest/errors/validation_errors/).
# Pydantic's own messages are for developers. An app adds the types that its models need.
ADVICE = {
    "missing": "This field is missing. Add it.",
    "extra_forbidden": "This field is unknown. Remove it.",
    "string_type": "This is not text. Send a JSON string.",
    "string_too_short": "This is too short. Use at least {min_length} characters.",
    "string_too_long": "This is too long. Use at most {max_length:,} characters.",
    "value_error": "{error}",
}
# Any parameters, but no other charset (https://www.rfc-editor.org/rfc/rfc9110#name-parameters).
_CHARSET, _PARAMETER = r'charset=("utf-8"|utf-8)', r'(?!charset=)[^\s;=",]+=("([^"\\]|\\.)*"|[^\s;=",]+)'
_JSON = re.compile(rf"application/json(\s*;[\s;]*({_CHARSET}|{_PARAMETER}))*[\s;]*", re.IGNORECASE)
# https://www.rfc-editor.org/rfc/rfc9110#name-etag, ASCII only.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
# A recipient ignores empty elements (https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1.2).
_ETAGS = re.compile(rf"[\s,]*{_ETAG.pattern}(\s*,[\s,]*{_ETAG.pattern})*[\s,]*", re.ASCII)
_CONDITIONAL = ("PUT", "DELETE")
# https://www.rfc-editor.org/rfc/rfc9110#name-accept-encoding: a weight of zero refuses.
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)
# A header byte that is not valid UTF-8 arrives as an unpaired surrogate.
_SURROGATE = re.compile("[\ud800-\udfff]")

Body = TypeVar("Body", bound=RequestModel | None)


@dataclass(frozen=True)
class Call(Generic[Body]):
    """A parsed request. `cursor` is what the endpoint parses, a Cursor by default.

    A command applies to an item whose last edit is in `if_match`, a query returns a representation whose ETag is in it,
    or any if that is None. `params` are all query parameters, for those that only one endpoint has.
    """

    caller: Caller
    is_query: bool
    body: Body
    path: Mapping[str, str]
    params: Mapping[str, str]
    limit: int
    cursor: Any
    if_match: frozenset[str] | None
    if_none_match: frozenset[str]  # without `W/`; or `*`
    idempotency_key: str | None
    accepts_gzip: bool


def parse_call(
    request: func.HttpRequest,
    body_model: type[RequestModel] | None,
    caller: Caller,
    parse_cursor: Callable[[str], Any] = Cursor.parse,
    not_found: Mapping[str, type[NotFound]] = MappingProxyType({}),
) -> Call[Body]:
    """Parse a request. `not_found` has the errors for invalid IDs in the path, by the parameter.

    Raises MalformedRequest, BodyTooLarge, UnsupportedBody, InvalidFields, and NotFound for an invalid ID in the path.
    """
    # A call without a body model is a Call[None].
    body = cast("Body", _parse_body(request, body_model) if body_model else None)
    for name, value in request.route_params.items():
        if name in not_found and not is_item_id(value):
            raise not_found[name](value)
    return Call(
        caller=caller,
        is_query=request.method in QUERY,
        body=body,
        path=request.route_params,
        params=request.params,
        limit=_parse_limit(request.params.get("limit")),
        cursor=parse_cursor(request.params["cursor"]) if "cursor" in request.params else None,
        if_match=_parse_if_match(request) if request.method in (*QUERY, *_CONDITIONAL) else None,
        if_none_match=frozenset(
            tag.removeprefix("W/") for tag in _entity_tags(request.headers.get("If-None-Match", ""))
        ),
        idempotency_key=_parse_idempotency_key(request) if request.method not in (*QUERY, *_CONDITIONAL) else None,
        accepts_gzip=_GZIP.search(request.headers.get("Accept-Encoding", "")) is not None,
    )


def _parse_body(request: func.HttpRequest, model: type[RequestModel]) -> RequestModel:
    content = request.get_body()
    if len(content) > BODY_LIMIT:
        raise errors.BodyTooLarge(f"The body is {len(content)} bytes; send at most {BODY_LIMIT}.")
    if request.headers.get("Content-Encoding", "identity").strip(" \t,").lower() != "identity":
        raise errors.EncodedBody
    if not _JSON.fullmatch(request.headers.get("Content-Type", "").strip()):
        raise errors.UnsupportedBody("Send the body as JSON in UTF-8, with Content-Type: application/json.")
    if not content:
        # Also of a chunked body, which the Functions host does not pass on.
        raise MalformedRequest("The body is empty; send Content-Length.")
    try:
        # A parser can ignore a byte order mark (https://www.rfc-editor.org/rfc/rfc8259#section-8.1).
        fields = from_json(content.removeprefix(codecs.BOM_UTF8), allow_inf_nan=False)
    except ValueError as error:
        raise MalformedRequest(f"The body is not JSON: {error}.") from error
    if not isinstance(fields, dict):
        raise MalformedRequest("The body must be a JSON object.")
    known = {field.alias for field in model.model_fields.values()}
    # Pydantic would take seconds to describe 100,000 unknown fields.
    for name in [name for name in fields if name not in known][FAULT_LIMIT:]:
        del fields[name]
    try:
        return model.model_validate(fields, by_name=False)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:FAULT_LIMIT]
        raise InvalidFields([FieldFault(_pointer(fault["loc"]), _advice(fault)) for fault in faults]) from error


def _advice(fault: ErrorDetails) -> str:
    limits = fault.get("ctx", {})
    if limits.get("min_length") == 1:
        return EMPTY
    return ADVICE[fault["type"]].format_map(limits) if fault["type"] in ADVICE else fault["msg"]


def _pointer(location: tuple[int | str, ...]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in location)


def _parse_limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_PAGE
    if not re.fullmatch(r"[0-9]{1,3}", text, re.ASCII) or not 1 <= int(text) <= PAGE_LIMIT:
        raise MalformedRequest(f"The query parameter limit must be a whole number from 1 to {PAGE_LIMIT}.")
    return int(text)


def _parse_if_match(request: func.HttpRequest) -> frozenset[str] | None:
    """The ETags that a query returns, or the edits that a PUT or DELETE applies to.

    With `If-None-Match: *`, these are none, because the item exists.
    """
    required, excluded = request.headers.get("If-Match", "*").strip(), request.headers.get("If-None-Match", "").strip()
    if excluded and request.method not in QUERY:
        if excluded != "*":
            raise MalformedRequest("Use If-Match to name a version. If-None-Match of a command can only be *.")
        return frozenset()
    is_valid = _ETAGS.fullmatch(required) is not None
    if required == "*" or (request.method in QUERY and not is_valid):
        return None
    if not is_valid:
        raise MalformedRequest("If-Match must be one or several ETags, exactly as received, or *.")
    # If-Match compares strongly, so a weak ETag never holds, and it does not depend on the encoding.
    tags = (re.sub(f'{GZIP_SUFFIX}"$', '"', tag) for tag in _entity_tags(required))
    return frozenset(tags if request.method in QUERY else map(edit_of, tags))


def _entity_tags(header: str) -> list[str]:
    return ["*"] if header.strip() == "*" else _ETAG.findall(header)


def _parse_idempotency_key(request: func.HttpRequest) -> str | None:
    header: str | None = request.headers.get("Idempotency-Key")
    if header is not None and (not 1 <= len(header) <= IDEMPOTENCY_KEY_LENGTH or _SURROGATE.search(header)):
        raise MalformedRequest(f"Idempotency-Key must have 1 to {IDEMPOTENCY_KEY_LENGTH} characters, in UTF-8.")
    return header
