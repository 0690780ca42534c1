"""Names carried by transactional batches of patches, each under the condition that no later rename wrote the item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shared.cosmos import BATCH_LIMIT, BatchRefused, Container, Operation
from shared.errors import DatabaseUnavailable
from shared.models.base import Item
from shared.models.post import Post
from shared.models.user import name_version
from shared.propagation.rename_fanout import OUTDATED, outdated_parameters
from shared.retries import RENAMING_REFUSALS

_MOST_BATCHES = 10_000

_IN_POST = f"SELECT c.id, c.type FROM c WHERE {OUTDATED} OFFSET 0 LIMIT @limit"  # noqa: S608 - a constant of ours


@dataclass(frozen=True)
class RenameBatches:
    """See `shared.propagation.rename_fanout.Renames`."""

    async def in_post(self, posts: Container, post_id: str, user: Item) -> None:
        """A query inside one partition and a batch for each hundred items, until the query finds none."""
        refusals = 0
        for _ in range(_MOST_BATCHES):
            items = await self._outdated(posts, post_id, user)
            if not items:
                return
            try:
                await posts.batch(post_id, [_renaming(item, user) for item in items])
            except BatchRefused as refused:  # an item was written or deleted since the query: it is looked for again
                refusals += 1
                if refusals == RENAMING_REFUSALS:
                    raise DatabaseUnavailable(f"renaming in post {post_id} met other writes all the time") from refused
        raise DatabaseUnavailable(f"renaming in post {post_id} did not come to an end")

    async def of_items(self, posts: Container, post_id: str, items: Sequence[Item], user: Item) -> None:
        """A batch for each hundred; where one is refused, as `in_post`."""
        try:
            for together in _hundreds(items):
                await posts.batch(post_id, [_renaming(item, user) for item in together])
        except BatchRefused:
            await self.in_post(posts, post_id, user)

    async def _outdated(self, posts: Container, post_id: str, user: Item) -> list[Item]:
        parameters = outdated_parameters(user) | {"limit": BATCH_LIMIT}
        return await posts.query(_IN_POST, parameters, partition_key=post_id, page_size=BATCH_LIMIT)


def _hundreds(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), BATCH_LIMIT):
        yield items[start : start + BATCH_LIMIT]


def _renaming(item: Item, user: Item) -> Operation:
    """The patch of one item, of which only `id` and `type` need to be known."""
    version = name_version(user)
    patch: list[dict[str, Any]] = [
        {"op": "set", "path": "/userUsername", "value": user["username"]},
        {"op": "set", "path": "/nameVersion", "value": version},
    ]
    if item["type"] == Post.TYPE:
        patch.append({"op": "incr", "path": "/version", "value": 1})
    # The predicate takes no parameters: the type is one of ours, the number is checked to be one.
    older = (
        f"FROM c WHERE c.type = '{item['type']}' AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= {version:d})"
    )
    return ("patch", (item["id"], patch), {"filter_predicate": older})
