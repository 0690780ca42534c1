"""The index can have any language that Cosmos DB supports."""

from __future__ import annotations

import pytest
from azure.cosmos import ThroughputProperties
from cosmos_emulator.search.policies import LANGUAGES

from addons.search.highlight import parts
from addons.search.index import LANGUAGE, index_definition
from addons.search.query import SearchQuery, search
from shared.platform.database.container import Container
from shared.platform.errors import MalformedRequest
from tests.blog import Blog
from tests.items import a_post, a_user, unique
from tests.polling import eventually

# A text, a form of one of its words, and a word that is ignored in English.
TEXTS = {
    "en-US": ("We were running to the station.", "run", ""),
    "de-DE": ("Was die Stadt erzählt, wenn die Häuser schweigen.", "haus", "was"),
    "es-ES": ("Estamos corriendo hacia un lugar mejor.", "correr", "un"),
    "fr-FR": ("Les enfants parlaient sur la plage.", "parler", "sur"),
    "it-IT": ("Stiamo parlando con lei di un altro viaggio.", "parlare", "un"),
    "pt-BR": ("Estamos falando as mesmas palavras.", "falar", "as"),
    "pt-PT": ("Estamos a falar as mesmas palavras.", "falando", "as"),
}


def test_the_texts_are_in_all_languages_of_the_service() -> None:
    assert set(TEXTS) == set(LANGUAGES)


def test_all_texts_of_the_index_have_its_language() -> None:
    paths = index_definition()["fullTextPolicy"]["fullTextPaths"]

    assert {path["language"] for path in paths} == {LANGUAGE}


@pytest.mark.parametrize("language", TEXTS)
async def test_other_forms_of_a_word_are_found_and_marked(blog: Blog, language: str) -> None:
    text, word, ignored = TEXTS[language]
    definition = index_definition()
    policy = definition["fullTextPolicy"]
    languages = {
        "defaultLanguage": language,
        "fullTextPaths": [p | {"language": language} for p in policy["fullTextPaths"]],
    }
    proxy = await blog.database.create_container(
        unique("index"),
        definition["partitionKey"],
        indexing_policy=definition["indexingPolicy"],
        full_text_policy=policy | languages,
        global_secondary_index=definition["globalSecondaryIndex"],
        offer_throughput=ThroughputProperties(auto_scale_max_throughput=1000),
    )
    post = a_post(a_user(), content=text)
    await blog.posts.create(post)

    query = SearchQuery.parse({"q": f"{word} {ignored}"}, language)

    async def is_found() -> bool:
        results = await search(Container(proxy), query, limit=5, cursor=None)
        return [item["id"] for item in results.items] == [post["id"]]

    await eventually(is_found)
    assert [part.text for part in parts(text, [word]) if part.is_match] != []


def test_only_english_ignores_words() -> None:
    assert SearchQuery.parse({"q": "was"}, "de-DE").words == ("was",)
    with pytest.raises(MalformedRequest, match="very frequent"):
        SearchQuery.parse({"q": "was"}, "en-US")
