"""IDs that no URL can carry: such an item is read by a batch, and its writes are refused without a request."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos.partition_key import NonePartitionKeyValue
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.platform.database.container import patch_of
from shared.platform.database.refusals import ItemMissing
from shared.platform.database.scope import request_scope
from shared.platform.errors import RequestRefused
from shared.platform.models import is_item_id
from tests.blog import Blog
from tests.items import unique

UNADDRESSABLE = [
    ".",
    "..",
    "/",
    "a/b",
    "a/",
    "/a",
    "a/..",
    "\\",
    "a\\b",
    "?",
    "a?b",
    "#",
    "a#b",
    "\t",
    "a\n",
    "a\r",
    "a ",
]
UNADDRESSABLE += [" ", ".. ", "\x00", "a\x1fb", "\x7f", "x" * 256]
ADDRESSABLE = ["...", ".a", "a.", "..a", " a", "a b", "%", "%2e%2E", "%2F", "a%", "%C0%AF", "é" * 255]
ADDRESSABLE += ["\u0085", "\u200b", "\u2028", "\ufeff", "\u202e", "😀", "+", "&=;:@", "http:", "~", "a\u00a0"]


async def _create(blog: Blog, item_id: str, key: str) -> None:
    # The SDK checks the IDs of single writes only.
    await blog.posts.batch(key, [("upsert", ({"id": item_id, "postId": key, "type": "note"},))])


async def _use(blog: Blog, item_id: str) -> None:
    """Read and write one item next to others that a wrong URL could address."""
    key = unique("key")
    for other in ("a", "b", item_id):
        await _create(blog, other, key)

    found = await blog.posts.read(item_id, key)
    assert found is not None
    assert found["id"] == item_id
    assert await blog.posts.read(item_id, unique("key")) is None
    if is_item_id(item_id):
        await blog.posts.patch(item_id, key, patch_of({"note": 1}))
        await blog.posts.replace(found | {"note": 2}, etag=(await blog.posts.read(item_id, key) or {})["_etag"])
        await blog.posts.delete(item_id, key)
        assert await blog.posts.read(item_id, key) is None
        return
    with request_scope() as scope:
        for write in (
            blog.posts.patch(item_id, key, patch_of({"note": 1})),
            blog.posts.replace(found, etag=found["_etag"]),
            blog.posts.delete(item_id, key),
        ):
            with pytest.raises(RequestRefused):
                await write
    assert scope.responses == 0
    await blog.posts.batch(key, [("delete", (item_id,))])  # as docs/reliability.md says
    assert await blog.posts.read(item_id, key) is None


@pytest.mark.parametrize("item_id", UNADDRESSABLE, ids=ascii)
async def test_an_item_whose_id_no_url_can_carry_is_read_but_not_written(shared_blog: Blog, item_id: str) -> None:
    assert not is_item_id(item_id)
    await _use(shared_blog, item_id)


@pytest.mark.parametrize("item_id", ADDRESSABLE, ids=lambda item_id: ascii(item_id[:8]))
async def test_any_other_id_addresses_its_item(shared_blog: Blog, item_id: str) -> None:
    assert is_item_id(item_id)
    await _use(shared_blog, item_id)


_IDS = st.text(st.characters(codec="utf-8") | st.sampled_from("./\\?#%. \t\na"), min_size=1, max_size=12)


@settings(suppress_health_check=list(HealthCheck), max_examples=60)
@given(_IDS)
async def test_every_id_is_either_addressed_or_refused(shared_blog: Blog, item_id: str) -> None:
    await _use(shared_blog, item_id)


@pytest.mark.parametrize("key", [NonePartitionKeyValue, None, 5, True])
async def test_such_an_item_with_a_key_that_is_not_a_string_is_read(blog: Blog, key: Any) -> None:
    own = {} if key is NonePartitionKeyValue else {"postId": key}
    await blog.posts.proxy.execute_item_batch([("create", ({"id": "..", **own},))], key)

    assert (await blog.posts.read("..", key) or {})["id"] == ".."


async def test_a_missing_item_is_missing(shared_blog: Blog) -> None:
    with pytest.raises(ItemMissing):
        await shared_blog.posts.delete(unique("id"), unique("key"))
