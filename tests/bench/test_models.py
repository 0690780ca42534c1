"""All models return the same results for the article's requests."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from unittest.mock import patch

import pytest
from azure.cosmos.aio import CosmosClient
from cosmos_emulator.secondary_indexes import SecondaryIndexes

from bench.generated.plan import Range
from bench.loading import send_batches
from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import Model, PostView, UserView
from bench.models.plan import EXHIBIT_POSTS, ArticlePlan
from bench.models.project_model import ProjectModel
from bench.models.v1 import V1, rows_across
from bench.models.v2 import V2
from bench.models.v3 import V3
from bench.models.v4 import PROPERTIES, V4
from shared.models.summary import SUMMARY_LENGTH
from shared.platform.database.client import connect
from shared.platform.models import now
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import EmulatorThread
from tests.polling import eventually

MODELS: tuple[type[Model], ...] = (V1, V2, V3, V4, ProjectModel)
_LONG = "A long sentence that says little, again and again. " * 20


@pytest.fixture(params=MODELS, ids=lambda model: model.NAME)
def kind(request: pytest.FixtureRequest) -> type[Model]:
    chosen: type[Model] = request.param
    return chosen


@pytest.fixture
async def client(emulator: EmulatorThread) -> AsyncIterator[CosmosClient]:
    async with connect(Settings(account=Account(emulator.endpoint, emulator.key), database="none")) as client:
        yield client


@pytest.fixture
async def model(kind: type[Model], client: CosmosClient, emulator: EmulatorThread) -> AsyncIterator[Model]:
    database = f"model-{uuid.uuid4().hex[:10]}"
    await kind.provision(client, Settings(account=Account(emulator.endpoint, emulator.key), database=database))
    with patch.object(emulator.settings, "script_queries_see_own_writes", False):  # as bench.models.loading
        yield kind(client.get_database_client(database))
    await client.delete_database(database)


async def settle(model: Model) -> None:
    await (await ChangeFeedFollower.start(model)).settle()
    await caught_up(model)


async def caught_up(model: Model) -> None:
    """Wait until the model's indexes, if any, have all items of `posts` as they are."""

    async def is_complete() -> bool:
        posts = await contents("posts", "id")
        return all([await contents(plan.name, "_id") == posts for plan in model.CONTAINERS if plan.is_index])

    async def contents(container: str, id_name: str) -> dict[tuple[str, str], list[Any]]:
        items = await rows_across(model.database.get_container_client(container), "SELECT * FROM c")
        return {(item["postId"], item[id_name]): [item.get(name) for name in PROPERTIES[1:]] for item in items}

    await eventually(is_complete)


@contextmanager
def indexes_standing_still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the emulator's indexes lack all that is written inside the block."""

    async def follow(*_: object) -> bool:
        return False

    with monkeypatch.context() as patch:
        patch.setattr(SecondaryIndexes, "_follow", follow)
        yield


async def create_post(model: Model, author: UserView, title: str, content: str) -> PostView:
    """Create a post that is older than the next one: a fast machine creates two in one millisecond."""
    post = await model.create_post(author, title, content)
    await eventually(lambda: now() > post.creation_date)
    return post


async def test_users_are_created_and_renamed(model: Model) -> None:
    ada = await model.create_user("ada")
    assert await model.get_user(ada.id) == ada == UserView(ada.id, "ada")

    await model.rename_user(ada, "ada.lovelace")

    assert await model.get_user(ada.id) == UserView(ada.id, "ada.lovelace")


async def test_posts_are_created_and_edited(model: Model) -> None:
    ada = await model.create_user("ada")

    post = await model.create_post(ada, "A title", _LONG)
    assert await model.get_post(post.id) == post
    assert _shown(post) == {
        "user_id": ada.id,
        "username": "ada",
        "title": "A title",
        "content": _LONG,
        "comment_count": 0,
        "like_count": 0,
    }

    edited = await model.edit_post(post, "Another title", "Short.")
    assert await model.get_post(post.id) == edited
    assert (edited.title, edited.content) == ("Another title", "Short.")


async def test_comments_and_likes_are_listed_and_counted(model: Model) -> None:
    people = [await model.create_user(f"person-{number}") for number in range(4)]
    post = await model.create_post(people[0], "A title", "Some content.")
    other = await model.create_post(people[0], "Another title", "Some content.")

    comments = [await model.create_comment(post.id, person, "Well put.") for person in people[1:3]]
    likes = [await model.like(post.id, person) for person in people[1:]]

    assert {comment.id: comment for comment in await model.list_comments(post.id)} == {c.id: c for c in comments}
    assert {like.user_id: like for like in await model.list_likes(post.id)} == {like.user_id: like for like in likes}
    assert {(comment.username, comment.content) for comment in comments} == {
        ("person-1", "Well put."),
        ("person-2", "Well put."),
    }
    found = await model.get_post(post.id)
    assert (found.comment_count, found.like_count) == (2, 3)
    assert await model.list_comments(other.id) == []
    assert await model.list_likes(other.id) == []


async def test_lists_return_post_summaries_newest_first(model: Model) -> None:
    ada, ben = await model.create_user("ada"), await model.create_user("ben")
    posts = [await create_post(model, person, "A title", _LONG) for person in (ada, ben, ada)]
    await model.create_comment(posts[0].id, ben, "Well put.")
    await model.like(posts[0].id, ben)

    await settle(model)

    of_ada, feed = await model.list_user_posts(ada.id), await model.feed()
    assert [post.id for post in of_ada] == [posts[2].id, posts[0].id]
    assert [post.id for post in feed] == [post.id for post in reversed(posts)]
    assert all(len(post.content) <= SUMMARY_LENGTH and post.title == "A title" for post in feed)
    for post in (of_ada[1], feed[2]):
        assert (post.username, post.comment_count, post.like_count) == ("ada", 1, 1)


async def test_a_rename_updates_all_copies(model: Model) -> None:
    ada, ben = await model.create_user("ada"), await model.create_user("ben")
    post, other = [await model.create_post(person, "A title", "Some content.") for person in (ada, ben)]
    await model.create_comment(other.id, ada, "Well put.")
    await model.like(other.id, ada)
    await settle(model)

    await model.rename_user(ada, "ada.lovelace")
    await settle(model)

    shown = [
        await model.get_post(post.id),
        *await model.list_user_posts(ada.id),
        *[entry for entry in await model.feed() if entry.user_id == ada.id],
        *await model.list_comments(other.id),
        *await model.list_likes(other.id),
    ]
    assert [each.username for each in shown] == ["ada.lovelace"] * 5
    assert (await model.get_post(other.id)).username == "ben"


@pytest.mark.parametrize("kind", [V4], indirect=True)
async def test_a_rename_reaches_items_that_the_index_lacks(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, ben = await model.create_user("ada"), await model.create_user("ben")
    indexed = await model.create_post(ada, "A title", "Some content.")
    other = await model.create_post(ben, "A title", "Some content.")
    await caught_up(model)
    feeds = await ChangeFeedFollower.start(model, from_now=True)

    with indexes_standing_still(monkeypatch):
        await model.create_comment(other.id, ada, "Well put.")
        await model.rename_user(ada, "ada.lovelace")
        await feeds.settle()

        assert (await model.get_post(indexed.id)).username == "ada.lovelace"
        assert [comment.username for comment in await model.list_comments(other.id)] == ["ada"]
    await caught_up(model)
    await feeds.settle()

    assert [comment.username for comment in await model.list_comments(other.id)] == ["ada.lovelace"]
    assert (await model.get_post(other.id)).username == "ben"


@pytest.mark.nightly
async def test_the_feed_contains_the_100_newest_posts(model: Model) -> None:
    ada = await model.create_user("ada")
    feeds = await ChangeFeedFollower.start(model)
    posts = [await create_post(model, ada, f"Post {number}", "Some content.") for number in range(99)]
    await feeds.settle()

    # The article's trigger keeps the newest posts only if they arrive in order, so add one at a time.
    for number in range(99, 103):
        posts.append(await create_post(model, ada, f"Post {number}", "Some content."))
        await feeds.settle()

    await caught_up(model)
    assert {post.id for post in await model.feed()} == {post.id for post in posts[3:]}


@pytest.mark.nightly
async def test_all_models_return_the_same_results(client: CosmosClient, emulator: EmulatorThread) -> None:
    plan = ArticlePlan(users=12, posts_per_user=Range(5, 12), comments_per_post=Range(0, 3), likes_per_post=Range(0, 4))
    answers = []
    for kind in MODELS:
        database = f"planned-{uuid.uuid4().hex[:10]}"
        await kind.provision(client, Settings(account=Account(emulator.endpoint, emulator.key), database=database))
        model = kind(client.get_database_client(database))
        await _load(model, plan)
        await caught_up(model)
        answers.append(await _all_answers(model, plan))
        await client.delete_database(database)

    assert answers[0]["feed"]
    assert len(answers[0]["posts of a user"]) == EXHIBIT_POSTS
    assert (len(answers[0]["comments"]), len(answers[0]["likes"])) == (20, 12)
    for model_answers in answers[1:]:
        assert model_answers == answers[0]


async def _load(model: Model, plan: ArticlePlan) -> None:
    items = list(model.items(plan))
    for container in model.CONTAINERS:
        of_container = [item for name, item in items if name == container.name]
        proxy = model.database.get_container_client(container.name)
        await send_batches(proxy, container.key, of_container)


async def _all_answers(model: Model, plan: ArticlePlan) -> dict[str, Any]:
    author, post = plan.user(0), plan.exhibit(0)
    return {
        "user": await model.get_user(author["id"]),
        "post": await model.get_post(post["id"]),
        "posts of a user": await model.list_user_posts(author["id"]),
        "comments": await model.list_comments(post["id"]),
        "likes": sorted(await model.list_likes(post["id"]), key=lambda like: like.user_id),
        "feed": await model.feed(),
    }


def _shown(post: PostView) -> dict[str, Any]:
    return {name: value for name, value in asdict(post).items() if name not in ("id", "creation_date")}
