"""The spatial functions (learn.microsoft.com/azure/cosmos-db/nosql/query/geospatial-query).

Malformed or invalid shapes make the result undefined, except for ST_ISVALID and ST_ISVALIDDETAILED. Two of the
reasons are the service's; the others are this emulator's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

import orjson

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined, is_number, number
from cosmos_emulator.runtime.pacing import large_value

if TYPE_CHECKING:
    from cosmos_emulator.query.functions.earth import Ring, Shape

_LINE_POSITIONS = 2
_RING_POSITIONS = 4


class _InvalidShape(Exception):
    """The reason why a value is not a valid shape."""


def _earth() -> ModuleType:
    try:  # optional, and slow to import
        from cosmos_emulator.query.functions import earth
    except ModuleNotFoundError as error:
        message = "The spatial functions need more packages; run: pip install 'cosmos-emulator[spatial]'"
        raise CosmosError(400, message) from error
    return earth


def _shape(value: JsonOrUndefined, is_planar: bool) -> Shape:
    if type(value) is not dict:
        raise _InvalidShape("The input is not a GeoJSON object.")
    large_value()  # the import and shapes with many positions take long
    return _parsed(orjson.dumps(value), is_planar)


@lru_cache(maxsize=16)
def _parsed(text: bytes, is_planar: bool) -> Shape:
    # Cached, because a query usually compares many items with one constant. A shape can use 10 MB.
    earth, value = _earth(), orjson.loads(text)
    polygons: tuple[tuple[Ring, ...], ...]
    kind, coordinates = value.get("type"), value.get("coordinates")
    match kind:
        case "Point":
            point: Shape = earth.Shape(kind, (((_position(coordinates, is_planar),),),), is_planar=is_planar)
            return point
        case "LineString":
            positions = _positions(coordinates, is_planar)
            if len(positions) < _LINE_POSITIONS:
                raise _InvalidShape("The LineString input is not valid because it has less than 2 positions.")
            line: Shape = earth.Shape(kind, ((positions,),), is_planar=is_planar)
            return line
        case "Polygon":
            polygons = (_polygon(coordinates, is_planar),)
        case "MultiPolygon":
            polygons = tuple(_polygon(polygon, is_planar) for polygon in _array(coordinates))
        case _:
            raise _InvalidShape("The type must be Point, LineString, Polygon or MultiPolygon.")
    is_inverse = kind == "Polygon" and not is_planar and earth.is_clockwise(polygons[0][0])
    shape: Shape = earth.Shape(kind, polygons, is_inverse, is_planar)
    reason = earth.invalid_reason(shape)
    if reason is not None:
        raise _InvalidShape(f"The {kind} input is not valid: {reason}.")
    return shape


def _polygon(coordinates: Json, is_planar: bool) -> tuple[Ring, ...]:
    rings = tuple(_positions(ring, is_planar) for ring in _array(coordinates))
    for index, ring in enumerate(rings, start=1):
        if len(ring) < _RING_POSITIONS:
            raise _InvalidShape(
                f"The Polygon input is not valid because the ring number {index} does not have enough points. Each "
                "ring of a Polygon must contain at least four points."
            )
        if ring[0] != ring[-1]:
            raise _InvalidShape(
                f"The Polygon input is not valid because the start and end points of the ring number {index} are not "
                "the same. Each ring of a Polygon must have the same start and end points."
            )
    return rings


def _positions(coordinates: Json, is_planar: bool) -> Ring:
    return tuple(_position(one, is_planar) for one in _array(coordinates))


def _position(coordinates: Json, is_planar: bool) -> tuple[float, float]:
    match coordinates:
        case [longitude, latitude, *_] if is_number(longitude) and is_number(latitude):
            pass
        case _:
            raise _InvalidShape("A position must be an array of a longitude and a latitude.")
    if not is_planar and not -180 <= longitude <= 180:
        raise _InvalidShape("Longitude values must be between -180 and 180 degrees.")
    if not is_planar and not -90 <= latitude <= 90:
        raise _InvalidShape("Latitude values must be between -90 and 90 degrees.")
    return float(longitude), float(latitude)


def _array(value: Json) -> list[Json]:
    if type(value) is not list or not value:
        raise _InvalidShape("The coordinates must be a non-empty array.")
    return value


def _functions(*, is_planar: bool) -> dict[str, Function]:
    def of_shapes(name: str) -> Callable[..., JsonOrUndefined]:
        """Return a function of valid shapes in earth.py."""

        def call(*values: JsonOrUndefined) -> JsonOrUndefined:
            try:
                shapes = [_shape(value, is_planar) for value in values]
            except _InvalidShape:
                return UNDEFINED
            result: Json = getattr(_earth(), name)(*shapes)
            return number(result) if is_number(result) else result

        return call

    def is_valid(value: JsonOrUndefined) -> JsonOrUndefined:
        detailed = is_valid_detailed(value)
        return detailed["valid"] if type(detailed) is dict else UNDEFINED

    def is_valid_detailed(value: JsonOrUndefined) -> JsonOrUndefined:
        if value is UNDEFINED:
            return UNDEFINED
        try:
            _shape(value, is_planar)
        except _InvalidShape as error:
            return {"valid": False, "reason": str(error)}
        return {"valid": True}

    return table(
        Function("ST_AREA", of_shapes("area"), 1, 1),
        Function("ST_DISTANCE", of_shapes("distance"), 2, 2),
        Function("ST_INTERSECTS", of_shapes("intersects"), 2, 2),
        Function("ST_ISVALID", is_valid, 1, 1),
        Function("ST_ISVALIDDETAILED", is_valid_detailed, 1, 1),
        Function("ST_WITHIN", of_shapes("within"), 2, 2),
    )


SPATIAL_FUNCTIONS = _functions(is_planar=False)
PLANAR_FUNCTIONS = _functions(is_planar=True)
"""The spatial functions of containers with the geospatialConfig Geometry."""
