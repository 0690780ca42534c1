"""The texts of titles, posts and comments: visible, without control characters, in NFC, and not too long."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from pydantic import ValidationError

from shared.models.base import POST_BYTES
from shared.models.characters import check_text
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


@pytest.mark.parametrize(("model", "field", "others"), FIELDS)
def test_equivalent_texts_are_stored_in_one_form_before_they_are_measured(
    model: type, field: str, others: dict[str, str]
) -> None:
    """https://www.unicode.org/reports/tr15/#Canon_Compat_Equivalence"""
    composed = "crème brûlée 한글 "[:12] * 16
    sent = [unicodedata.normalize(form, composed) for form in ("NFC", "NFD")]

    stored = {getattr(model.model_validate({**others, field: text}), field).strip() for text in sent}

    assert stored == {composed.strip()}


@pytest.mark.parametrize("text", ["e" + "\u0301" * 31, "x" + "\u0301\u0323" * 200_000], ids=["short", "longest"])
def test_a_letter_with_too_many_accents_is_refused_before_they_are_sorted(text: str) -> None:
    with pytest.raises(ValueError, match="too many accents"):
        check_text(text)


def test_a_letter_can_have_thirty_accents() -> None:
    assert check_text("x" + "\u0301" * 30) == "x" + "\u0301" * 30


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("&#1;x", "U+0001"),
        ("x &#134;y", "U+0086"),
        ("&nbsp;", EMPTY),
        ("&ZeroWidthSpace;&#x3164;", EMPTY),
        ("[a]: http://example.com", EMPTY),
        ("#\n\n[a]: <> '&nbsp;'", EMPTY),
        ("e" + "&#x301;" * 31, "too many accents"),
    ],
)
def test_a_post_is_also_checked_as_readers_see_it(content: str, expected: str) -> None:
    assert expected in fault(PostChanges, "content", {"title": "t"}, content)
    assert NewComment.model_validate({"userId": "u", "content": content}).content == content


@pytest.mark.parametrize(
    "content",
    [
        "*",
        ">",
        "---",
        "```",
        "&#x200b;\n\n# Only a heading",
        "![](https://example.com/a.png)",
        "```\ncode\n```",
        "- > 1. " * 14_000,
    ],
)
def test_a_post_with_anything_to_see_is_accepted(content: str) -> None:
    assert PostChanges.model_validate({"title": "t", "content": content}).content == content


def test_a_post_has_a_limit_in_bytes() -> None:
    longest = "😀" * (POST_BYTES // 4)

    assert PostChanges.model_validate({"title": "t", "content": longest}).content == longest
    assert "131,072 bytes" in fault(PostChanges, "content", {"title": "t"}, longest + "!")


def _is_accepted(text: str) -> bool:
    try:
        check_text(text)
    except ValueError:
        return False
    return True
