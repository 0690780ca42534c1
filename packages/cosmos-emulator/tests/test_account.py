"""The account document, authentication, addressing, and response headers."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.http.access import MasterKey
from cosmos_emulator.messages.links import parse_link
from tests.errors import fails_with
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient


async def test_the_account_lists_the_requested_host_as_its_endpoint(raw: RawClient) -> None:
    response = await raw.send("GET", "/", kind="", headers={"Host": "cosmos.test:1234"})

    assert response.status == 200
    assert response.json["writableLocations"] == [
        {"name": "Local", "databaseAccountEndpoint": "http://cosmos.test:1234/"}
    ]
    assert response.json["readableLocations"] == response.json["writableLocations"]
    assert response.json["userConsistencyPolicy"] == {"defaultConsistencyLevel": "Session"}


@pytest.mark.parametrize("endpoint", ["https://cosmos.test", "https://cosmos.test/"])
async def test_the_account_can_list_another_endpoint(emulator: CosmosEmulator, raw: RawClient, endpoint: str) -> None:
    emulator.settings.account_endpoint = endpoint  # of a proxy with TLS, say

    account = (await raw.send("GET", "/", kind="")).json

    assert account["writableLocations"] == [{"name": "Local", "databaseAccountEndpoint": "https://cosmos.test/"}]


async def test_the_account_lets_clients_that_plan_queries_use_full_text_search(raw: RawClient) -> None:
    """Without these members, the planner of the .NET SDK refuses each full-text query."""
    account = (await raw.send("GET", "/", kind="")).json

    engine = json.loads(account["queryEngineConfiguration"])
    assert engine["queryEnableFullText"] is True
    assert (engine["queryMaxFullTextScoreSearchTerms"], engine["queryMaxRrfArgumentCount"]) == (5, 100)


async def test_the_account_can_report_two_write_regions(emulator: CosmosEmulator) -> None:
    emulator.settings.multiple_write_regions = True

    async with CosmosClient(emulator.endpoint, emulator.key, multiple_write_locations=True) as client:
        account = await client.client_connection.GetDatabaseAccount()
        await client.create_database("reachable")

    assert [location["name"] for location in account.WritableLocations] == ["Local", "Local 2"]


async def test_a_client_with_a_wrong_key_fails_to_start(emulator: CosmosEmulator) -> None:
    client = CosmosClient(emulator.endpoint, "d3Jvbmc=")

    with fails_with(401):
        await client.__aenter__()
    await client.close()  # entering failed, so the SDK left its connections open


async def test_any_key_is_accepted_if_signatures_are_not_checked(emulator: CosmosEmulator) -> None:
    emulator.settings.check_signatures = False

    async with CosmosClient(emulator.endpoint, "d3Jvbmc=") as client:
        assert [database async for database in client.list_databases()] == []


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"authorization": ""}, "missing"),
        ({"authorization": "type%3Dresource%26ver%3D1%26sig%3Dx"}, "token is malformed"),
        ({"authorization": "nonsense"}, "must be of type=master"),
        ({"x-ms-date": "Thu, 01 Jan 2015 00:00:00 GMT"}, "off by over 15 minutes"),
        ({"x-ms-date": "yesterday"}, "no valid x-ms-date"),
        ({"x-ms-date": "Thu, 01 Jan 2015 00:00:00 +" + "9" * 30}, "no valid x-ms-date"),
    ],
)
async def test_an_invalid_signature_is_rejected(raw: RawClient, headers: dict[str, str], reason: str) -> None:
    response = await raw.send("GET", "/dbs", kind="dbs", headers=headers)

    assert response.status == 401
    assert response.json["code"] == "Unauthorized"
    assert reason in response.json["message"]


async def test_a_signature_that_is_not_utf8_is_rejected(emulator: CosmosEmulator) -> None:
    headers = {"authorization": "type=master&ver=1.0&sig=\udcff", "x-ms-date": formatdate(usegmt=True)}

    assert not MasterKey(emulator.key).has_signed("GET", parse_link("/dbs/\udcff"), headers)


@pytest.mark.emulator_only("the service verifies the token")
@pytest.mark.parametrize(
    "token",
    [
        "type=aad&ver=1.0&sig=a.b.c",  # azure-cosmos
        "type%3daad%26ver%3d1.0%26sig%3da.b.c",  # .NET (HttpUtility.UrlEncode)
        "type%3Daad%26ver%3D1.0%26sig%3Da.b.c",  # Java and Go (URLEncoder.encode, url.QueryEscape)
    ],
)
async def test_any_entra_id_token_is_accepted(raw: RawClient, token: str) -> None:
    response = await raw.send("GET", "/dbs", kind="dbs", headers={"authorization": token})

    assert response.status == 200


@pytest.mark.parametrize(("accepted", "status"), [(False, 401), (True, 201)])
async def test_with_a_key_of_ones_own_tokens_are_accepted_only_by_option(accepted: bool, status: int) -> None:
    settings = EmulatorSettings(key="c2VjcmV0", accept_entra_tokens=accepted)
    async with CosmosEmulator(settings) as emulator, ClientSession(emulator.endpoint) as session:
        raw, headers = RawClient(session, emulator), {"authorization": "type=aad&ver=1.0&sig=garbage"}
        created = await raw.send("POST", "/dbs", kind="dbs", body={"id": "db"}, headers=headers)
        signed = await raw.send("GET", "/dbs", kind="dbs")

    assert (created.status, signed.status) == (status, 200)
    assert accepted or "--accept-entra-tokens" in created.json["message"]


async def test_encoded_names_are_found_with_and_without_a_trailing_slash(raw: RawClient, client: CosmosClient) -> None:
    database = await client.create_database("Daten & Söhne")
    await database.create_container("C one", PartitionKey("/pk"))
    link = "dbs/Daten & Söhne/colls/C one"

    for path in ("/dbs/Daten%20%26%20S%C3%B6hne/colls/C%20one", "/dbs/Daten%20%26%20S%C3%B6hne/colls/C%20one/"):
        assert (await raw.send("GET", path, kind="colls", link=link)).json["id"] == "C one"


async def test_rid_links_are_signed_by_their_last_rid(raw: RawClient, container: ContainerProxy) -> None:
    item = await container.create_item({"id": "a", "pk": "p"})
    properties = await container.read()

    read = await raw.send(
        "GET", f"/{item['_self']}", kind="docs", link=item["_rid"], by_rid=True, headers=PARTITION_KEY
    )
    feed = await raw.send(
        "GET", f"/{properties['_self']}docs/", kind="docs", link=properties["_rid"], by_rid=True, headers=PARTITION_KEY
    )

    assert read.json["id"] == "a"
    assert [found["id"] for found in feed.json["Documents"]] == ["a"]


async def test_boolean_headers_are_case_insensitive(raw: RawClient, container: ContainerProxy) -> None:
    headers = {"x-ms-documentdb-is-upsert": "tRuE"}

    first = await raw.create_item({"id": "a", "pk": "p"}, headers=headers)
    second = await raw.create_item({"id": "a", "pk": "p"}, headers=headers)

    assert (first.status, second.status) == (201, 200)


async def test_every_response_has_a_modeled_charge_and_the_callers_activity_id(raw: RawClient) -> None:
    found = await raw.send("GET", "/dbs", kind="dbs", headers={"x-ms-activity-id": "abc"})
    missing = await raw.send("GET", "/dbs/none", kind="dbs", link="dbs/none", headers={"x-ms-activity-id": "def"})

    assert (found.headers["x-ms-activity-id"], missing.headers["x-ms-activity-id"]) == ("abc", "def")
    assert (found.headers["x-ms-request-charge"], missing.headers["x-ms-request-charge"]) == ("1.00", "1.00")
    assert all(float(response.headers["x-ms-request-duration-ms"]) > 0 for response in (found, missing))
    assert found.headers["x-ms-cosmos-emulator-charge-model"] == "service-2026 (modeled)"
    assert found.headers["content-type"] == missing.headers["content-type"] == "application/json"


async def test_an_error_has_a_code_a_message_and_an_optional_sub_status(
    raw: RawClient, database: DatabaseProxy
) -> None:
    plain = await raw.send("GET", "/dbs/db/colls/no", kind="colls", link="dbs/db/colls/no")
    owner = await raw.send("GET", "/dbs/no/colls/no", kind="colls", link="dbs/no/colls/no")

    assert (plain.status, plain.json["code"], "x-ms-substatus" in plain.headers) == (404, "NotFound", False)
    assert (owner.status, owner.headers["x-ms-substatus"]) == (404, "1003")
    assert "Resource Not Found" in plain.json["message"]


async def test_item_responses_carry_session_and_routing_headers(raw: RawClient, container: ContainerProxy) -> None:
    properties = await container.read()

    written = await raw.create_item({"id": "a", "pk": "p"})
    read = await raw.read_item("a")

    for response in (written, read):
        assert response.headers["x-ms-alt-content-path"] == CONTAINER
        assert response.headers["x-ms-content-path"] == properties["_rid"]
        assert response.headers["etag"] == response.json["_etag"]
        range_id, lsn = response.headers["x-ms-documentdb-partitionkeyrangeid"], response.headers["lsn"]
        assert response.headers["x-ms-session-token"] == f"{range_id}:-1#{lsn}"
    assert read.headers["x-ms-session-token"] == written.headers["x-ms-session-token"]
    await raw.create_item({"id": "b", "pk": "p"})
    assert (await raw.read_item("a")).headers["x-ms-item-lsn"] == written.headers["lsn"]


@pytest.mark.parametrize(("level", "status"), [("Eventual", 200), ("session", 200), ("STRONG", 400), ("Odd", 400)])
async def test_a_consistency_level_above_the_accounts_is_rejected(raw: RawClient, level: str, status: int) -> None:
    response = await raw.send("GET", "/dbs", kind="dbs", headers={"x-ms-consistency-level": level})

    assert response.status == status


@pytest.mark.parametrize(
    ("verb", "path", "status", "reason"),
    [
        ("GET", "/nothing", 404, "is unknown"),
        ("PUT", "/dbs", 405, "PUT is not allowed on /dbs"),
        ("POST", "/dbs/db/clientencryptionkeys", 501, "Client encryption keys are not emulated"),
    ],
)
async def test_a_request_without_a_route_is_rejected_by_name(
    raw: RawClient, verb: str, path: str, status: int, reason: str
) -> None:
    kind = path.rpartition("/")[2]
    link = path.strip("/").rpartition("/")[0]

    response = await raw.send(verb, path, kind=kind, link=link)

    assert response.status == status
    assert reason in response.json["message"]


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b'{"id": "\\ud800"}', b'{"id": 1e999}'])
async def test_a_body_other_than_a_json_object_is_rejected(
    raw: RawClient, container: ContainerProxy, data: bytes
) -> None:
    response = await raw.create_item(data=data)

    assert (response.status, response.json["code"]) == (400, "BadRequest")


async def test_a_recreated_container_has_a_new_rid_and_the_client_recovers(database: DatabaseProxy) -> None:
    container = await database.create_container("items", PartitionKey("/pk"))
    await container.create_item({"id": "a", "pk": "p"})
    before = (await container.read())["_rid"]

    await database.delete_container("items")
    recreated = await database.create_container("items", PartitionKey("/pk"))
    await container.create_item({"id": "a", "pk": "p"})

    assert (await recreated.read())["_rid"] != before
    assert [item["id"] async for item in recreated.read_all_items()] == ["a"]


async def test_a_wrong_intended_container_rid_is_rejected(raw: RawClient, container: ContainerProxy) -> None:
    response = await raw.read_item("a", {"x-ms-cosmos-intended-collection-rid": "AAAAAAAAAAA="})

    assert (response.status, response.headers["x-ms-substatus"]) == (400, "1024")


async def test_an_account_can_have_any_consistency_level(emulator: CosmosEmulator, raw: RawClient) -> None:
    emulator.settings.consistency = "Strong"

    account = await raw.send("GET", "/", kind="")
    answers = [
        (await raw.send("GET", "/dbs", kind="dbs", headers={"x-ms-consistency-level": level})).status
        for level in ("Strong", "BoundedStaleness", "Eventual")
    ]

    assert account.json["userConsistencyPolicy"]["defaultConsistencyLevel"] == "Strong"
    assert answers == [200, 200, 200]
