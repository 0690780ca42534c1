"""Type checks, which return a boolean even for undefined."""

from __future__ import annotations

import math

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, is_integral, is_number

_INT64 = 2**63


def _is_defined(value: JsonOrUndefined) -> bool:
    return value is not UNDEFINED


def _is_null(value: JsonOrUndefined) -> bool:
    return value is None


def _is_bool(value: JsonOrUndefined) -> bool:
    return type(value) is bool


def _is_string(value: JsonOrUndefined) -> bool:
    return type(value) is str


def _is_array(value: JsonOrUndefined) -> bool:
    return type(value) is list


def _is_object(value: JsonOrUndefined) -> bool:
    return type(value) is dict


def _is_primitive(value: JsonOrUndefined) -> bool:
    return value is not UNDEFINED and type(value) is not list and type(value) is not dict


def _is_integer(value: JsonOrUndefined) -> bool:
    return is_integral(value) and -_INT64 <= value < _INT64


def _is_finite_number(value: JsonOrUndefined) -> bool:
    return is_number(value) and math.isfinite(value)


TYPE_FUNCTIONS = table(
    Function("IS_ARRAY", _is_array, 1, 1),
    Function("IS_BOOL", _is_bool, 1, 1),
    Function("IS_DEFINED", _is_defined, 1, 1),
    Function("IS_FINITE_NUMBER", _is_finite_number, 1, 1),
    Function("IS_INTEGER", _is_integer, 1, 1),
    Function("IS_NULL", _is_null, 1, 1),
    Function("IS_NUMBER", is_number, 1, 1),
    Function("IS_OBJECT", _is_object, 1, 1),
    Function("IS_PRIMITIVE", _is_primitive, 1, 1),
    Function("IS_STRING", _is_string, 1, 1),
)
