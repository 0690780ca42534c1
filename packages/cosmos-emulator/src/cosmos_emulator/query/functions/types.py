"""Type checking functions: always true or false, also for undefined."""

from __future__ import annotations

import math

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, is_integral, is_number

_INT64 = 2**63


def is_defined(value: JsonOrUndefined) -> bool:
    return value is not UNDEFINED


def is_null(value: JsonOrUndefined) -> bool:
    return value is None


def is_bool(value: JsonOrUndefined) -> bool:
    return type(value) is bool


def is_string(value: JsonOrUndefined) -> bool:
    return type(value) is str


def is_array(value: JsonOrUndefined) -> bool:
    return type(value) is list


def is_object(value: JsonOrUndefined) -> bool:
    return type(value) is dict


def is_primitive(value: JsonOrUndefined) -> bool:
    """A string, number, boolean or null."""
    return value is not UNDEFINED and type(value) is not list and type(value) is not dict


def is_integer(value: JsonOrUndefined) -> bool:
    """An integral number that fits into 64 signed bits."""
    return is_integral(value) and -_INT64 <= value < _INT64


def is_finite_number(value: JsonOrUndefined) -> bool:
    return is_number(value) and math.isfinite(value)


TYPE_FUNCTIONS = table(
    Function("IS_ARRAY", is_array, 1, 1),
    Function("IS_BOOL", is_bool, 1, 1),
    Function("IS_DEFINED", is_defined, 1, 1),
    Function("IS_FINITE_NUMBER", is_finite_number, 1, 1),
    Function("IS_INTEGER", is_integer, 1, 1),
    Function("IS_NULL", is_null, 1, 1),
    Function("IS_NUMBER", is_number, 1, 1),
    Function("IS_OBJECT", is_object, 1, 1),
    Function("IS_PRIMITIVE", is_primitive, 1, 1),
    Function("IS_STRING", is_string, 1, 1),
)
