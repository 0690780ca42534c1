"""String functions. Positions and lengths count code points; other types are undefined."""

from __future__ import annotations

from collections.abc import Callable

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.functions.regex import RegexFunctions
from cosmos_emulator.query.sizes import check_text
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Undefined, is_integral

MAX_REPLICATED = 10_000
"""Maximum length of a REPLICATE result in characters (learn.microsoft.com/azure/cosmos-db/nosql/query/replicate)."""


def _matcher(test: Callable[[str, str], bool]) -> Callable[..., bool | Undefined]:

    def match(text: JsonOrUndefined, part: JsonOrUndefined, ignore_case: JsonOrUndefined = False) -> bool | Undefined:
        if type(text) is not str or type(part) is not str or type(ignore_case) is not bool:
            return UNDEFINED
        return test(text.casefold(), part.casefold()) if ignore_case else test(text, part)

    return match


def _transformer(transform: Callable[[str], JsonOrUndefined]) -> Callable[..., JsonOrUndefined]:

    def apply(text: JsonOrUndefined) -> JsonOrUndefined:
        return transform(text) if type(text) is str else UNDEFINED

    return apply


def _trimmer(trim: Callable[[str, str | None], str]) -> Callable[..., str | Undefined]:
    """Make a function of a string and the characters to trim (default: whitespace)."""

    def apply(text: JsonOrUndefined, *characters: JsonOrUndefined) -> str | Undefined:
        if type(text) is not str:
            return UNDEFINED
        if not characters:
            return trim(text, None)
        return trim(text, characters[0]) if type(characters[0]) is str else UNDEFINED

    return apply


def _concat(*parts: JsonOrUndefined) -> str | Undefined:
    texts = [part for part in parts if type(part) is str]
    check_text(sum(map(len, texts)))
    return "".join(texts) if len(texts) == len(parts) else UNDEFINED


def _substring(text: JsonOrUndefined, start: JsonOrUndefined, length: JsonOrUndefined) -> str | Undefined:
    if type(text) is not str or not is_integral(start) or not is_integral(length):
        return UNDEFINED
    first = max(int(start), 0)
    return text[first : first + max(int(length), 0)]


def _left(text: JsonOrUndefined, length: JsonOrUndefined) -> str | Undefined:
    if type(text) is not str or not is_integral(length):
        return UNDEFINED
    return text[: max(int(length), 0)]


def _right(text: JsonOrUndefined, length: JsonOrUndefined) -> str | Undefined:
    if type(text) is not str or not is_integral(length):
        return UNDEFINED
    return text[max(len(text) - max(int(length), 0), 0) :]


def _index_of(text: JsonOrUndefined, part: JsonOrUndefined, start: JsonOrUndefined = 0) -> int | Undefined:
    if type(text) is not str or type(part) is not str or not is_integral(start):
        return UNDEFINED
    return text.find(part, max(int(start), 0))


def _last_index_of(text: JsonOrUndefined, part: JsonOrUndefined, *start: JsonOrUndefined) -> int | Undefined:
    """Search backward for a part that ends at or before `start`."""
    if type(text) is not str or type(part) is not str:
        return UNDEFINED
    if not start:
        return text.rfind(part)
    return text.rfind(part, 0, max(int(start[0]) + 1, 0)) if is_integral(start[0]) else UNDEFINED


def _containing(*, all_parts: bool, ignore_case: bool) -> Callable[..., bool | Undefined]:
    """Make a conjunction or disjunction of CONTAINS, in which an undefined part decides only if no other does."""

    def test(text: JsonOrUndefined, *parts: JsonOrUndefined) -> bool | Undefined:
        if type(text) is not str:
            return UNDEFINED
        whole = text.casefold() if ignore_case else text
        texts = [part.casefold() if ignore_case else part for part in parts if type(part) is str]
        if any((part in whole) is not all_parts for part in texts):
            return not all_parts
        return all_parts if len(texts) == len(parts) else UNDEFINED

    return test


def _cut(find: Callable[[str, str], int], *, after: bool) -> Callable[..., str | Undefined]:
    """Make a function of a string and a delimiter. Without it, the result is undefined; the service's is unknown."""

    def part(text: JsonOrUndefined, delimiter: JsonOrUndefined) -> str | Undefined:
        if type(text) is not str or type(delimiter) is not str:
            return UNDEFINED
        found = find(text, delimiter)
        if found < 0:
            return UNDEFINED
        return text[found + len(delimiter) :] if after else text[:found]

    return part


def _replace(text: JsonOrUndefined, old: JsonOrUndefined, new: JsonOrUndefined) -> str | Undefined:
    if type(text) is not str or type(old) is not str or type(new) is not str:
        return UNDEFINED
    if not old:
        return text
    check_text(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _replicate(text: JsonOrUndefined, times: JsonOrUndefined) -> str | Undefined:
    if type(text) is not str or not is_integral(times):
        return UNDEFINED
    if times < 0 or len(text) * times > MAX_REPLICATED:
        return UNDEFINED
    return text * int(times) if text else text


def _string_join(parts: JsonOrUndefined, separator: JsonOrUndefined) -> str | Undefined:
    if type(parts) is not list or type(separator) is not str:
        return UNDEFINED
    texts = [part for part in parts if type(part) is str]
    check_text(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts) if len(texts) == len(parts) else UNDEFINED


def _string_split(text: JsonOrUndefined, separator: JsonOrUndefined) -> JsonOrUndefined:
    if type(text) is not str or type(separator) is not str:
        return UNDEFINED
    return [*text.split(separator)] if separator else [text]


STRING_FUNCTIONS = table(
    Function("CONCAT", _concat, 2, None),
    Function("CONTAINS", _matcher(lambda text, part: part in text), 2, 3),
    Function("CONTAINS_ALL_CI", _containing(all_parts=True, ignore_case=True), 2, None),
    Function("CONTAINS_ALL_CS", _containing(all_parts=True, ignore_case=False), 2, None),
    Function("CONTAINS_ANY_CI", _containing(all_parts=False, ignore_case=True), 2, None),
    Function("CONTAINS_ANY_CS", _containing(all_parts=False, ignore_case=False), 2, None),
    Function("ENDSWITH", _matcher(str.endswith), 2, 3),
    Function("INDEX_OF", _index_of, 2, 3),
    Function("LASTINDEXOF", _last_index_of, 2, 3),
    Function("LASTSUBSTRINGAFTER", _cut(str.rfind, after=True), 2, 2),
    Function("LASTSUBSTRINGBEFORE", _cut(str.rfind, after=False), 2, 2),
    Function("LEFT", _left, 2, 2),
    Function("LENGTH", _transformer(len), 1, 1),
    Function("LOWER", _transformer(str.lower), 1, 1),
    Function("LTRIM", _trimmer(str.lstrip), 1, 2),
    # The compiler calls the functions of Context.regex.
    Function("REGEXEXTRACT", RegexFunctions().extract, 2, 4),
    Function("REGEXEXTRACTALL", RegexFunctions().extract_all, 2, 4),
    Function("REGEXMATCH", RegexFunctions().match, 2, 3),
    Function("REGEXREPLACE", RegexFunctions().replace, 3, 4),
    Function("REGEXREPLACEALL", RegexFunctions().replace_all, 3, 4),
    Function("REPLACE", _replace, 3, 3),
    Function("REPLICATE", _replicate, 2, 2),
    Function("REVERSE", _transformer(lambda text: text[::-1]), 1, 1),
    Function("RIGHT", _right, 2, 2),
    Function("RTRIM", _trimmer(str.rstrip), 1, 2),
    Function("STARTSWITH", _matcher(str.startswith), 2, 3),
    Function("STRINGEQUALS", _matcher(str.__eq__), 2, 3),
    Function("STRINGJOIN", _string_join, 2, 2),
    Function("STRINGSPLIT", _string_split, 2, 2),
    Function("SUBSTRING", _substring, 3, 3),
    Function("SUBSTRINGAFTER", _cut(str.find, after=True), 2, 2),
    Function("SUBSTRINGBEFORE", _cut(str.find, after=False), 2, 2),
    Function("TRIM", _trimmer(str.strip), 1, 2),
    Function("UPPER", _transformer(str.upper), 1, 1),
)
