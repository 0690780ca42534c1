"""Functions, and checks that their parameters match their bindings.

A function that fails a check is skipped. The real host skips it only after a check of the host (azure-functions-host
WorkerFunctionMetadataProvider.cs and Utility.cs); if a check of the worker fails, the app does not start
(azure_functions_runtime functions.py).
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import azure.functions as func
from azure.functions.cosmosdb import CosmosDBConverter, CosmosDBTriggerConverter
from azure.functions.http import HttpRequestConverter
from azure.functions.meta import get_binding_registry
from azure.functions.timer import TimerRequestConverter

from .errors import FunctionIndexError, WorkerIndexError
from .retry import RetryPolicy, parse_decorator_policy

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
Binding = Mapping[str, Json]

HTTP, COSMOS, TIMER = "httpTrigger", "cosmosDBTrigger", "timerTrigger"
COSMOS_BINDING = "cosmosDB"
RETURN = "$return"
_FITS: Mapping[str, Callable[[type], bool]] = {
    HTTP: HttpRequestConverter.check_input_type_annotation,
    COSMOS: CosmosDBTriggerConverter.check_input_type_annotation,
    COSMOS_BINDING: CosmosDBConverter.check_input_type_annotation,
    TIMER: TimerRequestConverter.check_input_type_annotation,
}
_FUNCTION_NAME = re.compile(r"[a-z][a-z0-9_\-]{0,127}", re.IGNORECASE)
_BINDING_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9]{0,127}")


@dataclass(frozen=True)
class LoadedFunction:
    """A function that passed the worker's checks.

    A parameter annotated `str` or `bytes` receives the raw payload. `output` names the `func.Out` parameter that sets
    the HTTP response.
    """

    name: str
    call: Callable[..., object]
    is_async: bool
    directory: str
    bindings: tuple[Binding, ...]
    trigger: Binding
    retry: RetryPolicy | None
    wants_context: bool
    annotations: Mapping[str, typing.Any]
    output: str | None
    returns_value: bool

    @property
    def type(self) -> str:
        """The binding type of the trigger."""
        return str(self.trigger["type"])

    @property
    def route(self) -> str:
        """The route of an HTTP trigger, without the prefix of host.json."""
        return str(self.trigger.get("route", self.name))

    @property
    def argument(self) -> str:
        """The name of the trigger's parameter."""
        return str(self.trigger["name"])

    @property
    def argument_type(self) -> object:
        """The annotation of the trigger's parameter."""
        return self.annotations.get(self.argument)


class _MismatchError(Exception):
    """The parameters do not match the bindings."""


def load_function(function: func.Function) -> LoadedFunction:
    """Check a function as the worker does. Raises FunctionIndexError."""
    name = str(function.get_function_name())
    bindings = tuple(json.loads(function.get_function_json())["bindings"])
    user_function = function.get_user_function()
    parameters = dict(inspect.signature(user_function).parameters)
    try:
        hints = typing.get_type_hints(user_function)
        wants_context = _takes_context(parameters, hints, bindings)
        for binding in bindings:
            _check_binding(binding, parameters, hints)
    except (_MismatchError, NameError, SyntaxError, TypeError, AttributeError) as error:
        if any(module.startswith("azurefunctions.extensions.") for module in sys.modules):
            # With these packages, Azure supports more types (azure_functions_runtime, bindings/meta.py).
            raise FunctionIndexError(
                f"cannot load the {name} function: {error}. This host does not support HTTP streams and the types of "
                "azurefunctions-extensions packages"
            ) from error
        raise WorkerIndexError(f"cannot load the {name} function: {error}") from error
    trigger = _trigger(name, bindings)
    policy = function.get_settings_dict("retry_policy")
    return LoadedFunction(
        name=name,
        call=user_function,
        is_async=inspect.iscoroutinefunction(user_function),
        directory=str(Path(inspect.getfile(inspect.unwrap(user_function))).parent),
        bindings=bindings,
        trigger=trigger,
        retry=parse_decorator_policy(policy, name) if policy else None,
        wants_context=wants_context,
        annotations=hints,
        output=next((str(b["name"]) for b in bindings if b["type"] == "http" and b["name"] != RETURN), None),
        returns_value=any(binding["name"] == RETURN for binding in bindings) or _returns_implicitly(trigger),
    )


def check_names(function: LoadedFunction, *, stub_bindings: bool = False) -> None:
    """Check names and binding types as the host does. Raises FunctionIndexError.

    `stub_bindings` allows other triggers and outputs.
    """
    if not _FUNCTION_NAME.fullmatch(function.name) or function.name.lower() == "host":
        raise FunctionIndexError(f"'{function.name}' is not a valid function name")
    names = [str(binding["name"]) for binding in function.bindings]
    for name in names:
        if name != RETURN and not _BINDING_NAME.fullmatch(name):
            raise FunctionIndexError(f"binding name '{name}' must be a letter followed by letters and digits")
    if len({name.lower() for name in names}) < len(names):
        raise FunctionIndexError("two bindings have the same name")
    for binding in function.bindings:
        is_stub = stub_bindings and (binding is function.trigger or _is_out(binding))
        if not is_supported(binding) and not is_stub:
            raise FunctionIndexError(f"binding type '{binding['type']}' is not supported by this host")


def is_supported(binding: Binding) -> bool:
    """Return whether this host runs bindings of this type."""
    return binding["type"] in (*_FITS, "http")


def _takes_context(
    parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, object], bindings: tuple[Binding, ...]
) -> bool:
    bound = {str(binding["name"]) for binding in bindings} - {RETURN}
    takes_context = "context" in parameters and "context" not in bound
    annotation = hints.get("context")
    if takes_context and annotation is not None and getattr(annotation, "__name__", "") != "Context":
        raise _MismatchError("the 'context' parameter must have the type Context")
    wanted = set(parameters) - ({"context"} if takes_context else set())
    if bound - wanted:
        raise _MismatchError(f"parameters are declared in its bindings but not in Python: {sorted(bound - wanted)}")
    if wanted - bound:
        raise _MismatchError(f"parameters are declared in Python but not in its bindings: {sorted(wanted - bound)}")
    return takes_context


def _check_binding(binding: Binding, parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, object]) -> None:
    bound, direction = str(binding["name"]), str(binding["direction"])
    if direction == "INOUT":
        raise _MismatchError('"INOUT" bindings are not supported')
    if bound == RETURN:
        if not _is_out(binding):
            raise _MismatchError("$return must have the direction OUT")
        _check_return(binding, hints.get("return"))
        return
    if parameters[bound].annotation is inspect.Parameter.empty:
        return
    annotation = hints[bound]
    is_out_annotation = typing.get_origin(annotation) is func.Out or annotation is func.Out
    if _is_out(binding) != is_out_annotation:
        raise _MismatchError(f"annotation {annotation!r} of '{bound}' does not match its direction {direction}")
    if not is_out_annotation:
        _check_argument(binding, annotation)
    elif binding["type"] == COSMOS_BINDING and typing.get_args(annotation) not in ((str,), (bytes,)):
        _check_output(binding, typing.get_args(annotation)[0])


def _check_return(binding: Binding, annotation: object) -> None:
    if annotation is None or annotation is type(None):
        return
    if not isinstance(annotation, type):
        raise _MismatchError("its return annotation must be a type")
    if binding["type"] == "http" and not issubclass(annotation, (func.HttpResponse, str)):
        raise _MismatchError("it must return an HttpResponse or a str")
    if binding["type"] == COSMOS_BINDING:
        _check_output(binding, annotation)


def _check_output(binding: Binding, annotation: object) -> None:
    if not isinstance(annotation, type) or not issubclass(annotation, (func.Document, func.DocumentList)):
        raise _MismatchError(f"output '{binding['name']}' must be a Document or a DocumentList, not {annotation!r}")


def _check_argument(binding: Binding, annotation: object) -> None:
    bound, kind = str(binding["name"]), str(binding["type"])
    if not isinstance(annotation, type):
        raise _MismatchError(f"binding {bound} has a non-type annotation")
    fits = _FITS.get(kind)
    if fits is not None and annotation not in (str, bytes) and not fits(annotation):
        raise _MismatchError(
            f"the {bound} binding '{kind}' and its Python annotation '{annotation.__name__}' do not match"
        )


def _trigger(name: str, bindings: tuple[Binding, ...]) -> Binding:
    for binding in bindings:
        if str(binding["type"]).lower().endswith("trigger"):
            return binding
    raise FunctionIndexError(f"function '{name}' has no trigger")


def _returns_implicitly(trigger: Binding) -> bool:
    """Return whether functions with this trigger, such as activities, return a value without an output binding."""
    converter = get_binding_registry().get(trigger["type"])
    return converter is not None and bool(converter.has_implicit_output())


def _is_out(binding: Binding) -> bool:
    return binding["direction"] == "OUT"
