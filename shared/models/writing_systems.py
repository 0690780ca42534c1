"""Unicode scripts: the letters and marks of names.

Names that mix scripts can look like other names, such as `оlga` with a Cyrillic о. All properties come from the
`regex` package, so they do not depend on the version of Python.
"""

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
# Letters, each with its marks, as in identifiers (https://www.unicode.org/reports/tr31/#R1), and what usernames allow
# besides. Of the marks, only U+0345 becomes a letter in the form in which names are compared.
_NAME = regex.compile(
    r"(?:[\p{L}\p{Nl}&&\p{XID_Continue}][\p{M}&&\p{XID_Continue}--\u0345]*+|[\p{Nd}_.\-])*+", regex.V1
)
# https://www.unicode.org/reports/tr39/#Optional_Detection
_STACKED = regex.compile(r"\p{Mn}{5}|(\p{Mn})\1")
# The scripts whose letters, with their marks, write syllables or words: abugidas, syllabaries and logographs
# (https://www.unicode.org/versions/latest/core-spec/chapter-6/, "Writing Systems").
_SYLLABIC = regex.compile(
    "["
    + _characters(
        "Beng Cakm Cans Cham Cher Deva Ethi Gujr Guru Hang Hani Hira Java Kana Khmr Knda Lana Laoo Lepc Limb Mlym Mtei "
        "Mymr Newa Orya Plrd Saur Sinh Sund Sylo Tale Talu Taml Tavt Telu Thai Tibt Vaii Yiii"
    )
    + r"&&[\p{L}\p{Nl}]]",
    regex.V1,
)


def mixes_scripts(text: str) -> bool:
    """Return whether the characters of the text belong neither to one script nor to a usual combination."""
    return _ONE_SCRIPT.fullmatch(text) is None


def is_name(text: str) -> bool:
    """Return whether the text has only letters with their marks, digits, `_`, `-` and `.`."""
    return _NAME.fullmatch(text) is not None


def has_stacked_marks(text: str) -> bool:
    """Return whether a letter has five nonspacing marks, or the same one twice, which no language needs."""
    return _STACKED.search(text) is not None


def has_syllables(text: str) -> bool:
    """Return whether a letter of the text writes a syllable or a word, so that names of two letters are usual."""
    return _SYLLABIC.search(text) is not None
