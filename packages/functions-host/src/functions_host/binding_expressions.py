"""Binding expressions such as `{id}`, `{Query.id}` and `{sys.utcNow}`.

Rules: azure-webjobs-sdk Bindings/Path (BindingTemplateParser.cs, BindingTemplateToken.cs) and SystemBindingData.cs;
azure-webjobs-sdk-extensions Http/HttpTriggerAttributeBindingProvider.cs (the values of a request).
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import azure.functions as func

from .errors import BindingError, FunctionIndexError
from .functions import LoadedFunction

Values = Mapping[str, object]
"""The values of an invocation, by lowercase name. Mappings have members."""

_TOKEN = re.compile(r"(?P<escape>\{\{|\}\})|\{(?P<name>[^{}]*)\}|(?P<literal>[^{}]+)|(?P<unbalanced>[{}])")
_NAME = re.compile(r"rand-guid|[^\W\d]\w*(\.[\w\-]+)*", re.IGNORECASE)


class Template:
    """Text with expressions."""

    def __init__(self, text: str) -> None:
        """Parse a text. Raises FunctionIndexError."""
        # Literals and names alternate.
        self._parts = [""]
        for token in _TOKEN.finditer(text):
            if token["unbalanced"]:
                raise FunctionIndexError(f"{text!r} has an unbalanced '{token['unbalanced']}'; write it twice")
            if token["name"] is not None:
                self._parts += [_checked(token["name"], text), ""]
            else:
                self._parts[-1] += token["literal"] or token["escape"][0]

    @property
    def names(self) -> list[str]:
        """The expressions, in order."""
        return self._parts[1::2]

    def bind(self, values: Values) -> str:
        """Return the text with the values. Raises BindingError if one is missing."""
        return self.replace(lambda name: _text(value_of(name, values)))

    def replace(self, replacement: Callable[[str], str]) -> str:
        """Return the text with a replacement of each expression."""
        return "".join(replacement(part) if index % 2 else part for index, part in enumerate(self._parts))


def _checked(name: str, text: str) -> str:
    if not _NAME.fullmatch(name):
        problem = "formats are not supported by this host" if ":" in name else "the name is empty or invalid"
        raise FunctionIndexError(f"binding expression '{{{name}}}' in {text!r}: {problem}")
    return name


def value_of(name: str, values: Values) -> object:
    """Return the value of an expression. Raises BindingError if there is none."""
    found: object = values
    for part in name.lower().split("."):
        # Names ignore case, as in .NET.
        members = {key.lower(): value for key, value in found.items()} if isinstance(found, Mapping) else {}
        if part not in members:
            raise BindingError(f"the binding expression {{{name}}} has no value")
        found = members[part]
    return found


def values_of(function: LoadedFunction, argument: object) -> Values:
    """Return the values of a trigger's argument. Only requests have values of their own."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    system = {"methodname": function.name, "utcnow": now, "randguid": str(uuid.uuid4())}
    values = {"sys": system, "rand-guid": system["randguid"], "datetime": now}
    return values | _of_request(argument) if isinstance(argument, func.HttpRequest) else values


def _of_request(request: func.HttpRequest) -> dict[str, object]:
    """Merge the body's properties, the query and the route; the last one wins."""
    query = {name: value for name, value in request.params.items() if name.lower() != "code"}
    named = {
        name.lower(): value for part in (_of_body(request), query, request.route_params) for name, value in part.items()
    }
    return {"query": request.params, "headers": request.headers, **named}


def _of_body(request: func.HttpRequest) -> dict[str, object]:
    try:
        body = request.get_json()
    except ValueError:
        return {}
    if not isinstance(body, dict):
        return {}
    return {
        name: value if isinstance(value, dict) else _text(value)
        for name, value in body.items()
        if value is not None and not isinstance(value, list)
    }


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (Mapping, list)):
        return ""
    # As .NET writes booleans: True, False.
    return str(value) if isinstance(value, bool) else json.dumps(value)
