"""Route templates match like ASP.NET Core's."""

from __future__ import annotations

import pytest
from functions_host.errors import FunctionIndexError
from functions_host.http.route_template import RouteTemplate


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("api/items", "api/items", {}),
        ("api/items", "API/Items/", {}),
        ("api/items", "api/items/1", None),
        ("", "", {}),
        ("items/{id}", "items/5", {"id": "5"}),
        ("items/{Id}", "ITEMS/aB", {"Id": "aB"}),
        ("items/{id}", "items/", None),
        ("items/{id}", "items//", None),
        ("items/{id?}", "items", {}),
        ("items/{id?}", "items/7", {"id": "7"}),
        ("items/{id=none}", "items", {"id": "none"}),
        ("items/{id=none}", "items/7", {"id": "7"}),
        ("{a?}/{b?}", "", {}),
        ("{a?}/{b?}", "x", {"a": "x"}),
        ("{a?}/{b?}", "x/y", {"a": "x", "b": "y"}),
        ("files/{*path}", "files", {}),
        ("files/{*path}", "files/", {}),
        ("files/{*path}", "files/a/b.txt", {"path": "a/b.txt"}),
        ("{*path}", "", {}),
        ("{*path}", "a/b", {"path": "a/b"}),
        ("r/{a}-{b}", "r/x-y-z", {"a": "x-y", "b": "z"}),
        ("r/{a}-{b}", "r/xy", None),
        ("{file}.{ext?}", "readme.txt", {"file": "readme", "ext": "txt"}),
        ("{file}.{ext?}", "readme", {"file": "readme"}),
        ("v{version:int}/x", "v2/x", {"version": "2"}),
        ("a{{b}}", "a{b}", {}),
        ("a.b", "aXb", None),
        ("items/{id}", "items/a%2Fb", {"id": "a%2Fb"}),
        ("items/{id}/sub", "items/é/sub", {"id": "é"}),
    ],
)
def test_a_template_matches_a_path(template: str, path: str, values: dict[str, str] | None) -> None:
    assert RouteTemplate(template).match(path) == values


@pytest.mark.parametrize(
    ("constraint", "accepted", "refused"),
    [
        ("int", ["5", "-5", "2147483647"], ["abc", "1.5", "2147483648"]),
        ("long", ["9223372036854775807"], ["9223372036854775808"]),
        ("bool", ["true", "FALSE"], ["yes"]),
        ("datetime", ["2024-02-29", "2024-02-29T10:00:00", "2-29-2024"], ["2024-13-01", "x"]),
        ("decimal", ["1.5", "-3"], ["1e5", "x"]),
        ("double", ["1.5", "1e5", "NaN"], ["x"]),
        ("float", ["1.5"], ["1.5.5"]),
        ("guid", ["CD2C1638-1638-72D5-1638-DEADBEEF1638", "{cd2c1638-1638-72d5-1638-deadbeef1638}"], ["1"]),
        ("alpha", ["Rick"], ["r2"]),
        ("minlength(4)", ["abcd"], ["abc"]),
        ("maxlength(4)", ["abcd"], ["abcde"]),
        ("length(4)", ["abcd"], ["abc"]),
        ("length(2,4)", ["ab", "abcd"], ["a", "abcde"]),
        ("min(18)", ["18"], ["17", "x"]),
        ("max(120)", ["120"], ["121"]),
        ("range(18,120)", ["91"], ["17"]),
        (r"regex(^\d{{3}}-(a|b)$)", ["123-a", "123-B"], ["12-a"]),
        ("required", ["x"], []),
        ("file", ["a.txt"], ["a", "a."]),
        ("nonfile", ["a"], ["a.txt"]),
        ("int:min(1)", ["1"], ["0", "a"]),
    ],
)
def test_a_constraint_accepts_and_rejects_values(constraint: str, accepted: list[str], refused: list[str]) -> None:
    template = RouteTemplate(f"x/{{v:{constraint}}}")

    assert [value for value in accepted if template.match(f"x/{value}") is None] == []
    assert [value for value in refused if template.match(f"x/{value}") is not None] == []


def test_a_missing_optional_value_passes_its_constraint() -> None:
    assert RouteTemplate("x/{id:int?}").match("x") == {}
    assert RouteTemplate("x/{id:int=3}").match("x") == {"id": "3"}


@pytest.mark.parametrize(
    "template",
    [
        "a//b",
        "api//{*route}",
        "{a}{b}",
        "{a}/{A}",
        "{*a}/b",
        "x{*a}",
        "{a",
        "a}",
        "{a?}x",
        "{a?}-{b}",
        "{x-}{y?}",
        "{a:nope}",
        "{a:int(1)}",
        "{a:min}",
        "{a:range(1)}",
        "{a:regex([)}",
        "{a=1?}",
        "{}",
        "a?b",
    ],
)
def test_a_template_that_aspnet_rejects_is_rejected(template: str) -> None:
    with pytest.raises(FunctionIndexError):
        RouteTemplate(template)
