"""Tests of stored procedures, most of which share a database."""

from __future__ import annotations

import pytest

from tests.blog import Blog


@pytest.fixture
def blog(shared_blog: Blog) -> Blog:
    """Each test writes to posts of its own."""
    return shared_blog
