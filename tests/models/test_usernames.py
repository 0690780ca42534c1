"""Usernames: lookalikes and invisible characters are refused."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.data.username_reservations import normalized, reservation_id
from shared.models.base import USERNAME_CODE_POINTS, check_username
from shared.models.characters import cluster_ends, has_invisible
from shared.platform.models import is_item_id


@pytest.mark.parametrize("name", ["оlga_west", "pаypal", "αdmin", "Ωmega", "аdа1", "ボスбосс", "ㄅㄆ한글", "ᏚᎢᎪᎢᎬdept"])
def test_a_name_that_mixes_scripts_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="mixes alphabets"):
        check_username(name)


@pytest.mark.parametrize("name", ["boss\u3164", "\u115fboss", "\u3164" * 4, "boss\uffa0", "\u1160한글한글"])
def test_a_name_with_invisible_characters_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="invisible"):
        check_username(name)


@pytest.mark.parametrize(
    "name",
    [
        *("olga_west", "ольга.1", "straße", "Łukasz", "Ελένη", "نور_1", "אבגד", "चमक", "ａｄｍｉｎ", "ﬁsh"),
        *("tanaka田中さんカー", "wang王ㄨㄤˊ", "kim金한글", "한글한글", "田中ー郎", "𐌰𐌱𐌲", "ᏣᎳᎩ"),
    ],
)
def test_names_of_one_script_and_the_usual_combinations_are_accepted(name: str) -> None:
    assert check_username(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("राम", "नीला", "নীলা", "ਗੁਰੂ", "નીલા", "ନୀଳା", "கமல்", "సీత", "ಸೀತಾ", "നീല", "නීලා"),
        *("น้ำฝน", "ນາງ", "སྒྲོལ་མ".replace("་", ""), "မောင်", "សុខា", "ሰላም", "ꦱꦫꦶ"),
        *("王伟", "김철", "あい", "アイ", "〇一", "ㄨㄤˊ", "عُمَر", "דָּוִד", "ދިވެހި", "Nguyễn", "José", "Ayşe", "Ѳеодоръ"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_of_every_script_are_accepted_composed_and_decomposed(name: str, form: Literal["NFC", "NFD"]) -> None:
    written = unicodedata.normalize(form, name)

    assert check_username(written) == written
    assert normalized(written) == normalized(name)


@pytest.mark.parametrize("name", ["ab", "é1", "бо", "אב", "عم", "Ωω", "e\u0301a", "王", "김", "का", "각"])
def test_a_name_is_at_least_three_characters_or_two_syllables(name: str) -> None:
    with pytest.raises(ValueError, match=f"at least {2 if name in ('王', '김', 'का', '각') else 3} "):
        check_username(unicodedata.normalize("NFD", name))


@pytest.mark.parametrize("name", ["é" * 30, "नि" * 30, "김" * 30, "王" * 30])
def test_length_is_counted_in_grapheme_clusters(name: str) -> None:
    for form in ("NFC", "NFD"):
        written = unicodedata.normalize(form, name)
        assert check_username(written) == written
    with pytest.raises(ValueError, match="at most 30"):
        check_username(name + name[0])


@pytest.mark.parametrize(
    "name", ["\u0301abc", "_\u0301abc", "1\u0301abc", "a\u20ddbc", "a\u0488bc", "a‿b", "a·b", "😀王伟"]
)
def test_marks_belong_to_letters(name: str) -> None:
    with pytest.raises(ValueError, match="Use only letters"):
        check_username(name)


@pytest.mark.parametrize("name", ["abq\u0323\u0324\u0325\u0326\u0327", "abq\u0301\u0301", "abc" + "\u0323" * 50])
def test_a_letter_has_few_marks(name: str) -> None:
    with pytest.raises(ValueError, match="too many accents"):
        check_username(name)


# The second is a Chinese character of Unicode 17, which `regex` knows before the standard library does.
@pytest.mark.parametrize("name", ["abc\U0003fff0", "王\U000323b0王"])
def test_a_character_without_a_known_normal_form_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Use only letters"):
        check_username(name)


@given(st.text(st.characters(categories=("L", "M", "N", "P", "Cf")), max_size=40))
@example("ά\u0345\u0345ab")
@example("α\u0327\u0345bc")
def test_an_accepted_name_is_visible_bounded_and_compared_by_nfkc_casefold(name: str) -> None:
    try:
        check_username(name)
    except ValueError:
        return
    composed = unicodedata.normalize("NFC", name)
    assert 2 <= len(list(cluster_ends(composed))) <= 30
    assert not has_invisible(name)
    assert len(normalized(name)) <= USERNAME_CODE_POINTS
    assert is_item_id(reservation_id(name))
    assert normalized(name) == nfkc_casefold(name)
    assert check_username(composed) == composed


ALL_CHARACTERS = [range(start, start + 0x8000) for start in range(0, sys.maxunicode, 0x8000)]


@pytest.mark.parametrize(
    "characters",
    [
        pytest.param(random.Random(1).sample(range(0x20000), 4_000), id="sample"),
        *(pytest.param(block, marks=pytest.mark.nightly) for block in ALL_CHARACTERS),
    ],
)
def test_every_accepted_character_is_compared_by_nfkc_casefold_after_any_letter(characters: Sequence[int]) -> None:
    for character in map(chr, characters):
        for name in (f"{letter}{character}{letter}{character}" for letter in "aαß"):
            try:
                check_username(name)
            except ValueError:
                continue
            assert normalized(name) == nfkc_casefold(name), ascii(name)


def test_accepted_names_are_compared_by_full_nfkc_casefold() -> None:
    """So the reservations of existing names are found under the same IDs as before."""
    differing = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character)[0] in "LN"
        and not has_invisible(character)
        and normalized(character) != nfkc_casefold(character)
    ]

    assert differing == []


def nfkc_casefold(text: str) -> str:
    """toNFKC_Casefold (Unicode 16, section 3.13), for text without default-ignorable code points."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold()).casefold()
    return unicodedata.normalize("NFKC", folded)
