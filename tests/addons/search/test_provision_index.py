"""Provisioning creates the index if the setting says so, and only then."""

from __future__ import annotations

import re
from typing import Any

import pytest
from azure.cosmos import PartitionKey

from addons.search.index import index_definition
from management.comparison import is_as_defined
from management.definitions import changeable_differences, unchangeable_differences
from management.errors import ManagementError
from management.provision import provision
from tests.blog import Blog
from tests.running_app import REPOSITORY

INDEX = index_definition()


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOG_SEARCH", "1")


async def provisioned(blog: Blog, *, throughput: int | None = None) -> list[str]:
    lines: list[str] = []
    await provision(blog.settings, throughput=throughput, say=lines.append)
    return lines


async def test_the_index_is_created_once(blog: Blog, searches: None) -> None:
    assert await provisioned(blog) == ["Container search: created."]
    assert await provisioned(blog) == [f"Database {blog.settings.database}: up to date."]
    lines: list[str] = []
    assert await is_as_defined(blog.settings, lines.append), lines


async def test_without_the_setting_there_is_no_index(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLOG_SEARCH", raising=False)

    assert await provisioned(blog) == [f"Database {blog.settings.database}: up to date."]


async def test_a_missing_index_is_a_difference(blog: Blog, searches: None) -> None:
    lines: list[str] = []

    assert not await is_as_defined(blog.settings, lines.append)
    assert lines == ["Container search: missing."]


async def test_a_container_of_this_name_that_is_no_index_is_refused(blog: Blog, searches: None) -> None:
    await blog.database.create_container("search", PartitionKey("/type", version=2))

    with pytest.raises(ManagementError, match="it is not an index of the same source"):
        await provisioned(blog)


async def test_another_full_text_index_is_a_difference(blog: Blog, searches: None) -> None:
    await provisioned(blog)
    present: dict[str, Any] = dict(await blog.database.get_container_client("search").read())
    changed = present | {"indexingPolicy": present["indexingPolicy"] | {"fullTextIndexes": [{"path": "/title"}]}}

    assert changeable_differences(INDEX, present) == unchangeable_differences(INDEX, present) == []
    assert changeable_differences(INDEX, changed) == ["indexing policy"]


async def test_another_language_is_a_difference(blog: Blog, searches: None) -> None:
    await provisioned(blog)
    present: dict[str, Any] = dict(await blog.database.get_container_client("search").read())
    german = [path | {"language": "de-DE"} for path in INDEX["fullTextPolicy"]["fullTextPaths"]]

    assert unchangeable_differences(INDEX | {"fullTextPolicy": {"fullTextPaths": german}}, present) == [
        "its full-text policy has other paths or languages"
    ]


async def test_an_account_that_refuses_the_index_is_told_the_setting(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = INDEX | {"globalSecondaryIndex": {"sourceCollectionId": "posts", "definition": "SELECT VALUE 1"}}
    monkeypatch.setattr("management.provision.declared_containers", lambda: [refused])

    with pytest.raises(ManagementError, match="set BLOG_SEARCH=0"):
        await provisioned(blog)


def test_the_template_deploys_the_same_index() -> None:
    template = (REPOSITORY / "infra" / "search.bicep").read_text(encoding="utf-8")

    used = set(re.findall(r"\bdefinition\.(\w+)", template))
    assert used == INDEX.keys() - {"enabledBy", "storedProcedures", "triggers"}
    assert INDEX["storedProcedures"] == INDEX["triggers"] == []
