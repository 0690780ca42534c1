"""Fixtures of the tests that checks share with tests/."""

from __future__ import annotations

from tests.conftest import api, blog, emulator, restored_environment, shared_blog, transaction_mode

__all__ = ["api", "blog", "emulator", "restored_environment", "shared_blog", "transaction_mode"]
