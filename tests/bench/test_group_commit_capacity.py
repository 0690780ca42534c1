"""Group commit saves request units on a post that many users like at once."""

from __future__ import annotations

from bench.capacity.hot_post import LIKE_METHODS, LikeMethod, take


async def test_group_commit_writes_more_likes_per_second_than_single_batches() -> None:
    single = await take(LIKE_METHODS[1], partition_ru=1_000)
    grouped = await take(LikeMethod("grouped"), partition_ru=1_000)

    assert grouped.ru_per_like < single.ru_per_like / 2
