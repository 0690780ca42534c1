"""Markdown that takes a slow parser forever."""

from __future__ import annotations

LONGEST = 100_000
# Each takes most renderers long: 11 s and 3 GB for the first.
HOSTILE = {
    "reference": "[a]: http://x/" + "b" * (LONGEST // 2) + "\n\n" + "[a] " * (LONGEST // 8 - 4),
    "footnote": "[^1]: x\n\n" + "[^1]" * 24_990,
    "images": "![" * 50_000,
    "brackets": "[" * 100_000,
    "wide table": "|a" * 2_500 + "|\n" + "|-" * 2_500 + "|\n" + "a\n" * 44_990,
    "quotes": "> " * 50_000,
    "lists": "- > 1. " * 14_000,
    "emphasis": "*_" * 25_000 + "_*" * 25_000,
    "links": "[a](b)" * 16_666,
    "addresses": "http://a.b " * 9_090,
    "parentheses": "http://a.b/" + "(" * 49_990 + ")" * 49_990,
    "escapes": '"' * 100_000,
}
