"""The properties that items store. Items omit the rest, because queries are charged by the bytes they read."""

from __future__ import annotations

import pytest

from shared.models.post import Post, short_form
from shared.models.user import User, name_version, renamed
from shared.platform.models import Item
from tests.items import a_comment, a_like, a_post, a_user


def test_a_copy_and_its_post_differ_only_in_the_summary() -> None:
    post = a_post(a_user(), content="Short enough.")

    assert Post.from_item(short_form(post)) == Post.from_item(post)


def test_a_copy_stores_only_what_lists_show_and_the_version() -> None:
    shown = {field.alias for field in Post.model_fields.values()}

    assert set(short_form(a_post(a_user()))) == shown - {"postId", "editedDate"} | {"version"}


def test_a_copy_of_an_edited_post_has_the_date_of_the_edit() -> None:
    post = a_post(a_user()) | {"editedDate": "2026-01-02T00:00:00Z"}

    assert short_form(post)["editedDate"] == "2026-01-02T00:00:00.000Z"
    assert Post.from_item(post).edited_date == post["editedDate"]


def _items_by(user: Item) -> list[Item]:
    post = a_post(user)
    return [post, a_comment(post, user), a_like(post, user)]


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_items_store_the_number_of_renames_unless_it_is_zero(renames: int) -> None:
    user = a_user()
    for number in range(renames):
        user = renamed(user, f"name-{number}")

    assert {item.get("nameVersion") for item in _items_by(user)} == {renames or None}
    assert {item["userUsername"] for item in _items_by(user)} == {user["username"]}
    assert name_version(user) == renames
    assert User.entity_tag(user) == f'"{renames}-{user["creationDate"]}"'


def test_likes_of_one_user_and_post_have_the_same_id() -> None:
    post, liker, other = a_post(a_user()), a_user(), a_user()

    assert a_like(post, liker)["id"] == a_like(post, liker)["id"] != a_like(post, other)["id"]
