"""The hand-made views of this project beside global secondary indexes: `python -m bench.secondary_indexes`.

Each view has an index with the properties and the indexing policy that it needs. The blog is the one of
bench/request_charges.py: once as it is, and once with a summary in each post, because an index can only have what its
source stores. Reads are charged by the emulator's model. What the service charges for updating an index is not
documented: the estimate is the cost of the same writes in a container with the policy of the index. Sizes, limits and
prices follow bench/capacity/demand.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Any, Final
from uuid import uuid4

from azure.cosmos.aio import DatabaseProxy

from bench.capacity import demand
from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import ContainerPlan, ModelFeed, provision_container
from bench.models.observation import Observation, observed, observed_client
from bench.models.project_model import ProjectModel
from bench.report import circumstances
from bench.request_charges import add_comment, add_like, add_post, add_user, fill, new_post
from bench.servers import REPOSITORY, Server, emulator
from bench.tables import number, people, table
from management.account import open_containers
from management.provision import provision
from shared.containers import FEED, POSTS, USERS
from shared.data.blog import Blog
from shared.data.front_page import FRONT_PAGE_LENGTH, list_recent_posts
from shared.data.posts import get_post, list_posts_of_user
from shared.models.post import post_item
from shared.models.summary import summary
from shared.platform.database.container import Container
from shared.platform.models import Item, now

PARTITIONS: Final = (1, 4)
EVENTS = POST, COMMENT, LIKE, LATE_LIKE = "a post", "a comment", "a like", "a like of an older post"
Q3, Q6, RENAME = "Q3 list a user's posts", "Q6 list the most recent posts", "find what a rename must change"
Q6_BY_ID: Final = "Q6, key `/type`, `/_id`"
Q6_OF_SEARCH: Final = "Q6, index of the search"
# What the function that updates the copies does, and what an index does.
COPIES_Q3, COPIES_Q6, CHECKS = "copies of Q3", "copies of Q6", "check of new copies"
CHANGES, NAMES = "change feed of `posts`", "users, to correct names"

# An index stores null for what an item lacks: comments and likes have no title, for example.
_LISTED: Final = (
    *("id", "type", "postId", "userId", "userUsername", "title", "summary"),
    *("commentCount", "likeCount", "creationDate", "editedDate"),
)
_FOUND: Final = ("id", "type", "postId", "userId")
_NEWEST: Final = (
    "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.type DESC, c.creationDate DESC, c._id DESC OFFSET 0 LIMIT @limit"
)
_OF_USER: Final = "SELECT c._id, c.postId FROM c WHERE c.type IN ('post', 'comment', 'like')"
_ACROSS: Final = f"{_OF_USER.replace('c._id', 'c.id')} AND c.userId = @userId"
_OF_POST: Final = "SELECT * FROM c WHERE c.postId = @id"
_OLDEST: Final = "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.creationDate OFFSET 0 LIMIT 1"
_ALL_POSTS: Final = "SELECT c.id, c.content FROM c WHERE c.type = 'post'"

# https://learn.microsoft.com/azure/cosmos-db/concepts-limits
_LOGICAL_PARTITION_GB: Final = 20
_LEAST_MAX_RU, _LEAST_MAX_RU_PER_GB, _MAX_RU_STEP = 1_000, 10, 1_000
_SOME_USERS: Final = (0, 10_000, 100_000, 1_000_000)


def _index(name: str, paths: Sequence[str], properties: Sequence[str], *, policy: Item) -> ContainerPlan:
    """Define an index of `posts` with these properties."""
    definition = f"SELECT {', '.join(f'c.{one}' for one in properties)} FROM c"  # noqa: S608 - names from the code
    kind = "Hash" if len(paths) == 1 else "MultiHash"
    return ContainerPlan(
        {
            "id": name,
            "partitionKey": {"paths": list(paths), "kind": kind, "version": 2},
            "indexingPolicy": policy,
            "globalSecondaryIndex": {"sourceCollectionId": POSTS, "definition": definition},
        }
    )


def _policy(*names: str, newest: Sequence[str] = ()) -> Item:
    """Return a policy that indexes these properties, and the properties of `newest` in a descending composite index."""
    composite = [{"path": f"/{name}", "order": "descending"} for name in newest]
    return {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": f"/{name}/?"} for name in names],
        "excludedPaths": [{"path": "/*"}],
        **({"compositeIndexes": [composite]} if composite else {}),
    }


_ORDER: Final = ("type", "creationDate", "_id")
_BY_TYPE: Final = _policy("type", "creationDate", newest=_ORDER)
INDEXES: Final = {
    Q3: _index("by-user", ["/userId"], _LISTED, policy=_policy("userId", "type", "creationDate", newest=_ORDER)),
    Q6: _index("by-type", ["/type"], _LISTED, policy=_BY_TYPE),
    RENAME: _index("found-by-user", ["/userId"], _FOUND, policy=_policy("userId")),
}
# Only read here. Updates of the first cost as much as with `/type`; updates of the second are part of the search.
_ALSO_READ: Final = {Q6_BY_ID: _index("by-type-and-id", ["/type", "/_id"], _LISTED, policy=_BY_TYPE)}
if (_search := REPOSITORY / "addons" / "search" / "containers.json").exists():  # docs/template.md can take it off
    _ALSO_READ[Q6_OF_SEARCH] = ContainerPlan(json.loads(_search.read_text(encoding="utf-8"))["containers"][0])


@dataclass(frozen=True)
class ByHand:
    """Request units of the reads, of each event's command in `posts`, and of each part of the function's work."""

    reads: dict[str, float]
    commands: dict[str, float]
    updates: dict[str, dict[str, float]]
    copy_kb: float

    def update(self, event: str) -> float:
        """Return the charge of the copies of both lists."""
        return sum(self.updates[event][part] for part in (COPIES_Q3, COPIES_Q6, CHECKS))


@dataclass(frozen=True)
class Indexed:
    """The same with indexes.

    `writes` has the charges of the event's own item and, if another one changes, of its post. `changes` is what one
    reader of the change feed pays. Sizes are KB of JSON with system properties, by type.
    """

    reads: dict[str, float]
    commands: dict[str, float]
    writes: dict[str, dict[str, list[float]]]
    changes: dict[str, float]
    sizes_kb: dict[str, dict[str, float]]
    added_kb: float

    def update(self, view: str, event: str) -> float:
        return sum(self.writes[view][event])


class _Read(ProjectModel):
    """Reads the change feed of `posts`, as the service must for an index, and does nothing else."""

    @property
    def change_feeds(self) -> Sequence[ModelFeed]:
        return (ModelFeed(POSTS, _ignore),)


@dataclass(frozen=True)
class _Scene:
    """A filled blog, and the users and posts of the events. `post` is on the front page, `older_post` is not."""

    blog: Blog
    author: Item
    post: Item
    older_post: Item
    reader: Item

    @classmethod
    async def open(cls, blog: Blog) -> _Scene:
        author, post = await fill(blog)
        [older_post] = await _all(blog.posts.query_across(_OLDEST, {}, page_size=1))
        return cls(blog, author, post, older_post, await add_user(blog, "a_reader"))

    def events(self, add: Callable[[Blog, Item], Awaitable[Item]]) -> dict[str, Callable[[], Awaitable[Item]]]:
        """Return the commands by event; comments and likes are by another user than the author."""
        return {
            POST: lambda: add(self.blog, self.author),
            COMMENT: lambda: add_comment(self.blog, self.post, self.reader),
            LIKE: lambda: add_like(self.blog, self.post, self.reader),
            LATE_LIKE: lambda: add_like(self.blog, self.older_post, self.reader),
        }


async def measure_by_hand(server: Server) -> ByHand:
    configuration = server.settings("by-hand")
    await provision(configuration)
    async with observed_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        scene = await _Scene.open(blog)
        user_id = scene.author["id"]
        reads: dict[str, Callable[[], Awaitable[object]]] = {
            Q3: lambda: list_posts_of_user(blog.users, user_id, limit=100, cursor=None),
            Q6: lambda: list_recent_posts(blog.feed),
            RENAME: lambda: _all(blog.posts.query_across(_ACROSS, {"userId": user_id}, page_size=100)),
        }
        read = {name: (await _observed(query())).request_units for name, query in reads.items()}
        copy = await blog.users.read(scene.post["id"], user_id)
        result = ByHand(read, {}, {}, _kb(copy or {}))
        model = ProjectModel(client.get_database_client(configuration.database))
        functions = await ChangeFeedFollower.start(model, from_now=True)
        for event, command in scene.events(add_post).items():
            await server.next_second()
            result.commands[event] = (await _observed(command())).by_container[POSTS]
            await server.next_second()
            done = await _observed(functions.settle(together=True))
            result.updates[event] = {
                # The change feed of `users` also has the copies.
                COPIES_Q3: done.by_kind[USERS, "writes"] + done.by_kind[USERS, "change feed"],
                COPIES_Q6: done.by_container[FEED],
                CHECKS: done.by_kind[POSTS, "reads"],
                CHANGES: done.by_kind[POSTS, "change feed"],
                NAMES: done.by_kind[USERS, "reads"],
            }
        return result


async def measure_indexed(server: Server) -> Indexed:
    configuration = server.settings("indexed")
    await provision(configuration)
    async with observed_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        scene = await _Scene.open(blog)
        before = await get_post(blog.posts, scene.post["id"])
        for post in await _all(blog.posts.query_across(_ALL_POSTS, {}, page_size=100)):
            added = [{"op": "add", "path": "/summary", "value": summary(post["content"])}]
            await blog.posts.patch(post["id"], post["id"], added)
        after = await get_post(blog.posts, scene.post["id"])
        database = client.get_database_client(configuration.database)
        indexes = {
            view: Container(await provision_container(database, plan)) for view, plan in (INDEXES | _ALSO_READ).items()
        }
        reads = {view: (await _observed(_read(indexes[view], view, scene))).request_units for view in indexes}
        sizes_kb = {view: await _sizes_kb(indexes[view], scene.post) for view in INDEXES}
        result = Indexed(reads, {}, {view: {} for view in INDEXES}, {}, sizes_kb, _kb(after) - _kb(before))

        alike = {view: await _container_like(database, plan) for view, plan in INDEXES.items()}
        for view, container in alike.items():
            for post in (scene.post, scene.older_post):
                await container.create(_projected(await get_post(blog.posts, post["id"]), view))
        service = await ChangeFeedFollower.start(_Read(database), from_now=True)
        for event, command in scene.events(_add_post_with_summary).items():
            await server.next_second()
            with observed() as observation:
                item = await command()
            result.commands[event] = observation.by_container[POSTS]
            changed = [item] if item["type"] == "post" else [item, await get_post(blog.posts, item["postId"])]
            await server.next_second()
            result.changes[event] = (await _observed(service.settle(together=True))).by_container[POSTS]
            for view, container in alike.items():
                written = [await _observed(container.proxy.upsert_item(_projected(one, view))) for one in changed]
                result.writes[view][event] = [one.request_units for one in written]
        return result


async def _read(index: Container, view: str, scene: _Scene) -> object:
    """Send the view's query, which is in one logical partition or in one value of a hierarchical key's first level."""
    if view == RENAME:
        return await index.query(_OF_USER, {}, partition_key=scene.author["id"], page_size=100)
    if view == Q3:
        # One more than the page, like this project.
        return await index.query(_NEWEST, {"limit": 101}, partition_key=scene.author["id"], page_size=101)
    if view == Q6_BY_ID:
        parameters = [{"name": "@limit", "value": FRONT_PAGE_LENGTH}]
        return await _all(index.proxy.query_items(_NEWEST, parameters=parameters, partition_key=["post"]))
    limit = FRONT_PAGE_LENGTH
    return await index.query(_NEWEST, {"limit": limit}, partition_key="post", page_size=limit)


async def _add_post_with_summary(blog: Blog, author: Item) -> Item:
    post = post_item(str(uuid4()), author, new_post(author), now())
    return await blog.posts.create(post | {"summary": summary(post["content"])})


async def _observed(work: Awaitable[object]) -> Observation:
    with observed() as observation:
        await work
    return observation


async def _ignore(_: Sequence[Item]) -> None: ...


async def _all(rows: Any) -> list[Any]:
    return [row async for row in rows]


async def _container_like(database: DatabaseProxy, index: ContainerPlan) -> Container:
    """Create a container with the partition key and the policy of an index."""
    plain = {name: index.definition[name] for name in ("partitionKey", "indexingPolicy")}
    return Container(await provision_container(database, ContainerPlan({"id": f"like-{index.name}", **plain})))


def _projected(item: Item, view: str) -> Item:
    properties = _FOUND if view == RENAME else _LISTED
    return {name: item.get(name) for name in properties} | {"_id": item["id"], "id": item["_rid"]}


async def _sizes_kb(index: Container, post: Item) -> dict[str, float]:
    items = await _all(index.query_across(_OF_POST, {"id": post["id"]}, page_size=100))
    return {item["type"]: _kb(item) for item in items}


def _kb(item: Item) -> float:
    return len(json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()) / 1024


# What follows is arithmetic with the load, the prices and the limits of docs/scale.md.
_PER_USER: Final = {
    POST: demand.COMMANDS[demand.CREATE_POST],
    COMMENT: demand.COMMANDS[demand.COMMENT],
    LIKE: demand.COMMANDS[demand.LIKE],
}
_TYPES: Final = {"post": POST, "comment": COMMENT, "like": LIKE}
_SECONDS: Final = demand.YEARS * 365 * 86_400


def gb_per_user(sizes_kb: Mapping[str, float]) -> dict[str, float]:
    """Return the GB of a user's items after all the years, by type, with the size of their index."""
    gb = (1 + demand.INDEX_SHARE) * 1024 / 1e9
    return {kind: _PER_USER[_TYPES[kind]] * size_kb * gb for kind, size_kb in sizes_kb.items()}


def least_ru(gb: float) -> float:
    """Return the least throughput of an index that autoscale bills."""
    highest = max(_LEAST_MAX_RU, ceil(gb * _LEAST_MAX_RU_PER_GB / _MAX_RU_STEP) * _MAX_RU_STEP)
    return highest * demand.AUTOSCALE_MIN


def dollars(ru: float, gb: float) -> float:
    """Return what this throughput, with autoscale, and storage cost per month."""
    return ru * demand.RU_HOUR * demand.AUTOSCALE * demand.HOURS_A_MONTH + gb * demand.STORAGE


def break_even_partitions(indexed: Indexed, partition_ru: float, *, rewrites: bool) -> float:
    """Return how many partitions the query of a rename must read to cost as much as an index only for renames.

    Without `rewrites`, the service does not write a post again whose properties in the index are the same.
    """
    writes = {event: charges if rewrites else charges[:1] for event, charges in indexed.writes[RENAME].items()}
    total = sum(count * (sum(writes[event]) + indexed.changes[event]) for event, count in _PER_USER.items())
    return total / demand.COMMANDS[demand.RENAME] / partition_ru


def _mean_ru(users: int, charge: Callable[[str], float]) -> float:
    return users * sum(count * charge(event) for event, count in _PER_USER.items()) / _SECONDS


def _copies(by_hand: ByHand, users: int) -> str:
    """Return the cost of the copies, which share the throughput of the database."""
    in_feed = min(1.0, FRONT_PAGE_LENGTH / (users * _PER_USER[POST] / _SECONDS * 86_400)) if users else 0.0
    each = {event: by_hand.update(event) for event in by_hand.updates}
    for event in (COMMENT, LIKE):
        each[event] = in_feed * each[event] + (1 - in_feed) * each[LATE_LIKE]
    ru = _mean_ru(users, lambda event: each[event]) * demand.PEAK_IN_HOUR
    return _cost(users * gb_per_user({"post": by_hand.copy_kb})["post"], ru)


def _index_cost(indexed: Indexed, view: str, users: int) -> str:
    """Return the cost of an index, with the cost of its reads of the change feed in the source."""
    gb = users * sum(gb_per_user(indexed.sizes_kb[view]).values())
    updates = _mean_ru(users, lambda event: indexed.update(view, event)) * demand.PEAK_IN_HOUR
    reads = _mean_ru(users, lambda event: indexed.changes[event]) * demand.PEAK_IN_HOUR
    return _cost(gb, max(least_ru(gb), updates) + reads)


def _cost(gb: float, ru: float) -> str:
    return f"{number(gb)} GB, {number(ru)} RU/s: ${number(dollars(ru, gb))}"


def _reads(by_hand: Sequence[ByHand], indexed: Sequence[Indexed]) -> Iterator[tuple[str, ...]]:
    for view in indexed[0].reads:
        copied = [f"{one.reads[view]:.2f}" if view in one.reads else "" for one in by_hand]
        yield (view, *copied, *(f"{one.reads[view]:.2f}" for one in indexed))


def _updates(by_hand: ByHand, indexed: Indexed) -> Iterator[tuple[str, ...]]:
    events = list(by_hand.updates)
    q3, q6, renames = ([indexed.update(view, event) for event in events] for view in (Q3, Q6, RENAME))
    changes = [indexed.changes[event] for event in events]
    rows = {
        **{f"by hand: {part}": _part(by_hand, part) for part in (COPIES_Q3, COPIES_Q6, CHECKS)},
        "**by hand, in total**": [by_hand.update(event) for event in events],
        "index of Q3": q3,
        "index of Q6": q6,
        "change feed of `posts`, for each index": changes,
        "**indexes of Q3 and Q6, in total**": [sum(each) for each in zip(q3, q6, changes, changes, strict=True)],
        "index of renames": renames,
        **{f"function, in both cases: {part}": _part(by_hand, part) for part in (CHANGES, NAMES)},
    }
    for name, charges in rows.items():
        mark = "**" if name.startswith("**") else ""
        yield (name, *(f"{mark}{charge_ru:.2f}{mark}" for charge_ru in charges))


def _part(by_hand: ByHand, part: str) -> list[float]:
    return [parts[part] for parts in by_hand.updates.values()]


def _sizes(indexed: Indexed) -> Iterator[tuple[str, ...]]:
    gb = gb_per_user(indexed.sizes_kb[Q6])
    for kind in _TYPES:
        kb = [f"{indexed.sizes_kb[view][kind]:.2f}" for view in (Q6, RENAME)]
        yield (kind, *kb, *(people(limit / gb[kind]) for limit in (_LOGICAL_PARTITION_GB, demand.PARTITION_GB)))


def _money(by_hand: ByHand, indexed: Indexed) -> Iterator[tuple[str, ...]]:
    for users in _SOME_USERS:
        indexes = [_index_cost(indexed, view, users) for view in (Q3, RENAME)]
        yield (people(users), _copies(by_hand, users), *indexes)


def _sentences(by_hand: Sequence[ByHand], indexed: Indexed) -> Iterator[str]:
    added = [indexed.commands[event] - by_hand[-1].commands[event] for event in (POST, LIKE)]
    charges = f"{added[0]:.2f} RU to its creation, and {added[1]:.2f} RU to each like"
    yield f"A summary adds {indexed.added_kb:.2f} KB to a post, {charges}."
    own = indexed.writes[Q6][LIKE][0]
    yield f"Of a like's update of the index of Q6, {own:.2f} RU are for the like itself."
    partition_ru = (by_hand[-1].reads[RENAME] - by_hand[0].reads[RENAME]) / (PARTITIONS[-1] - PARTITIONS[0])
    low, high = (break_even_partitions(indexed, partition_ru, rewrites=rewrites) for rewrites in (False, True))
    yield f"An index of renames costs as much as queries of {number(low, 2)} to {number(high, 2)} partitions."


async def main() -> None:
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    by_hand, indexed = [], []
    for partitions in PARTITIONS:
        async with emulator(None, "--partitions", str(partitions)) as server:
            by_hand.append(await measure_by_hand(server))
            indexed.append(await measure_indexed(server))
    columns = [f"{kind}, P = {count}" for kind in ("by hand", "index") for count in PARTITIONS]
    sizes = ["item", "KB in the index of Q3 or Q6", "KB in the index of renames", "users at 20 GB", "users at 50 GB"]
    money = ["users", "copies of both lists", "index of Q3 or Q6", "index of renames"]
    lines = [
        *(*circumstances(started, load_before), "- profile service-2026", ""),
        *(*table(["request units", *columns], _reads(by_hand, indexed)), ""),
        *(*table([f"request units, P = {PARTITIONS[-1]}", *EVENTS], _updates(by_hand[-1], indexed[-1])), ""),
        *(*_sentences(by_hand, indexed[-1]), ""),
        *(*table(sizes, _sizes(indexed[-1])), ""),
        *table(money, _money(by_hand[-1], indexed[-1])),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
