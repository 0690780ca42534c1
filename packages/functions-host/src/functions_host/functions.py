"""What the host knows of a function: its bindings, its parameters, and whether both fit each other.

Rules: azure_functions_runtime functions.py (the worker's checks, each fails the whole app) and azure-functions-host
WorkerFunctionMetadataProvider.cs and Utility.cs (the host's checks, each drops one function).
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import azure.functions as func
from azure.functions.cosmosdb import CosmosDBTriggerConverter
from azure.functions.http import HttpRequestConverter
from azure.functions.timer import TimerRequestConverter

from .errors import FunctionIndexError, HostStartError
from .retry import RetryPolicy, policy_of_decorator

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
Binding = Mapping[str, Json]

HTTP, COSMOS, TIMER = "httpTrigger", "cosmosDBTrigger", "timerTrigger"
RETURN = "$return"
# The library's converters know which annotations fit their trigger's parameter.
_FITS: Mapping[str, Callable[[type], bool]] = {
    HTTP: HttpRequestConverter.check_input_type_annotation,
    COSMOS: CosmosDBTriggerConverter.check_input_type_annotation,
    TIMER: TimerRequestConverter.check_input_type_annotation,
}
_FUNCTION_NAME = re.compile(r"[a-z][a-z0-9_\-]{0,127}", re.IGNORECASE)
_BINDING_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9]{0,127}")


@dataclass(frozen=True)
class LoadedFunction:
    """A function that passed the worker's checks.

    `argument_type` is the trigger parameter's annotation; `str` or `bytes` ask for the raw payload. `output` is
    the name of an HTTP output parameter (`func.Out`) when the response is not the return value.
    """

    name: str
    call: Callable[..., object]
    is_async: bool
    directory: str
    bindings: tuple[Binding, ...]
    trigger: Binding
    retry: RetryPolicy | None
    wants_context: bool
    argument_type: type | None
    output: str | None
    returns_value: bool

    @property
    def type(self) -> str:
        """The trigger's binding type, for instance `httpTrigger`."""
        return str(self.trigger["type"])

    @property
    def argument(self) -> str:
        """The name of the parameter that receives the trigger's data."""
        return str(self.trigger["name"])


def load_function(function: func.Function) -> LoadedFunction:
    """Check one function as the worker does. HostStartError fails the app, FunctionIndexError the function."""
    name = str(function.get_function_name())
    bindings = tuple(json.loads(function.get_function_json())["bindings"])
    user_function = function.get_user_function()
    parameters = dict(inspect.signature(user_function).parameters)
    hints = _type_hints(name, user_function)
    wants_context = _takes_context(name, parameters, hints, bindings)
    for binding in bindings:
        _check_binding(name, binding, parameters, hints)
    trigger = _trigger(name, bindings)
    policy = function.get_settings_dict("retry_policy")
    return LoadedFunction(
        name=name,
        call=user_function,
        is_async=inspect.iscoroutinefunction(user_function),
        directory=str(Path(inspect.getfile(inspect.unwrap(user_function))).parent),
        bindings=bindings,
        trigger=trigger,
        retry=policy_of_decorator(policy, name) if policy else None,
        wants_context=wants_context,
        argument_type=hints.get(str(trigger["name"])),
        output=next((str(b["name"]) for b in bindings if _is_out(b) and b["name"] != RETURN), None),
        returns_value=any(binding["name"] == RETURN for binding in bindings),
    )


def check_names(function: LoadedFunction) -> None:
    """The host's own checks of names and binding types; FunctionIndexError drops the function."""
    if not _FUNCTION_NAME.fullmatch(function.name) or function.name.lower() == "host":
        raise FunctionIndexError(f"'{function.name}' is not a valid function name")
    names = [str(binding["name"]) for binding in function.bindings]
    for name in names:
        if name != RETURN and not _BINDING_NAME.fullmatch(name):
            raise FunctionIndexError(
                f"the binding name '{name}' is not valid: a letter, then letters and digits (no underscore)"
            )
    if len({name.lower() for name in names}) < len(names):
        raise FunctionIndexError("two bindings have the same name")
    for binding in function.bindings:
        if binding["type"] not in (*_FITS, "http"):
            raise FunctionIndexError(f"the binding type '{binding['type']}' is not supported by this host")


def _type_hints(name: str, user_function: Callable[..., object]) -> dict[str, typing.Any]:
    try:
        return typing.get_type_hints(user_function)
    except NameError as error:
        raise HostStartError(f"cannot load the {name} function: annotation: {error}") from error


def _takes_context(
    name: str,
    parameters: Mapping[str, inspect.Parameter],
    hints: Mapping[str, object],
    bindings: tuple[Binding, ...],
) -> bool:
    bound = {str(binding["name"]) for binding in bindings} - {RETURN}
    takes_context = "context" in parameters and "context" not in bound
    annotation = hints.get("context")
    if takes_context and annotation is not None and getattr(annotation, "__name__", "") != "Context":
        raise HostStartError(
            f"cannot load the {name} function: the 'context' parameter is expected to be of type Context"
        )
    wanted = set(parameters) - ({"context"} if takes_context else set())
    if bound - wanted:
        raise HostStartError(
            f"cannot load the {name} function: the following parameters are declared in its bindings but not in "
            f"Python: {sorted(bound - wanted)}"
        )
    if wanted - bound:
        raise HostStartError(
            f"cannot load the {name} function: the following parameters are declared in Python but not in its "
            f"bindings: {sorted(wanted - bound)}"
        )
    return takes_context


def _check_binding(
    name: str,
    binding: Binding,
    parameters: Mapping[str, inspect.Parameter],
    hints: Mapping[str, object],
) -> None:
    bound, direction = str(binding["name"]), str(binding["direction"])
    if direction == "INOUT":
        raise HostStartError(f'cannot load the {name} function: "INOUT" bindings are not supported')
    if bound == RETURN:
        if not _is_out(binding):
            raise HostStartError(f"cannot load the {name} function: $return must have the direction OUT")
        _check_return(name, binding, hints.get("return"))
        return
    if parameters[bound].annotation is inspect.Parameter.empty:
        return
    annotation = hints[bound]
    is_out_annotation = typing.get_origin(annotation) is func.Out or annotation is func.Out
    if _is_out(binding) != is_out_annotation:
        raise HostStartError(
            f"cannot load the {name} function: the direction of '{bound}' is {direction}, which its annotation "
            f"{annotation!r} does not fit"
        )
    if not is_out_annotation:
        _check_argument(name, binding, annotation)


def _check_return(name: str, binding: Binding, annotation: object) -> None:
    if annotation is None or annotation is type(None):
        return
    if not isinstance(annotation, type):
        raise HostStartError(f"cannot load the {name} function: its return annotation is not a type")
    if binding["type"] == "http" and not issubclass(annotation, (func.HttpResponse, str)):
        raise HostStartError(f"cannot load the {name} function: it must return an HttpResponse or a str")


def _check_argument(name: str, binding: Binding, annotation: object) -> None:
    bound, kind = str(binding["name"]), str(binding["type"])
    if not isinstance(annotation, type):
        raise HostStartError(f"cannot load the {name} function: binding {bound} has a non-type annotation")
    fits = _FITS.get(kind)
    if fits is None or annotation in (str, bytes) or fits(annotation):
        return
    raise HostStartError(
        f"cannot load the {name} function: type of {bound} binding '{kind}' and its Python annotation "
        f"'{annotation.__name__}' do not match"
    )


def _trigger(name: str, bindings: tuple[Binding, ...]) -> Binding:
    for binding in bindings:
        if str(binding["type"]).lower().endswith("trigger"):
            return binding
    raise FunctionIndexError(f"function '{name}' has no trigger")


def _is_out(binding: Binding) -> bool:
    return binding["direction"] == "OUT"
