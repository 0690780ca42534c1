"""The test's blog as the management commands see it."""

from __future__ import annotations

import pytest

from shared.data.blog import Blog as ManagedBlog
from tests.blog import Blog


@pytest.fixture
def managed(blog: Blog) -> ManagedBlog:
    return ManagedBlog(blog.users, blog.posts, blog.feed, blog.failures)
