"""Problem details in responses."""

from __future__ import annotations

from tests.api import ApiResponse


def assert_problem(answer: ApiResponse, status: int, title: str, instance: str) -> None:
    """Check for problem details (RFC 9457) without extra members."""
    assert (answer.status, answer.body["status"], answer.body["title"]) == (status, status, title)
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert answer.body["type"] == "/api/docs#" + title.lower().replace(" ", "-")
    assert answer.body["instance"] == instance
    assert answer.body["detail"]
    assert set(answer.body) - {"errors"} == {"type", "title", "status", "detail", "instance"}
    assert ("errors" in answer.body) == (status == 422)
