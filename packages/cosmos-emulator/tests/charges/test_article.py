"""The article's requests in both profiles, compared with the charges published in 2019.

Source: learn.microsoft.com/azure/cosmos-db/nosql/model-partition-example. The article gives its
data only as ranges, so the profile was fitted with these assumptions: a post has 20 comments (12.5 on average) and 50
likes, a user has 29 posts, the feed has 100, and the posts container has 68 physical partitions, each of which loads
18 items for a merged ORDER BY. The constants below give the text lengths.
"""

from collections.abc import Callable
from typing import Any

import pytest
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.charges.model import item_size_bytes
from cosmos_emulator.indexing_policy import IndexingPolicy

PARTITIONS = 68
MERGED_ITEMS = PARTITIONS * 18
USER_POSTS = 29
FEED_POSTS = 100
COMMENTS, AVERAGE_COMMENTS, LIKES = 20, 12.5, 50
NAME_LOOKUP_RU = 1.0

Document = dict[str, Any]
Request = Callable[[ChargeModel], float]

SYSTEM: Document = {
    "_rid": "r" * 24,
    "_self": "s" * 62,
    "_etag": '"00000000-0000-0000-0000-000000000000"',
    "_attachments": "attachments/",
    "_ts": 1_700_000_000,
}
ID, NAME, TITLE, DATE = "i" * 36, "u" * 12, "t" * 50, "d" * 28
CONTENT, SUMMARY = "c" * 1480, "c" * 100

USER_V1: Document = {"id": ID, "username": NAME, **SYSTEM}
LIKE_V1: Document = {"id": ID, "type": "like", "postId": ID, "userId": ID, "creationDate": DATE, **SYSTEM}
COMMENT_V1: Document = {**LIKE_V1, "type": "comment", "content": CONTENT}
POST_V1: Document = {**COMMENT_V1, "type": "post", "title": TITLE}
LIKE = {**LIKE_V1, "userUsername": NAME}
COMMENT = {**COMMENT_V1, "userUsername": NAME}
POST = {**POST_V1, "userUsername": NAME, "commentCount": 20, "likeCount": 50}
COUNTED_POST = {**POST, "commentCount": 21, "_ts": SYSTEM["_ts"] + 1}
SHORT_POST = {**POST, "content": SUMMARY}

posts = IndexingPolicy(None, ["/postId"])
users_v1 = IndexingPolicy(None, ["/id"])


def loaded(model: ChargeModel, partitions: int, items: float, item: Document) -> float:
    return model.query(partitions, items, items * item_size_bytes(item), filtered=True)


def count(model: ChargeModel, items: float, item: Document) -> float:
    return model.query(1, items, items * item_size_bytes(item), filtered=True, aggregate=True)


def read(model: ChargeModel, item: Document) -> float:
    return model.point_read(item_size_bytes(item))


def count_of_one_post(model: ChargeModel, comments: float) -> float:
    return count(model, comments, COMMENT_V1) + count(model, LIKES, LIKE_V1)


def script(model: ChargeModel, created: Document) -> float:
    writes_ru = model.replace(POST, COUNTED_POST, posts) + model.create(created, posts)
    return model.script(read(model, POST), writes_ru)


def query_posts_with_counts(model: ChargeModel, loaded_items: int, returned: int, names: int) -> float:
    counts_ru = returned * count_of_one_post(model, AVERAGE_COMMENTS)
    return loaded(model, PARTITIONS, loaded_items, POST_V1) + counts_ru + names * NAME_LOOKUP_RU


REQUESTS: dict[str, Request] = {
    "C1 V1": lambda model: model.create(USER_V1, users_v1),
    "Q1 V1": lambda model: read(model, USER_V1),
    "Q2 V1": lambda model: read(model, POST_V1) + NAME_LOOKUP_RU + count_of_one_post(model, COMMENTS),
    "Q2 V2": lambda model: read(model, POST),
    "Q3 V1": lambda model: query_posts_with_counts(model, USER_POSTS, USER_POSTS, 1),
    "Q3 V2": lambda model: loaded(model, PARTITIONS, USER_POSTS, POST),
    "Q3 V3": lambda model: loaded(model, 1, USER_POSTS, SHORT_POST),
    "C3 V1": lambda model: model.create(COMMENT_V1, posts),
    "C3 V2": lambda model: script(model, COMMENT),
    "Q5 V1": lambda model: loaded(model, 1, LIKES, LIKE_V1) + LIKES * NAME_LOOKUP_RU,
    "Q5 V2": lambda model: loaded(model, 1, LIKES, LIKE),
    "Q6 V1": lambda model: query_posts_with_counts(model, MERGED_ITEMS, FEED_POSTS, FEED_POSTS),
    "Q6 V2": lambda model: loaded(model, PARTITIONS, MERGED_ITEMS, POST),
    "C2 V1": lambda model: model.create(POST_V1, posts),
    "C4 V1": lambda model: model.create(LIKE_V1, posts),
    "C4 V2": lambda model: script(model, LIKE),
    "Q4 V1": lambda model: loaded(model, 1, COMMENTS, COMMENT_V1) + COMMENTS * NAME_LOOKUP_RU,
    "Q4 V2": lambda model: loaded(model, 1, COMMENTS, COMMENT),
    "Q6 V3": lambda model: loaded(model, 1, FEED_POSTS, SHORT_POST),
}

# request: modeled 2019, published 2019, modeled 2026
TABLE = {
    "C1 V1": (5.71, 5.71, 5.71),
    "Q1 V1": (1.00, 1.00, 1.00),
    "Q2 V1": (18.68, 19.54, 8.02),
    "Q2 V2": (1.04, 1.00, 1.04),
    "Q3 V1": (626.11, 619.41, 367),
    "Q3 V2": (199.72, 201.54, 193),
    "Q3 V3": (6.83, 6.46, 3.18),
    "C3 V1": (8.58, 8.57, 8.58),
    "C3 V2": (15.24, 15.27, 27.58),
    "Q5 V1": (58.57, 58.92, 53.2),
    "Q5 V2": (8.72, 8.92, 3.24),
    "Q6 V1": (2087.66, 2063.54, 937),
    "Q6 V2": (527.79, 532.33, 239),
    "C2 V1": (9.03, 8.76, 9.03),
    "C4 V1": (7.05, 7.05, 7.05),
    "C4 V2": (14.41, 14.67, 26.01),
    "Q4 V1": (28.07, 27.72, 23.6),
    "Q4 V2": (8.13, 7.72, 3.56),
    "Q6 V3": (16.66, 16.97, 4.04),
}


@pytest.mark.parametrize(
    ("item", "size_kb"),
    [(USER_V1, 0.27), (LIKE, 0.43), (COMMENT, 1.89), (POST, 1.98), (SHORT_POST, 0.63)],
    ids=["user", "like", "comment", "post", "short post"],
)
def test_item_sizes_match_the_fit(item: Document, size_kb: float) -> None:
    assert item_size_bytes(item) / 1024 == pytest.approx(size_kb, abs=0.005)


@pytest.mark.parametrize("request_name", TABLE)
def test_the_2019_profile_reproduces_the_fit(request_name: str) -> None:
    modeled_ru, _, _ = TABLE[request_name]

    assert REQUESTS[request_name](ChargeModel("article-2019")) == pytest.approx(modeled_ru, rel=0.003, abs=0.006)


@pytest.mark.parametrize("request_name", TABLE)
def test_the_2019_profile_is_within_six_percent_of_the_published_charge(request_name: str) -> None:
    _, published_ru, _ = TABLE[request_name]

    assert REQUESTS[request_name](ChargeModel("article-2019")) == pytest.approx(published_ru, rel=0.06)


@pytest.mark.parametrize("request_name", TABLE)
def test_the_2026_profile_reproduces_its_predictions(request_name: str) -> None:
    _, _, predicted_ru = TABLE[request_name]

    assert REQUESTS[request_name](ChargeModel("service-2026")) == pytest.approx(predicted_ru, rel=0.003, abs=0.006)


def included(*names: str) -> Document:
    return {
        "includedPaths": [{"path": f"/{name}/?"} for name in names],
        "excludedPaths": [{"path": "/*"}],
    }


USER_V3: Document = {**USER_V1, "type": "user", "userId": ID}
USERS = included("userId", "type", "creationDate")
FEED = included("type", "creationDate")
POSTS = included("postId", "type", "userId", "creationDate")


@pytest.mark.parametrize(
    ("item", "key", "tuned", "default_ru", "tuned_ru"),
    [
        pytest.param(USER_V3, "/userId", USERS, 6.67, 6.29, id="create user"),
        pytest.param(POST, "/postId", POSTS, 10.26, 8.35, id="create post"),
        pytest.param(SHORT_POST, "/userId", USERS, 8.95, 6.67, id="short copy to users"),
        pytest.param(SHORT_POST, "/type", FEED, 8.95, 6.29, id="short copy to feed"),
    ],
)
def test_a_policy_limited_to_queried_paths_makes_writes_cheaper(
    item: Document, key: str, tuned: Document, default_ru: float, tuned_ru: float
) -> None:
    model = ChargeModel()

    assert model.create(item, IndexingPolicy(None, [key])) == pytest.approx(default_ru, abs=0.006)
    assert model.create(item, IndexingPolicy(tuned, [key])) == pytest.approx(tuned_ru, abs=0.006)


def test_a_patch_of_the_comment_count_costs_a_rewrite_of_the_post() -> None:
    tuned = IndexingPolicy(POSTS, ["/postId"])

    assert ChargeModel().patch(POST, COUNTED_POST, 1, tuned) == pytest.approx(13.21, abs=0.01)
