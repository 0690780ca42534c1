"""The operations of the API, read from the HTTP triggers of the core's functions."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import azure.functions as func
from azure.functions.decorators.function_app import FunctionBuilder

from functions import comments, feed, health, likes, posts, users
from shared.platform.http.endpoints import Endpoint, endpoint_of

MODULES = (users, posts, comments, likes, feed, health)


@dataclass(frozen=True)
class Operation:
    """A function of the API, with its method and its route below `/api/`."""

    name: str
    method: str
    route: str
    endpoint: Endpoint

    @property
    def is_command(self) -> bool:
        return self.method != "GET"


def operations_of(*modules: ModuleType) -> list[Operation]:
    builders = [value for module in modules for value in vars(module).values() if isinstance(value, FunctionBuilder)]
    operations = []
    for function in (builder.build() for builder in builders):
        trigger: Any = function.get_trigger()
        method = next(method for method in trigger.methods if method is not func.HttpMethod.HEAD)
        name, endpoint = function.get_function_name(), endpoint_of(function.get_user_function())
        operations.append(Operation(name, method.value, trigger.route.removeprefix("api/"), endpoint))
    return operations


def operations() -> list[Operation]:
    return operations_of(*MODULES)
