"""Operations in one logical partition reject a key that azure-cosmos would take for another one, or for all."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue

from shared.platform.database.scope import request_scope
from tests.blog import Blog


@pytest.mark.parametrize("key", [None, 5, True, [], ["a"], NonePartitionKeyValue, NullPartitionKeyValue])
async def test_a_key_that_is_not_a_string_is_rejected_without_a_request(blog: Blog, key: Any) -> None:
    with request_scope() as scope:
        with pytest.raises(TypeError):
            await blog.posts.query("SELECT * FROM c", {}, partition_key=key, page_size=1)
        with pytest.raises(TypeError):
            await blog.posts.execute("createComment", key)

    assert scope.responses == 0
