"""Texts that look like dates reach every copy as they were sent, because host.json turns off the parsing of dates."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from functions_host.date_texts import UnparsableChangesError, parsed

from tests.api import Api
from tests.polling import eventually

HOST_JSON = json.loads((Path(__file__).parents[2] / "host.json").read_text(encoding="utf-8"))
# Without the setting, the host rewrites the first two and stops at the others.
TEXTS = [
    "2026-01-01T00:00:00+02:00",
    "/Date(0)/",
    "/Date(99999999999999999)/",
    "9999-12-31T24:00:00",
]


def test_the_host_does_not_parse_dates() -> None:
    """docs/upgrade.md says what depends on this."""
    assert HOST_JSON["extensions"]["cosmosDB"]["serializerSettings"] == {"dateParseHandling": "None"}


def test_the_extension_bundle_knows_the_setting() -> None:
    """Bundle 4.23.0 is the first with version 4.9.0 of the Cosmos DB extension.

    https://github.com/Azure/azure-functions-extension-bundles/blob/4.23.0/tests, linux_x64_extensions.deps.json
    """
    least = re.match(r"\[(\d+)\.(\d+)\.", HOST_JSON["extensionBundle"]["version"])
    assert least is not None
    assert tuple(map(int, least.groups())) >= (4, 23)


async def test_texts_that_look_like_dates_are_delivered_as_sent(api: Api) -> None:
    for text in TEXTS:
        with suppress(UnparsableChangesError):
            assert parsed(text) != text
    author = await api.new_user()
    posts = [await api.new_post(author, title=text, content=text) for text in TEXTS]
    for post in posts:
        assert (await api.create_comment(post["id"], author["id"], post["title"])).body["content"] == post["title"]

    async def are_listed() -> bool:
        listed = (await api.list_user_posts(author["id"], limit=100)).body["items"]
        return [(post["title"], post["content"]) for post in reversed(listed)] == [(text, text) for text in TEXTS]

    await eventually(are_listed)
    feed = {post["id"]: post["title"] for post in (await api.send("GET", "/api/feed?limit=100")).body["items"]}
    assert [feed.get(post["id"]) for post in posts] == TEXTS
