# ruff: noqa: S608 - the tests build these queries themselves
"""Spatial indexes, the geospatial configuration, and spatial queries."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator.query import functions
from tests.errors import fails_with
from tests.raw_client import RawClient

KEY = PartitionKey("/pk")
BOX = {"xmin": 0, "ymin": 0, "xmax": 10, "ymax": 10}
AT = {"path": "/at/?", "types": ["Point", "Polygon"]}
SEATTLE = [-122.33, 47.61]
PORTLAND = [-122.68, 45.52]


def policy(*indexes: Any) -> dict[str, Any]:
    return {"includedPaths": [{"path": "/*"}], "spatialIndexes": list(indexes)}


async def create(raw: RawClient, indexes: Any, config: Any = None, **properties: Any) -> Any:
    body = {
        "id": "c",
        "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
        "indexingPolicy": {**policy(), "spatialIndexes": indexes},
        **({} if config is None else {"geospatialConfig": config}),
        **properties,
    }
    return await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)


async def cities(container: ContainerProxy) -> None:
    for name, coordinates in (("Seattle", SEATTLE), ("Portland", PORTLAND)):
        await container.create_item({"id": name, "pk": name, "at": {"type": "Point", "coordinates": coordinates}})
    await container.create_item({"id": "nowhere", "pk": "nowhere", "at": {"type": "Point", "coordinates": [500, 0]}})


async def test_a_spatial_index_is_returned_and_serves_queries(database: DatabaseProxy) -> None:
    container = await database.create_container(
        "c", KEY, indexing_policy=policy(AT, {"path": "/area/*", "types": ["Polygon"]})
    )
    await cities(container)

    near = container.query_items(
        "SELECT VALUE c.id FROM c WHERE ST_DISTANCE(c.at, @at) < @meters",
        parameters=[
            {"name": "@at", "value": {"type": "Point", "coordinates": SEATTLE}},
            {"name": "@meters", "value": 100_000},
        ],
    )
    sorted_by_name = container.query_items("SELECT VALUE c.id FROM c WHERE ST_ISVALID(c.at) ORDER BY c.id")

    assert (await container.read())["indexingPolicy"]["spatialIndexes"] == [
        AT,
        {"path": "/area/*", "types": ["Polygon"]},
    ]
    assert (await container.read())["geospatialConfig"] == {"type": "Geography"}
    assert [city async for city in near] == ["Seattle"]
    assert [city async for city in sorted_by_name] == ["Portland", "Seattle"]


async def test_a_geometry_container_measures_on_a_plane(raw: RawClient, database: DatabaseProxy) -> None:
    response = await create(raw, [{**AT, "boundingBox": BOX}], {"type": "Geometry"})
    container = database.get_container_client("c")
    await container.create_item({"id": "far", "pk": "p", "at": {"type": "Point", "coordinates": [300, 400]}})
    origin = '{"type": "Point", "coordinates": [0, 0]}'
    area = '{"type": "Polygon", "coordinates": [[[0, 0], [500, 0], [500, 500], [0, 500], [0, 0]]]}'

    found = container.query_items(
        f"SELECT VALUE [ST_DISTANCE(c.at, {origin}), ST_WITHIN(c.at, {area}), ST_AREA({area}), ST_ISVALID(c.at)] FROM c"
        f" WHERE ST_INTERSECTS({area}, c.at)"
    )

    assert response.status == 201
    assert [row async for row in found] == [[500, True, 250000, True]]


@pytest.mark.parametrize(
    ("indexes", "config", "reason"),
    [
        ({}, None, "spatialIndexes"),
        (["/at/?"], None, "spatialIndexes"),
        ([{"path": "at"}], None, "could not be accepted"),
        ([{"path": "/at"}], None, "could not be accepted"),
        ([{"path": "/at/?", "types": ["Circle"]}], None, "Circle"),
        ([{"path": "/at/?", "types": "Point"}], None, "types"),
        ([AT, AT], None, "more than once"),
        ([{**AT, "boundingBox": BOX}], None, "boundingBox"),
        ([AT], {"type": "Geometry"}, "boundingBox"),
        ([{**AT, "boundingBox": {"xmin": 0}}], {"type": "Geometry"}, "boundingBox"),
        ([{**AT, "boundingBox": {**BOX, "xmin": 10}}], {"type": "Geometry"}, "boundingBox"),
        ([], {"type": "Sphere"}, "geospatialConfig"),
        ([], "Geography", "geospatialConfig"),
    ],
)
async def test_an_invalid_spatial_policy_is_rejected(
    raw: RawClient, database: DatabaseProxy, indexes: Any, config: Any, reason: str
) -> None:
    response = await create(raw, indexes, config)

    assert response.status == 400
    assert reason in response.json["message"]


async def test_a_computed_property_cannot_have_a_spatial_index(raw: RawClient, database: DatabaseProxy) -> None:
    computed = [{"name": "at", "query": "SELECT VALUE c.location FROM c"}]

    response = await create(raw, [AT], computedProperties=computed)

    assert response.status == 400
    assert "spatial" in response.json["message"]


async def test_without_the_extra_packages_a_spatial_function_names_them(
    container: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(functions, "earth", raising=False)
    monkeypatch.setitem(sys.modules, "cosmos_emulator.query.functions.earth", None)

    with fails_with(400, match=r"pip install 'cosmos-emulator\[spatial\]'"):
        [row async for row in container.query_items("SELECT VALUE ST_AREA({type: 'Point', coordinates: [12, 34]})")]
