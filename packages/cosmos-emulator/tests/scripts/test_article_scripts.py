"""Scripts like the article's: a counter with its comment, a paged rename, a truncating trigger."""

from __future__ import annotations

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.scripts import ScriptLimits
from tests.scripts.memory_operations import MemoryOperations, create_with_triggers, execute

ADD_COMMENT = """
function addComment(postId, comment) {
    const posts = getContext().getCollection();
    const queued = posts.readDocument(`${posts.getAltLink()}/docs/${postId}`, (error, post) => {
        if (error) throw error;
        post.commentCount += 1;
        mustBeQueued(posts.replaceDocument(post._self, post, { etag: post._etag }, (error) => {
            if (error) throw error;
            mustBeQueued(posts.createDocument(posts.getSelfLink(), comment, (error, stored) => {
                if (error) throw error;
                getContext().getResponse().setBody(stored.id);
            }));
        }));
    });
    mustBeQueued(queued);

    function mustBeQueued(accepted) {
        if (!accepted) throw new Error(ErrorCodes.RetryWith, 'out of time');
    }
}
"""

RENAME = """
function rename(userId, name, continuation) {
    const items = getContext().getCollection();
    let renamed = 0;
    readPage(continuation);

    function readPage(continuation) {
        const query = { query: 'by user', parameters: [{ name: '@userId', value: userId }] };
        const options = { pageSize: 10, continuation };
        if (!items.queryDocuments(items.getSelfLink(), query, options, onPage)) stop(continuation);
    }

    function onPage(error, page, options) {
        if (error) throw error;
        for (const item of page) {
            item.username = name;
            if (!items.replaceDocument(item._self, item, { etag: item._etag })) return stop(continuation);
            renamed += 1;
        }
        if (options.continuation) readPage(options.continuation);
        else stop(null);
    }

    function stop(continuation) {
        getContext().getResponse().setBody({ renamed, continuation });
    }
}
"""

KEEP_THREE = """
function keepThree() {
    const feed = getContext().getCollection();
    feed.queryDocuments(feed.getSelfLink(), 'how many', (error, [count]) => {
        if (error) throw error;
        const surplus = count - 3;
        if (surplus <= 0) return;
        const oldest = { query: 'oldest', parameters: [{ name: '@n', value: surplus }] };
        feed.queryDocuments(feed.getSelfLink(), oldest, (error, posts) => {
            if (error) throw error;
            for (const post of posts) feed.deleteDocument(post._self, (error) => { if (error) throw error; });
        });
    });
}
"""


def _of_user(rows: list[JsonObject], values: dict[str, Json]) -> list[Json]:
    return [row for row in rows if row["userId"] == values["@userId"]]


def _oldest(rows: list[JsonObject], values: dict[str, Json]) -> list[Json]:
    limit = values["@n"]
    assert isinstance(limit, int)
    return list(sorted(rows, key=lambda row: str(row["date"]))[:limit])


def _blog() -> MemoryOperations:
    return MemoryOperations({"id": "post", "commentCount": 2})


def test_counter_and_comment_change_together() -> None:
    operations = _blog()

    result = execute(operations, ADD_COMMENT, "post", {"id": "c1", "pk": "p"})

    assert result.body == "c1"
    assert operations.documents["post"]["commentCount"] == 3
    assert "c1" in operations.documents


def test_an_unknown_post_returns_400_with_404_and_writes_nothing() -> None:
    operations = _blog()

    with pytest.raises(CosmosError) as failure:
        execute(operations, ADD_COMMENT, "other", {"id": "c1", "pk": "p"})

    assert (failure.value.status, failure.value.sub_status) == (400, 404)
    assert operations.performed == ["read"]


@pytest.mark.parametrize("comment", [{"id": "post", "pk": "p"}, {"id": "c1", "pk": "other"}])
def test_a_failed_comment_leaves_the_counter_unchanged(comment: JsonObject) -> None:
    operations = _blog()

    with pytest.raises(CosmosError):
        execute(operations, ADD_COMMENT, "post", comment)

    assert operations.documents["post"]["commentCount"] == 2
    assert "c1" not in operations.documents


@pytest.mark.parametrize("accepted", [0, 1, 2])
def test_a_script_that_checks_acceptance_rolls_back_a_refused_write(accepted: int) -> None:
    operations = _blog()

    with pytest.raises(CosmosError) as failure:
        execute(
            operations,
            ADD_COMMENT,
            "post",
            {"id": "c1", "pk": "p"},
            limits=ScriptLimits(accepted_operations=accepted),
        )

    assert failure.value.sub_status == 449
    assert operations.documents["post"]["commentCount"] == 2


def test_a_script_that_ignores_a_refused_write_commits_partial_work() -> None:
    operations = _blog()
    naive = ADD_COMMENT.replace("if (!accepted) throw", "if (false) throw")

    execute(operations, naive, "post", {"id": "c1", "pk": "p"}, limits=ScriptLimits(accepted_operations=2))

    assert operations.documents["post"]["commentCount"] == 3
    assert "c1" not in operations.documents


def test_a_rename_follows_the_pages_and_touches_only_the_user() -> None:
    mine: list[JsonObject] = [{"id": f"m{n}", "userId": "u", "username": "old"} for n in range(25)]
    other: JsonObject = {"id": "other", "userId": "x' OR '1'='1", "username": "theirs"}
    operations = MemoryOperations(*mine, other, queries={"by user": _of_user})

    result = execute(operations, RENAME, "u", "new")

    assert result.body == {"renamed": 25, "continuation": None}
    assert operations.documents["other"]["username"] == "theirs"
    assert {document["username"] for document in operations.documents.values() if document["userId"] == "u"} == {"new"}


def test_the_caller_continues_a_rename_that_runs_out_of_operations() -> None:
    mine: list[JsonObject] = [{"id": f"m{n}", "userId": "u", "username": "old"} for n in range(25)]
    operations = MemoryOperations(*mine, queries={"by user": _of_user})

    first = execute(operations, RENAME, "u", "new", limits=ScriptLimits(accepted_operations=11))
    assert first.body == {"renamed": 10, "continuation": "10"}
    second = execute(operations, RENAME, "u", "new", "10")

    assert second.body == {"renamed": 15, "continuation": None}


def test_a_post_trigger_can_truncate_its_partition() -> None:
    posts: list[JsonObject] = [{"id": f"p{n}", "date": f"2024-01-0{n}"} for n in range(1, 4)]
    operations = MemoryOperations(*posts, queries={"how many": lambda rows, _: [len(rows)], "oldest": _oldest})

    for n in range(4, 7):
        create_with_triggers(operations, {"id": f"p{n}", "pk": "p", "date": f"2024-01-0{n}"}, post=KEEP_THREE)

    assert sorted(operations.documents) == ["p4", "p5", "p6"]
