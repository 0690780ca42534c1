# ruff: noqa: S608 - the tests build these queries themselves
"""The spatial functions. The expected numbers are the service's documented results, or worked out by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from cosmos_emulator.runtime.pacing import ON_LOOP, MovesToWorker, OutOfTime, in_worker
from tests.query.rows import rows

DEGREE_M = 111_319.49  # of longitude at the equator
EARTH_M2 = 510_065_621_724_089


def value(call: str, *arguments: Any) -> Any:
    """Return the result of a call, or None if it is undefined."""
    names = "abc"[: len(arguments)]
    item = {name: argument for name, argument in zip(names, arguments, strict=True) if argument is not None}
    found = rows(f"SELECT VALUE {call}({', '.join(f'c.{name}' for name in names)}) FROM c", [item])
    return found[0] if found else None


def point(longitude: float, latitude: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [longitude, latitude]}


def line(*positions: tuple[float, float]) -> dict[str, Any]:
    return {"type": "LineString", "coordinates": [list(one) for one in positions]}


def box(west: float, south: float, east: float, north: float) -> list[list[float]]:
    """A counter-clockwise ring."""
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def polygon(*rings: list[list[float]]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


AREA = polygon(box(31.8, -5, 32, -4.7))
HOLED = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6)[::-1])
TWO = {"type": "MultiPolygon", "coordinates": [[box(0, 0, 1, 1)], [box(5, 5, 6, 6)]]}
DATE_LINE = polygon([[179, -1], [-179, -1], [-179, 1], [179, 1], [179, -1]])


@pytest.mark.parametrize(
    ("one", "other", "expected_m"),
    [
        # learn.microsoft.com/cosmos-db/query/st-distance
        (point(-122.12826822304672, 47.63980239335718), point(-122.11758113953535, 47.66901087006131), 3345.2698),
        (point(-96.84368664765994, 46.81297794314663), point(-122.11758113953535, 47.66901087006131), 1907438.4213),
        (point(31.9, -4.8), point(31.9, -4.8), 0),
        (point(31.9, -4.8), AREA, 0),
        (point(0, 0), point(1, 0), DEGREE_M),
        (point(179.5, 0), point(-179.5, 0), DEGREE_M),
        (point(2, 0), polygon(box(0, -1, 1, 1)), DEGREE_M),
        (polygon(box(0, -1, 1, 1)), polygon(box(3, -1, 4, 1)), None),
        (point(-178, 0), DATE_LINE, DEGREE_M),
        (point(5, 5), HOLED, None),
        (point(3, 0.5), TWO, None),
        (point(90, 0), point(-90, 0), 20_003_931.46),
        (point(0, 0), DATE_LINE, None),
    ],
)
def test_a_distance_is_in_meters_along_the_ellipsoid(
    one: dict[str, Any], other: dict[str, Any], expected_m: float | None
) -> None:
    found = value("ST_DISTANCE", one, other)

    assert found == pytest.approx(value("ST_DISTANCE", other, one), rel=1e-9)
    if expected_m is None:
        assert found > 100_000
    else:
        assert found == pytest.approx(expected_m, rel=1e-7)


def test_a_distance_from_an_edge_is_that_of_its_nearest_point() -> None:
    meridian = line((0, -10), (0, 60))
    for latitude in (0, 20, 40):
        away = value("ST_DISTANCE", point(3, latitude), meridian)
        to_points = [
            value("ST_DISTANCE", point(3, latitude), point(0, n / 1000))
            for n in range(latitude * 1000 - 500, latitude * 1000 + 500, 5)
        ]
        assert away == pytest.approx(min(to_points), rel=1e-5)
        assert away <= min(to_points) + 0.01


@pytest.mark.parametrize(
    ("shape", "expected_m2"),
    [
        (AREA, 735970283.0522614),  # learn.microsoft.com/cosmos-db/query/st-area
        (polygon(AREA["coordinates"][0][::-1]), EARTH_M2 - 735970283.0522614),
        (point(1, 2), 0),
        (line((0, 0), (1, 1)), 0),
        (HOLED, None),
        (TWO, None),
    ],
)
def test_an_area_is_in_square_meters(shape: dict[str, Any], expected_m2: float | None) -> None:
    found = value("ST_AREA", shape)

    if shape is HOLED:
        expected_m2 = value("ST_AREA", polygon(box(0, 0, 10, 10))) - value("ST_AREA", polygon(box(4, 4, 6, 6)))
    if shape is TWO:
        expected_m2 = value("ST_AREA", polygon(box(0, 0, 1, 1))) + value("ST_AREA", polygon(box(5, 5, 6, 6)))
    assert found == pytest.approx(expected_m2, rel=1e-8)


@pytest.mark.parametrize(
    ("one", "other", "is_within", "is_intersecting"),
    [
        (point(31.9, -4.8), AREA, True, True),
        (point(31.9, -4), AREA, False, False),
        (AREA, point(31.9, -4.8), False, True),
        (line((31.85, -4.9), (31.9, -4.8)), AREA, True, True),
        (line((31.85, -4.9), (33, -4.8)), AREA, False, True),
        (polygon(box(31.85, -4.9, 31.9, -4.8)), AREA, True, True),
        (AREA, AREA, True, True),
        (point(5, 5), HOLED, False, False),
        (point(3, 5), HOLED, True, True),
        (point(5.5, 5.5), TWO, True, True),
        (point(3, 3), TWO, False, False),
        (point(180, 0), DATE_LINE, True, True),
        (point(0, 0), DATE_LINE, False, False),
        # A clockwise polygon is the rest of the earth.
        (point(0, 0), polygon(AREA["coordinates"][0][::-1]), True, True),
        (point(31.9, -4.8), polygon(AREA["coordinates"][0][::-1]), False, False),
        (polygon(box(0, 0, 1, 1)[::-1]), polygon(box(0.2, 0.2, 0.8, 0.8)[::-1]), True, True),
        (polygon(box(0.2, 0.2, 0.8, 0.8)[::-1]), polygon(box(0, 0, 1, 1)[::-1]), False, True),
        (polygon(box(0.2, 0.2, 0.8, 0.8)), polygon(box(0, 0, 1, 1)[::-1]), False, False),
        # The edge at 60° north is an arc that passes north of the parallel.
        (point(45, 60.5), polygon(box(0, 50, 90, 60)), True, True),
    ],
)
def test_shapes_are_within_or_intersect(
    one: dict[str, Any], other: dict[str, Any], is_within: bool, is_intersecting: bool
) -> None:
    assert value("ST_WITHIN", one, other) is is_within
    assert value("ST_INTERSECTS", one, other) is is_intersecting
    assert value("ST_INTERSECTS", other, one) is is_intersecting


UNCLOSED = polygon([[31.8, -5], [31.8, -4.7], [32, -4.7], [32, -5]])
BOWTIE = polygon([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]])


@pytest.mark.parametrize("shape", [point(-84.38, 33.75), line((0, 0), (1, 1)), AREA, HOLED, TWO, DATE_LINE])
def test_a_valid_shape_has_no_reason(shape: dict[str, Any]) -> None:
    assert value("ST_ISVALID", shape) is True
    assert value("ST_ISVALIDDETAILED", shape) == {"valid": True}


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        # learn.microsoft.com/azure/cosmos-db/nosql/query/geospatial-query and st-isvaliddetailed
        (point(133.75, -184.38), "Latitude values must be between -90 and 90 degrees."),
        (
            UNCLOSED,
            "The Polygon input is not valid because the start and end points of the ring number 1 are not the same. "
            "Each ring of a Polygon must have the same start and end points.",
        ),
        (point(181, 0), "Longitude values must be between -180 and 180 degrees."),
        (BOWTIE, "The Polygon input is not valid: Self-intersection."),
        (polygon([[0, 0], [1, 1], [0, 0]]), "at least four points"),
        ({"type": "Point"}, "position"),
        ({"type": "Point", "coordinates": ["a", 1]}, "position"),
        ({"type": "Polygon", "coordinates": []}, "non-empty"),
        ({"type": "Circle", "coordinates": [0, 0]}, "type"),
        (line((0, 0)), "2 positions"),
        ("Point", "GeoJSON"),
        (17, "GeoJSON"),
    ],
)
def test_an_invalid_shape_has_a_reason_and_makes_other_functions_undefined(shape: Any, reason: str) -> None:
    detailed = value("ST_ISVALIDDETAILED", shape)

    assert detailed["valid"] is False
    assert reason in detailed["reason"]
    assert value("ST_ISVALID", shape) is False
    for call in ("ST_DISTANCE", "ST_WITHIN", "ST_INTERSECTS"):
        assert value(call, shape, AREA) is None
        assert value(call, AREA, shape) is None
    assert value("ST_AREA", shape) is None


def test_functions_of_a_missing_property_are_undefined() -> None:
    for call in ("ST_ISVALID", "ST_ISVALIDDETAILED", "ST_AREA"):
        assert value(call, None) is None
    assert value("ST_DISTANCE", None, AREA) is None


@pytest.mark.parametrize("call", ["ST_AREA", "ST_ISVALID", "ST_ISVALIDDETAILED"])
def test_the_event_loop_leaves_a_call_to_a_worker_thread(call: str) -> None:
    with ON_LOOP, pytest.raises(MovesToWorker):
        value(call, AREA)


def test_a_call_with_many_positions_ends_at_the_deadline() -> None:
    ring = [[math.cos(number / 1000), math.sin(number / 1000)] for number in range(6283)]
    around = [line(*((n / 10, latitude) for n in range(-1790, 1790))) for latitude in (-30, 30)]

    for call, *shapes in (("ST_AREA", polygon([*ring, ring[0]])), ("ST_DISTANCE", *around)):
        with in_worker(None, 0.05), pytest.raises(OutOfTime):
            value(call, *shapes)


def test_a_query_finds_the_nearest_items() -> None:
    items = [{"id": str(n), "at": point(10 + n / 10, 50)} for n in range(10)]
    center = json.dumps(point(10, 50))

    assert rows(f"SELECT VALUE c.id FROM c WHERE ST_DISTANCE(c.at, {center}) < 20000", items) == ["0", "1", "2"]
