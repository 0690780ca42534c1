"""Usernames: lookalikes and invisible characters are refused."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from shared.data.username_reservations import normalized
from shared.models.base import check_username
from shared.models.scripts import has_invisible


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
