"""Titles, posts and comments need a visible character, and have no control characters."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from pydantic import ValidationError

from shared.models.base import check_text
from shared.models.comment import NewComment
from shared.models.post import NewPost, PostChanges
from shared.platform.models import EMPTY

INVISIBLE = [
    *("\u200e", "\u200b", "\u00ad", "\u202d", "\u3164", "\u2800", "\ufeff", "\u115f", "\u00a0", "\u3000", "\u2060"),
    *("\ufff9\ufffb", "\U000e0020", "\ufe0f", "\u200b \r\n\u2800\t" * 800),
]
BODIES = {
    "title": [(NewPost, {"userId": "u", "content": "c"}), (PostChanges, {"content": "c"})],
    "content": [
        *((NewPost, {"userId": "u", "title": "t"}), (PostChanges, {"title": "t"}), (NewComment, {"userId": "u"})),
    ],
}
FIELDS = [(model, field, others) for field, bodies in BODIES.items() for model, others in bodies]


def fault(model: type, field: str, others: dict[str, str], text: str) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate({**others, field: text})
    [error] = refused.value.errors()
    assert error["loc"] == (field,)
    return str(error["msg"])


@pytest.mark.parametrize("text", INVISIBLE, ids=lambda text: ascii(text[:2]))
@pytest.mark.parametrize(("model", "field", "others"), FIELDS)
def test_a_text_without_a_visible_character_is_refused(
    model: type, field: str, others: dict[str, str], text: str
) -> None:
    shown = fault(model, field, others, text if field == "content" else text[:200])

    assert EMPTY in shown or "at least 1 character" in shown


@pytest.mark.parametrize("control", ["\x00", "\x01", "\x0b", "\x1b", "\x7f", "\x85", "\x9f", "\ufffe", "\r", "\r\r\n"])
@pytest.mark.parametrize(("model", "field", "others"), FIELDS)
def test_a_control_character_is_refused_by_name(model: type, field: str, others: dict[str, str], control: str) -> None:
    assert f"U+{ord(control[0]):04X}" in fault(model, field, others, f"a{control}b")


def test_only_line_ends_and_tabs_of_all_control_characters_are_accepted() -> None:
    controls = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Cc"]

    accepted = [control for control in controls if _is_accepted(f"a{control}b")]

    assert accepted == ["\t", "\n"]
    assert _is_accepted("a\r\nb\r\n")


@pytest.mark.parametrize("text", ["x", "!", "é", "王", "😀", "👁️\u200d🗨️", "\u0301", "\ue000", "\u200bx", "٣", "›"])
def test_a_visible_character_is_enough(text: str) -> None:
    assert check_text(text) == text


def _is_accepted(text: str) -> bool:
    try:
        check_text(text)
    except ValueError:
        return False
    return True
