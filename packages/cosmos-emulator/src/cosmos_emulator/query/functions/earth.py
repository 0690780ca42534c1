"""Shapes on the WGS-84 ellipsoid.

Edges are great elliptic arcs: sections of the ellipsoid with a plane through its center. A projection from the center
onto a plane makes them straight, so shapely's planar predicates apply to shapes within a hemisphere. Larger shapes are
compared by longitude and latitude. Distances and areas are geodesic (geographiclib).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import shapely
from geographiclib.geodesic import Geodesic
from shapely.ops import nearest_points

from cosmos_emulator.runtime.pacing import checkpoint

Position = tuple[float, float]
"""Longitude and latitude in degrees."""
Vector = tuple[float, float, float]
Ring = tuple[Position, ...]
End = tuple[Vector, Position]

_WGS84: Final = Geodesic.WGS84
_SQUASH: Final = (1 - _WGS84.f) ** 2
_HORIZON: Final = 1e-3  # cosine of the largest angle from the center of a projection
_ROUNDS: Final = 8  # of the search for the nearest points, which converges in about three
_EARTH_M2: Final = 4 * math.pi * _WGS84._c2


@dataclass(frozen=True, slots=True)
class Shape:
    """A valid GeoJSON object.

    A point or line has one ring; each polygon has its outer ring and its holes. If `is_inverse`, the outer ring of a
    polygon is clockwise, so the polygon is the rest of the earth. A planar shape is on a plane instead.
    """

    type: str
    polygons: tuple[tuple[Ring, ...], ...]
    is_inverse: bool = False
    is_planar: bool = False

    @property
    def positions(self) -> Iterator[Position]:
        """All positions."""
        return (position for polygon in self.polygons for ring in polygon for position in ring)


class Plane:
    """A projection around the middle of shapes, or of longitudes and latitudes if they exceed a hemisphere."""

    def __init__(self, vectors: list[Vector]) -> None:
        total = _sum(vectors) if vectors else (0.0, 0.0, 0.0)
        self.center = _unit(total) if math.hypot(*total) > _HORIZON else None
        if self.center is not None and any(_dot(self.center, one) < _HORIZON for one in vectors):
            self.center = None
        if self.center is not None:
            x, y, _ = self.center
            self._east = _unit((-y, x, 0.0)) if math.hypot(x, y) > 1e-12 else (0.0, 1.0, 0.0)
            self._north = _cross(self.center, self._east)

    @classmethod
    def of(cls, *shapes: Shape) -> Plane:
        """Return the plane for these shapes."""
        return cls([_vector(position) for shape in shapes if not shape.is_planar for position in shape.positions])

    def geometry(self, shape: Shape, *, boundary: bool = False) -> Any:
        """Return the projected shape, without its inversion."""
        polygons = [[[self._projected(one) for one in ring] for ring in polygon] for polygon in shape.polygons]
        if shape.type == "Point":
            return shapely.Point(polygons[0][0][0])
        if shape.type == "LineString":
            return shapely.LineString(polygons[0][0])
        whole = shapely.MultiPolygon([(polygon[0], polygon[1:]) for polygon in polygons])
        return whole.boundary if boundary else whole

    def position(self, point: Any) -> Position:
        """Return the position of a projected point."""
        if self.center is None:
            return point.x, point.y
        vector = tuple(
            c + point.x * e + point.y * n for c, e, n in zip(self.center, self._east, self._north, strict=True)
        )
        x, y, z = vector
        return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z / _SQUASH, math.hypot(x, y)))

    def _projected(self, position: Position) -> Position:
        if self.center is None:
            return position
        vector = _vector(position)
        height = _dot(self.center, vector)
        return _dot(self._east, vector) / height, _dot(self._north, vector) / height


def is_clockwise(ring: Ring) -> bool:
    """Return whether a ring runs clockwise, seen from above."""
    plane = Plane([_vector(position) for position in ring])
    return not shapely.LinearRing([plane._projected(position) for position in ring]).is_ccw


def invalid_reason(shape: Shape) -> str | None:
    """Return why rings of polygons cross or touch in an invalid way, otherwise None."""
    geometry = Plane.of(shape).geometry(shape)
    return None if geometry.is_valid else str(shapely.is_valid_reason(geometry)).partition("[")[0]


def intersects(one: Shape, other: Shape) -> bool:
    """Return whether two shapes have a point in common."""
    if one.is_inverse and other.is_inverse:
        return True  # both cover more than a hemisphere
    if other.is_inverse:
        one, other = other, one
    if _are_apart(one, other):
        return one.is_inverse
    plane = Plane.of(one, other)
    first, second = plane.geometry(one), plane.geometry(other)
    return not first.contains_properly(second) if one.is_inverse else bool(first.intersects(second))


def within(one: Shape, other: Shape) -> bool:
    """Return whether the first shape is within the second."""
    if one.is_inverse:
        return other.is_inverse and within(_inverted(other), _inverted(one))
    if _are_apart(one, other):
        return other.is_inverse
    plane = Plane.of(one, other)
    first, second = plane.geometry(one), plane.geometry(other)
    if other.is_inverse:
        return bool(first.disjoint(second) or first.touches(second))
    return bool(first.within(second))


def distance(one: Shape, other: Shape) -> float:
    """Return the shortest distance between two shapes, in meters on the earth."""
    if one.is_planar:
        plane = Plane([])
        return float(plane.geometry(one).distance(plane.geometry(other)))
    if one.type == other.type == "Point":
        return _geodesic_m(next(one.positions), next(other.positions))
    if intersects(one, other):
        return 0.0
    plane = Plane.of(one, other)
    best = math.inf
    for _ in range(_ROUNDS):
        if plane.center is None:
            (_, start), (_, end) = max(product(_ends(one), _ends(other)), key=_cosine)
        else:
            nearest = nearest_points(plane.geometry(one, boundary=True), plane.geometry(other, boundary=True))
            start, end = map(plane.position, nearest)
        found = _geodesic_m(start, end)
        if found >= best * (1 - 1e-12):
            break
        best = found
        # In a plane around their middle, the shortest line between the nearest points meets edges at right angles.
        middle = _unit(_sum([_vector(start), _vector(end)]))
        moved = Plane([middle])
        if any(_dot(middle, _vector(position)) < _HORIZON for shape in (one, other) for position in shape.positions):
            break
        plane = moved
    return best


def area(shape: Shape) -> float:
    """Return the area of a shape, in square meters on the earth; 0 for points and lines."""
    if shape.is_planar:
        return float(Plane([]).geometry(shape).area)
    if shape.type in ("Point", "LineString"):
        return 0.0
    total = sum(_ring_m2(polygon[0]) - sum(map(_ring_m2, polygon[1:])) for polygon in shape.polygons)
    return _EARTH_M2 - total if shape.is_inverse else total


def _are_apart(one: Shape, other: Shape) -> bool:
    """Return whether a shape is on the other side of the earth, where no projection has both."""
    center = Plane.of(one).center
    return center is not None and all(_dot(center, _vector(position)) < _HORIZON for position in other.positions)


def _ends(shape: Shape) -> list[End]:
    return [(_vector(position), position) for position in shape.positions]


def _cosine(ends: tuple[End, End]) -> float:
    checkpoint()
    (one, _), (other, _) = ends
    return _dot(one, other)


def _inverted(shape: Shape) -> Shape:
    return Shape(shape.type, shape.polygons, not shape.is_inverse)


def _ring_m2(ring: Ring) -> float:
    polygon = _WGS84.Polygon()
    for longitude, latitude in ring[:-1]:
        checkpoint()
        polygon.AddPoint(latitude, longitude)
    return abs(float(polygon.Compute(False, True)[2]))


def _geodesic_m(one: Position, other: Position) -> float:
    return float(_WGS84.Inverse(one[1], one[0], other[1], other[0], Geodesic.DISTANCE)["s12"])


def _vector(position: Position) -> Vector:
    """Return the direction of a position from the center of the earth."""
    longitude, latitude = map(math.radians, position)
    geocentric = math.atan2(_SQUASH * math.sin(latitude), math.cos(latitude))
    flat = math.cos(geocentric)
    return flat * math.cos(longitude), flat * math.sin(longitude), math.sin(geocentric)


def _sum(vectors: list[Vector]) -> Vector:
    x, y, z = map(sum, zip(*vectors, strict=True))
    return float(x), float(y), float(z)


def _unit(vector: Vector) -> Vector:
    length = math.hypot(*vector)
    x, y, z = vector
    return x / length, y / length, z / length


def _dot(one: Vector, other: Vector) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _cross(one: Vector, other: Vector) -> Vector:
    (a, b, c), (x, y, z) = one, other
    return b * z - c * y, c * x - a * z, a * y - b * x
