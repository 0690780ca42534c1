"""Unicode scripts: names that mix them can look like other names, such as `оlga` with a Cyrillic о."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]  # has no annotations

# The scripts in modern use: https://www.unicode.org/reports/tr31/#Table_Recommended_Scripts and
# https://www.unicode.org/reports/tr31/#Table_Limited_Use_Scripts. All other scripts count as one.
_SCRIPTS = (
    "Adlm Arab Armn Beng Bopo Cakm Cans Cham Cher Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Hmnp Java "
    "Kali Kana Khmr Knda Lana Laoo Latn Lepc Limb Lisu Mand Mlym Mtei Mymr Newa Nkoo Olck Orya Plrd Rohg Saur Sinh "
    "Sund Sylo Syrc Tale Talu Taml Tavt Telu Tfng Thaa Thai Tibt Vaii Wcho Yiii"
)
# The level "highly restrictive" also allows these combinations:
# https://www.unicode.org/reports/tr39/#Restriction_Level_Detection
_TOGETHER = ("Latn Hani Hira Kana", "Latn Hani Bopo", "Latn Hani Hang")


def _characters(scripts: str) -> str:
    return "".join(rf"\p{{scx={script}}}" for script in scripts.split())


_ONE_SCRIPT = regex.compile(
    "|".join(f"[{_characters(scripts)}{_characters('Zyyy Zinh')}]*" for scripts in (*_SCRIPTS.split(), *_TOGETHER))
    + f"|[^{_characters(_SCRIPTS)}]*"
)
_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")


def mixes_scripts(text: str) -> bool:
    """Return whether the characters of the text belong neither to one script nor to a usual combination."""
    return _ONE_SCRIPT.fullmatch(text) is None


def has_invisible(text: str) -> bool:
    """Return whether the text has a default-ignorable code point, which is not shown, such as a Hangul filler."""
    return _IGNORABLE.search(text) is not None
