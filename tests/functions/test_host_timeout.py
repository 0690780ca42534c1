"""A rename that takes longer than the function timeout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from shared.data.users import create_user, edit_user
from shared.models.user import NewUser, UserChanges
from shared.platform.models import Item
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Operation
from tests.items import a_post, unique
from tests.polling import eventually
from tests.running_app import running_app

POSTS = 10


@pytest.fixture
def own_gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.mark.nightly
@pytest.mark.parametrize("transaction_mode", ["batch", "procedure"])
async def test_a_rename_longer_than_the_function_timeout_does_not_end_the_host(
    blog: Blog, own_gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    posts = [await blog.posts.create(a_post(user, second=second)) for second in range(POSTS)]
    user = await edit_user(blog.users, user["id"], UserChanges(username=unique("countess")))
    monkeypatch.setenv("AzureFunctionsJobHost__functionTimeout", "00:00:05")
    settings = at(blog.settings, own_gateway.endpoint).model_copy(update={"delivery_deadline_s": 2})

    with ExitStack() as stack:
        with own_gateway.holding(_renames, after=3):
            app = stack.enter_context(running_app(settings, tmp_path / "host.log", disabled=["on_posts_changed"]))
            cut_off = "DeliveryUnfinished: on_users_changed did not finish a delivery within 2 s"
            await eventually(lambda: app.process.poll() is not None or len(app.log_lines(containing=cut_off)) > 1)
            assert app.process.poll() is None, app.log_lines()[-1]
            midway = await _usernames(blog, posts)
        await eventually(lambda: _is_settled(blog, user))

    assert midway.count(user["username"]) == 3
    assert await _usernames(blog, posts) == [user["username"]] * POSTS


async def _usernames(blog: Blog, posts: list[Item]) -> list[str]:
    return [(await blog.posts.read(post["id"], post["id"]) or {})["userUsername"] for post in posts]


def _renames(operation: Operation) -> bool:
    return operation.name in {"batch posts", "updateUsernames posts"}


async def _is_settled(blog: Blog, user: Item) -> bool:
    stored = await blog.users.read(user["id"], user["id"])
    return stored is not None and "formerUsernames" not in stored
