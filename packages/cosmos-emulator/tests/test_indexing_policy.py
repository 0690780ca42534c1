"""Indexing policies: validation, defaults, indexed paths, and supported orders.

Source: learn.microsoft.com/azure/cosmos-db/index-policy.
"""

from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.indexing_policy import IndexingPolicy, Path, Step

ELEMENT = Step.ELEMENT
ETAG = '/"_etag"/?'

Document = dict[str, Any]


def policy(included: list[str], excluded: list[str], *, key: str = "/pk", **rest: Any) -> IndexingPolicy:
    document = {"includedPaths": paths(included), "excludedPaths": paths(excluded), **rest}
    return IndexingPolicy(document, [key])


def paths(texts: list[str]) -> list[Document]:
    return [{"path": text} for text in texts]


def refusal(document: Document) -> str:
    with pytest.raises(CosmosError) as refused:
        IndexingPolicy(document, ["/pk"])
    assert refused.value.status == 400
    return refused.value.message


# --- the document


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"indexingMode": "consistent", "automatic": True},
        {"automatic": False},
        {"indexingMode": "Consistent"},
        {"includedPaths": [{"path": "/*"}]},
        {"includedPaths": [{"path": "/", "indexes": [{"kind": "Hash", "dataType": "String"}]}]},
        {"includedPaths": [], "excludedPaths": []},
    ],
)
def test_a_policy_is_completed_with_defaults(document: Document | None) -> None:
    assert IndexingPolicy(document, ["/pk"]).document == {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": ETAG}],
    }


def test_the_etag_is_excluded_by_default() -> None:
    completed = policy(["/a/?"], ["/*"]).document

    assert completed["includedPaths"] == [{"path": "/a/?"}]
    assert completed["excludedPaths"] == [{"path": "/*"}, {"path": ETAG}]


@pytest.mark.parametrize(("included", "excluded"), [(["/*", "/_etag/?"], []), (["/*"], ['/"_etag"/?'])])
def test_an_explicit_etag_path_is_kept(included: list[str], excluded: list[str]) -> None:
    chosen = policy(included, excluded)

    assert chosen.document["excludedPaths"] == paths(excluded)
    assert chosen.indexes(("_etag",)) is (not excluded)


def test_composite_and_spatial_indexes_are_returned_unchanged() -> None:
    given: Document = {
        "spatialIndexes": [{"path": "/where/*", "types": ["Point"]}],
        "compositeIndexes": [[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]],
    }

    completed = IndexingPolicy(given, ["/pk"]).document

    assert {key: completed[key] for key in given} == given


def test_a_completed_document_parses_to_itself() -> None:
    completed = policy(["/a/?"], ["/*"]).document

    assert IndexingPolicy(completed, ["/pk"]).document == completed


def test_parsing_does_not_modify_the_document() -> None:
    given: Document = {"includedPaths": [{"path": "/", "indexes": []}]}

    IndexingPolicy(given, ["/pk"])

    assert given == {"includedPaths": [{"path": "/", "indexes": []}]}


def test_a_policy_that_only_new_containers_cannot_have_is_still_read() -> None:
    stored = IndexingPolicy({"indexingMode": "none", "automatic": True}, ["/pk"]).document

    assert stored["automatic"] is True


def test_mode_none_has_no_paths() -> None:
    assert IndexingPolicy({"indexingMode": "none"}, ["/pk"]).document == {
        "indexingMode": "none",
        "automatic": False,
        "includedPaths": [],
        "excludedPaths": [],
    }


# --- validation


@pytest.mark.parametrize(
    "document",
    [
        {"includedPaths": paths(["/a/?"])},
        {"excludedPaths": paths(["/a/?"])},
        {"includedPaths": paths(["/a/*"]), "excludedPaths": paths(["/b/*"])},
    ],
)
def test_a_policy_without_the_root_path_is_rejected(document: Document) -> None:
    assert 'special mandatory indexing path "/" is not provided' in refusal(document)


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ("/expiration", 11),
        ("/a/b", 4),
        ("a/?", 0),
        ("", 0),
        ("/?/Age/?", 2),
        ("/a/*/b/?", 4),
        ("/a-b/?", 2),
        ("/a//?", 2),
        ('/"open/?', 0),
        ('/"bad\\q"/?', 0),
        ("/a/[0]/?", 2),
        ("/a/?/", 4),
    ],
)
def test_a_malformed_path_is_rejected_with_its_position(path: str, position: int) -> None:
    message = refusal({"includedPaths": paths(["/*", path])})

    assert f"The indexing path '{path}' could not be accepted, failed near position '{position}'" in message


def test_a_path_without_a_label_is_rejected() -> None:
    assert "Please ensure that the path has at least" in refusal({"includedPaths": paths(["/*", "/?"])})


@pytest.mark.parametrize(
    ("included", "excluded"),
    [(["/*", "/a/?", "/a/?"], []), (["/*", "/a/?"], ["/a/?"]), (["/*", "/a/?"], ['/"a"/?']), (["/*"], ["/"])],
)
def test_a_duplicate_path_is_rejected(included: list[str], excluded: list[str]) -> None:
    message = refusal({"includedPaths": paths(included), "excludedPaths": paths(excluded)})

    assert "was specified more than once" in message


@pytest.mark.parametrize(
    "document",
    [
        {"includedPaths": "/*"},
        {"includedPaths": ["/*"]},
        {"includedPaths": ""},
        {"excludedPaths": [{"path": 1}]},
        {"compositeIndexes": {"path": "/a"}},
        {"compositeIndexes": [{"path": "/a"}]},
        {"compositeIndexes": [["/a", "/b"]]},
    ],
)
def test_a_malformed_policy_is_rejected(document: Document) -> None:
    assert refusal(document).startswith("One of the specified inputs is invalid")


@pytest.mark.parametrize("mode", ["lazy", "sometimes", None, 1])
def test_an_unknown_mode_is_rejected_by_name(mode: Any) -> None:
    assert f"'{mode}'" in refusal({"indexingMode": mode})


def test_automatic_must_be_a_boolean() -> None:
    assert "automatic" in refusal({"automatic": "no"})


def test_more_paths_than_the_limit_are_rejected() -> None:
    names = [f"/p{number}/?" for number in range(1500)]

    accepted = policy(["/*", *names[:700]], names[700:1499]).document

    assert IndexingPolicy(accepted, ["/pk"]).document == accepted
    assert "at most 1500" in refusal({"includedPaths": paths(["/*", *names])})


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([{"path": "/a"}], "at least 2 paths"),
        ([{"path": f"/p{n}"} for n in range(9)], "at most 8 paths"),
        ([{"path": "/a"}, {"path": "/a"}], "'/a' was specified more than once"),
        ([{"path": "/a"}, {"path": "/b/*"}], "'/b/*' could not be accepted"),
        ([{"path": "/a"}, {"path": "/b/[]/c"}], "'/b/[]/c' could not be accepted"),
        ([{"path": "/a"}, {"path": "/*"}], "'/*' could not be accepted"),
        ([{"path": "/a"}, {"path": "/b", "order": "up"}], "The composite order 'up' is invalid"),
    ],
)
def test_an_invalid_composite_index_is_rejected(parts: list[Document], words: str) -> None:
    assert words in refusal({"compositeIndexes": [parts]})


# --- paths


@pytest.mark.parametrize(
    ("included", "excluded", "path", "indexed"),
    [
        (["/*"], [], ("a",), True),
        (["/*"], [], ("a", ELEMENT, "b"), True),
        (["/*"], ["/a/?"], ("a",), False),
        (["/*"], ["/a/?"], ("a", "b"), True),
        (["/*"], ["/a/*"], ("a",), False),
        (["/*"], ["/a/*"], ("a", "b", "c"), False),
        (["/*"], ["/a/*"], ("ab",), True),
        (["/a/?"], ["/*"], ("a",), True),
        (["/a/?"], ["/*"], ("a", "b"), False),
        (["/a/?"], ["/*"], ("a", ELEMENT), False),
        (["/a/*"], ["/*"], ("a", ELEMENT, "b"), True),
        (["/a/[]/?"], ["/*"], ("a", ELEMENT), True),
        (["/a/[]/b/?"], ["/*"], ("a", ELEMENT, "b"), True),
        (["/a/[]/b/?"], ["/*"], ("a", "b"), False),
        (["/a/[]/b/?"], ["/*"], ("a", "[]", "b"), False),
        (['/"[]"/?'], ["/*"], ("[]",), True),
        (['/"x-y z"/?'], ["/*"], ("x-y z",), True),
        (['/"a/b"/?'], ["/*"], ("a/b",), True),
        (['/"say \\"hi\\""/?'], ["/*"], ('say "hi"',), True),
        (["/naïve/?"], ["/*"], ("naïve",), True),
    ],
)
def test_a_path_is_indexed_as_the_policy_says(
    included: list[str], excluded: list[str], path: Path, indexed: bool
) -> None:
    assert policy(included, excluded).indexes(path) is indexed
    assert policy(included, excluded).indexes(path) is indexed


@pytest.mark.parametrize(
    ("path", "indexed"),
    [
        (("food",), True),
        (("food", "ingredients"), False),
        (("food", "ingredients", "salt"), False),
        (("food", "ingredients", "nutrition"), True),
        (("food", "ingredients", "nutrition", "fat", "g"), True),
        (("food", "ingredients", "nutrition", "sugar"), False),
        (("food", "ingredients", "nutrition", "sugar", "g"), True),
    ],
)
def test_the_more_precise_path_wins(path: Path, indexed: bool) -> None:
    chosen = policy(
        ["/*", "/food/ingredients/nutrition/*"],
        ["/food/ingredients/*", "/food/ingredients/nutrition/sugar/?"],
    )

    assert chosen.indexes(path) is indexed


@pytest.mark.parametrize("path", [("id",), ("_ts",)])
def test_id_and_timestamp_are_always_indexed_except_in_mode_none(path: Path) -> None:
    assert policy([], ["/*"]).indexes(path)
    assert not IndexingPolicy({"indexingMode": "none"}, ["/pk"]).indexes(path)


def test_a_partition_key_is_indexed_only_if_the_policy_includes_it() -> None:
    assert not policy(["/a/?"], ["/*"], key="/pk").indexes(("pk",))


# --- terms


ITEM: Document = {
    "id": "1",
    "pk": "k",
    "tags": ["x", "y"],
    "owner": {"name": "n", "address": {"city": "c", "zip": None}},
    "empty": {},
    "none": [],
    "_rid": "r",
    "_self": "s",
    "_etag": "e",
    "_attachments": "a",
    "_ts": 7,
}


def test_the_terms_of_an_item_are_its_leaves_and_containers() -> None:
    terms = IndexingPolicy(None, ["/pk"]).terms(ITEM)

    assert terms.leaves == {
        ("id",): ["1"],
        ("pk",): ["k"],
        ("tags", ELEMENT): ["x", "y"],
        ("owner", "name"): ["n"],
        ("owner", "address", "city"): ["c"],
        ("owner", "address", "zip"): [None],
        ("empty",): [{}],
        ("none",): [[]],
    }
    assert terms.containers == 3
    assert terms.timestamp == 7
    assert terms.units == 2 * 9 + 3 + 1


def test_only_containers_of_indexed_leaves_count() -> None:
    terms = policy(["/owner/name/?"], ["/*"]).terms(ITEM)

    assert set(terms.leaves) == {("id",), ("owner", "name")}
    assert terms.containers == 1


def test_a_partition_key_of_id_adds_no_unit() -> None:
    assert IndexingPolicy(None, ["/id"]).terms({"id": "1"}).units == 2
    assert IndexingPolicy(None, ["/pk"]).terms({"id": "1"}).units == 3
    assert IndexingPolicy(None, ["/id", "/pk"]).terms({"id": "1"}).units == 3


def test_mode_none_has_no_terms() -> None:
    terms = IndexingPolicy({"indexingMode": "none"}, ["/pk"]).terms(ITEM)

    assert (terms.units, terms.timestamp) == (0, None)


@pytest.mark.parametrize(
    ("old", "new", "units"),
    [
        ({"a": 1}, {"a": 1}, 0),
        ({"a": 1}, {"a": 1.0}, 0),
        ({"a": 1}, {"a": 2}, 2),
        ({"a": 1}, {"a": True}, 2),
        ({"a": 0}, {"a": False}, 2),
        ({"a": "1"}, {"a": 1}, 2),
        ({"a": None}, {}, 2),
        ({}, {"a": None}, 2),
        ({"a": {}}, {"a": []}, 2),
        ({"a": [1, 2, 3]}, {"a": [3, 1, 2]}, 0),
        ({"a": [1, 2]}, {"a": [0, 1, 2]}, 2),
        ({"a": [1, 1]}, {"a": [1]}, 2),
        ({"a": [1, True]}, {"a": [1, 1]}, 2),
        ({"a": [1, 2]}, {"a": [3, 4]}, 4),
        ({"a": {"b": 1}}, {"a": 1}, 2 + 2 + 1),
        ({"a": {"b": {"c": 1, "d": 2}}}, {}, 4 + 2),
        ({"skipped": 1}, {"skipped": 2}, 0),
        ({"_ts": 1, "_etag": "x"}, {"_ts": 2, "_etag": "y"}, 0),
    ],
)
def test_a_replace_changes_the_terms_that_differ(old: Document, new: Document, units: int) -> None:
    chosen = policy(["/*"], ["/skipped/*"])

    assert chosen.changed(chosen.terms(old), chosen.terms(new)) == units


# --- orders


def ordered(*parts: str) -> list[tuple[Path, bool]]:
    """Parse an ORDER BY; `-a` is descending by `a`."""
    return [((part.lstrip("-"),), part.startswith("-")) for part in parts]


def with_composite(*parts: str) -> IndexingPolicy:
    index = [
        {"path": f"/{part.lstrip('-')}", "order": "descending" if part.startswith("-") else "ascending"}
        for part in parts
    ]
    return policy(["/*"], [], compositeIndexes=[index])


@pytest.mark.parametrize(
    ("index", "order_by", "served"),
    [
        (("name", "age"), ("name", "age"), True),
        (("name", "age"), ("age", "name"), False),
        (("name", "age"), ("-name", "-age"), True),
        (("name", "age"), ("name", "-age"), False),
        (("name", "-age"), ("-name", "age"), True),
        (("name", "age", "time"), ("name", "age", "time"), True),
        (("name", "age", "time"), ("name", "age"), False),
        (("name", "age", "time"), ("age", "time"), False),
        (("name", "age"), ("name", "age", "time"), False),
        (("name", "age"), ("age",), True),
    ],
)
def test_several_orders_need_a_composite_index_with_the_same_sequence(
    index: tuple[str, ...], order_by: tuple[str, ...], served: bool
) -> None:
    assert with_composite(*index).serves_order_by(ordered(*order_by)) is served


def test_a_single_order_needs_an_index_on_its_path() -> None:
    chosen = policy(["/a/?"], ["/*"])

    assert chosen.serves_order_by(ordered("a"))
    assert chosen.serves_order_by(ordered("-a"))
    assert chosen.serves_order_by(ordered("_ts"))
    assert not chosen.serves_order_by(ordered("b"))


def test_a_query_without_an_order_needs_no_index() -> None:
    assert IndexingPolicy({"indexingMode": "none"}, ["/pk"]).serves_order_by([])


def test_mode_none_serves_no_order() -> None:
    unindexed: Document = {"indexingMode": "none", "compositeIndexes": [paths(["/a", "/b"])]}

    assert not IndexingPolicy(unindexed, ["/pk"]).serves_order_by(ordered("a", "b"))


def test_a_composite_path_can_be_nested_and_end_in_a_wildcard() -> None:
    chosen = policy(["/*"], [], compositeIndexes=[[{"path": "/a/b/?"}, {"path": '/"c-d"'}]])

    assert chosen.composite_indexes == (((("a", "b"), False), (("c-d",), False)),)
