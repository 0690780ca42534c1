"""Pages for readers without JavaScript."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest

from addons.web.relative_time import exact_day
from addons.web.slugs import post_path
from tests.addons.web.deliveries import feed_has, has_copies
from tests.addons.web.pages import ParsedPage, Shown, Site
from tests.api import Api, Json
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp


async def test_the_front_page_shows_recent_posts_with_authors_counts_and_links(api: Api, site: Site) -> None:
    author = await api.new_user()
    title = unique("Engines")
    post = await api.new_post(author, title, "They *weave* patterns.")
    await api.new_comment(post, author)

    async def front_page() -> Shown | None:
        shown = await site.get("/")
        return shown if title in shown.text and "Comments: 1" in card(shown.page, post) else None

    shown: Shown = await eventually(front_page)

    assert shown.status == 200
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    text = card(shown.page, post)
    assert all(part in text for part in (author["username"], title, "They weave patterns."))
    assert "Likes" not in text  # there are none
    links = [link["href"] for link in shown.page.all("a")]
    assert post_path(post) in links
    assert f"/users/{author['id']}" in links
    assert shown.page.all("time", datetime=post["creationDate"])


async def test_the_footer_does_not_repeat_links_of_the_header(site: Site) -> None:
    html = (await site.get("/")).text
    header, footer = (
        set(re.findall('href="([^"]+)"', html[html.index(f"<{tag} ") : html.index(f"</{tag}>")]))
        for tag in ("nav", "footer")
    )

    assert "/api/docs" in header
    assert "/feed.atom" in footer
    assert header & footer == set()


async def test_the_front_page_links_to_more_posts_until_the_feed_ends(api: Api, site: Site) -> None:
    author = await api.new_user()
    for _ in range(22):
        await api.new_post(author)
    await eventually(lambda: feed_has(api, 21))

    first = await site.get("/")
    more = first.page.one("a", rel="next")["href"]
    second = await site.get(f"/{more}")

    assert more == "?limit=40"
    assert len(first.page.all("article")) == 20
    assert len(second.page.all("article")) > 20
    assert (await site.get("/?limit=100")).page.all("a", rel="next") == []


async def test_a_front_page_with_all_posts_links_to_no_more(api: Api, site: Site) -> None:
    await api.new_post(await api.new_user())
    await eventually(lambda: feed_has(api, 1))

    async def is_complete() -> bool:
        count = len((await api.get_feed(limit=100)).body["items"])
        return (await site.get(f"/?limit={count}")).page.all("a", rel="next") == []

    await eventually(is_complete)


async def test_a_post_shows_content_comments_and_likes(api: Api, site: Site) -> None:
    author, reader = await api.new_user(), await api.new_user("reader")
    post = await api.new_post(author, "On engines", "# Looms\n\nThey **weave**.")
    comment = await api.new_comment(post, reader, "Well put.\n\nIndeed.")
    await api.new_like(post, reader)

    shown = await site.get(f"/posts/{post['id']}")

    article = shown.page.one("article", class_="post")
    current = await api.get_post(post["id"])
    assert article["data-post-id"] == post["id"]
    assert article["data-user-id"] == author["id"]
    assert article["data-etag"] == current.etag
    assert [heading.text for heading in shown.page.all("h1")] == ["On engines"]
    assert shown.page.all("strong")[0].text == "weave"
    assert shown.page.one("span", data_like_count="").text == "1"
    assert shown.page.one("span", data_comment_count="").text == "1"
    listed = shown.page.one("li", id=f"comment-{comment['id']}")
    assert listed["data-user-id"] == reader["id"]
    assert "Well put.\n\nIndeed." in listed.text
    assert reader["username"] in shown.page.one("ul", data_likers="").text
    assert shown.page.one("p", data_empty="").keys() == {"class", "data-empty", "hidden"}


async def test_newer_comments_are_one_link_away(api: Api, site: Site) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    comments = [await api.new_comment(post, author, f"Comment {number}") for number in range(3)]
    path = f"/posts/{post['id']}"

    seen: list[str] = []
    more = "?limit=2"
    while more:
        shown = await site.get(path + more)
        seen += [item["id"] for item in shown.page.all("li") if re.match("comment-.", item.get("id", ""))]
        links = shown.page.all("a", rel="next")
        more = f"{links[0]['href']}&limit=2" if links else ""

    assert seen == [f"comment-{comment['id']}" for comment in comments]


async def test_newer_comments_come_by_the_hundred(api: Api, site: Site) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    for number in range(22):
        await api.new_comment(post, author, f"Comment {number}")
    path = f"/posts/{post['id']}"

    oldest = await site.get(path)
    href = oldest.page.one("a", rel="next")["href"]
    newer = await site.get(path + href)

    assert href.startswith("?cursor=")
    assert href.endswith("&limit=100#comments")
    listed = comments_on((await site.get(f"{path}?limit=22")).page)
    assert comments_on(newer.page) == listed[20:]
    assert oldest.page.all("a", href=f"{path}#comments") == []
    assert newer.page.one("a", href=f"{path}#comments").text == "All comments"
    newest = await site.get(path + oldest.page.one("a", href="?newest=1#comments")["href"])
    assert comments_on(newest.page) == listed[2:]


async def test_the_time_of_a_comment_links_to_it_and_newer_ones(api: Api, site: Site) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    _, middle, newest = [await api.new_comment(post, author, f"Comment {number}") for number in range(3)]
    await api.new_like(post, author)
    path = f"/posts/{post['id']}"

    link = (await site.get(path)).page.one("a", href=f"{path}?comment={middle['id']}#comment-{middle['id']}")
    linked = await site.get(link["href"])

    assert link.text == "just now"
    assert comments_on(linked.page) == [f"comment-{middle['id']}", f"comment-{newest['id']}"]
    assert linked.page.one("a", href=f"{path}#comments").text == "All comments"


async def test_the_link_of_a_deleted_comment_leads_to_the_post(api: Api, site: Site) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    comment = await api.new_comment(post, author)
    await api.new_like(post, author)
    path = f"/posts/{post['id']}"
    await api.delete_comment(post["id"], comment["id"])

    for comment_id in (comment["id"], post["id"], author["id"], "unknown", "a%2Fb", ""):
        shown = await site.get(f"{path}?comment={comment_id}")

        assert shown.status == (404 if comment_id else 200), comment_id
        if comment_id:
            assert shown.page.one("h1").text == "Comment not found"
            assert [link["href"] for link in shown.page.all("a", class_="button")] == ["/write", path]
    assert (await site.get("/posts/unknown?comment=unknown")).page.one("h1").text == "Page not found"


async def test_a_user_page_shows_the_user_and_their_posts(api: Api, site: Site) -> None:
    author = await api.new_user()
    posts = [await api.new_post(author, f"Post {number}") for number in range(3)]
    await eventually(lambda: has_copies(api, author, 3))

    first = await site.get(f"/users/{author['id']}?limit=2")
    second = await site.get(f"/users/{author['id']}{first.page.one('a', rel='next')['href']}")

    assert first.page.one("h1", data_username="").text == author["username"]
    titles = [heading.text for shown in (first, second) for heading in shown.page.all("h2") if "Post" in heading.text]
    assert titles == [post["title"] for post in reversed(posts)]
    assert second.page.all("a", rel="next") == []


async def test_usernames_are_not_translated(api: Api, site: Site) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.new_comment(post, author)
    await api.new_like(post, author)
    await eventually(lambda: feed_has(api, 1))

    for path in ("/", f"/posts/{post['id']}", f"/users/{author['id']}"):
        names = [found for found in (await site.get(path)).page.elements if "data-username" in found]
        # At least two are templates of scripts.
        assert len(names) > 2
        assert [name.get("translate") for name in names] == ["no"] * len(names)


async def test_lists_without_items_say_so(api: Api, site: Site) -> None:
    author = await api.new_user()
    post = await api.new_post(await api.new_user())

    user = await site.get(f"/users/{author['id']}")
    shown = await site.get(f"/posts/{post['id']}")

    assert "No posts yet" in user.text
    assert "hidden" not in shown.page.one("p", data_empty="")


async def test_an_empty_page_links_to_the_first_one_instead(api: Api, site: Site) -> None:
    author = await api.new_user()
    post, other = await api.new_post(author), await api.new_post(author)
    comments = [await api.new_comment(other, author) for _ in range(2)]
    await eventually(lambda: has_copies(api, author, 2))
    paths = (f"/users/{author['id']}", f"/posts/{other['id']}")
    more = [(await site.get(f"{path}?limit=1")).page.one("a", rel="next")["href"] for path in paths]
    await api.delete_post(post["id"])
    await api.delete_comment(other["id"], comments[1]["id"])
    await eventually(lambda: has_copies(api, author, 1))

    user, commented = [await site.get(path + href) for path, href in zip(paths, more, strict=True)]

    assert "hidden" in user.page.one("div", data_empty="")
    assert user.page.one("a", href=paths[0]).text == "Newest posts"
    assert "hidden" in commented.page.one("p", data_empty="")
    assert commented.page.one("a", href=f"{paths[1]}#comments").text == "All comments"


async def test_the_editor_shows_the_stored_post_and_its_preview(api: Api, site: Site) -> None:
    post = await api.new_post(await api.new_user(), "A title", "\nFirst *line*.")

    shown = await site.get(f"/posts/{post['id']}/edit")
    empty = await site.get("/write")

    form = shown.page.one("form", class_="editor")
    assert form["data-post-id"] == post["id"]
    assert shown.page.one("input", name="title")["value"] == "A title"
    # HTML ignores one line break after the start tag.
    assert shown.page.one("textarea", name="content").text == "\n\nFirst *line*."
    assert "<em>line</em>" in shown.text
    assert empty.page.one("textarea", name="content").text.strip() == ""


async def test_the_preview_is_what_the_post_will_show(api: Api, site: Site) -> None:
    content = "## Looms\n\n- one\n- [two](https://example.com)"
    post = await api.new_post(await api.new_user(), "A title", content)

    async with site.session.post(f"{site.url}/preview", json={"content": content}) as answer:
        preview = (await answer.text()).strip()
    async with site.session.post(f"{site.url}/preview", json={"content": "x" * 100_001}) as too_long:
        status = too_long.status

    assert preview in (await site.get(f"/posts/{post['id']}")).text
    assert status == 422


async def test_the_first_sign_of_a_heading_has_a_preview(site: Site) -> None:
    """Although a post of an empty heading is refused."""
    async with site.session.post(f"{site.url}/preview", json={"content": "# "}) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("path", ["/preview", "/preview/comment"])
@pytest.mark.parametrize("content", ["", "\u200e", "a\x00b", "a\x7fb"])
async def test_a_text_that_could_not_be_written_has_no_preview(site: Site, path: str, content: str) -> None:
    async with site.session.post(f"{site.url}{path}", json={"content": content}) as answer:
        assert answer.status == 422


@pytest.mark.parametrize("path", ["/posts/unknown", "/users/unknown", "/posts/unknown/edit", "/nope", "/nope/at/all"])
async def test_an_unknown_page_says_what_to_do(site: Site, path: str) -> None:
    shown = await site.get(path)

    assert shown.status == 404
    assert shown.page.one("h1").text == "Page not found"
    assert shown.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/?limit=0", "/posts/any?cursor=!", "/users/any?limit=1000"])
async def test_a_malformed_link_says_what_to_do(site: Site, path: str) -> None:
    shown = await site.get(path)

    assert shown.status == 400
    assert shown.page.one("h1").text == "This link is malformed"


@pytest.mark.parametrize("path", ["/", "/posts/{post}", "/users/{user}"])
async def test_pages_have_landmarks_and_link_previews(api: Api, site: Site, path: str) -> None:
    post = await api.new_post(await api.new_user())
    address = path.format(post=post["id"], user=post["userId"])

    page = (await site.get(address)).page
    address = post_path(post) if "{post}" in path else address

    assert page.one("html")["lang"] == "en"
    assert [len(page.all(tag)) for tag in ("main", "h1")] == [1, 1]
    landmarks = [nav["aria-label"] for nav in page.all("nav")]
    assert "Site" in landmarks
    assert len(landmarks) == len(set(landmarks))
    assert page.one("a", class_="skip")["href"] == "#main"
    assert page.one("link", rel="canonical")["href"] == site.url + address
    assert page.one("meta", property="og:url")["content"] == site.url + address
    assert page.one("meta", property="og:title")["content"]
    assert page.one("meta", name="twitter:card")["content"] == "summary"
    image = page.one("meta", property="og:image")["content"]
    shown = await site.get(image.removeprefix(site.url))
    assert image.startswith(site.url)
    assert (shown.status, shown.headers["content-type"].partition(";")[0]) == (200, "image/png")
    assert shown.content.startswith(b"\x89PNG")
    assert page.one("link", rel="alternate")["type"] == "application/atom+xml"
    labels = {label["for"] for label in page.all("label")}
    assert {field["id"] for tag in ("input", "textarea") for field in page.all(tag)} == labels


async def test_the_navigation_is_for_people_and_the_footer_has_the_atom_feed(site: Site) -> None:
    shown = await site.get("/write")

    assert shown.page.one("nav").text.split() == ["Home", "API"]
    assert "Atom" in shown.page.one("footer", class_="site").text
    assert len(shown.page.all("a", href="/feed.atom")) == 1


def comments_on(page: ParsedPage) -> list[str]:
    """The IDs of the listed comments' elements."""
    return [item["id"] for item in page.all("li") if re.match("comment-.", item.get("id", ""))]


def card(page: ParsedPage, post: Json) -> str:
    """The text of a post in a list, or nothing."""
    return "".join(item.text for item in page.all("li", id=f"post-{post['id']}"))


async def test_a_post_shows_when_it_was_edited(api: Api, site: Site) -> None:
    post = await api.new_post(await api.new_user())
    before = await site.get(f"/posts/{post['id']}")

    edited = (await api.edit_post(post["id"], post["title"], "Other content.")).body
    after = await site.get(f"/posts/{post['id']}")

    assert "Edited" not in before.text
    assert "Edited just now" in after.page.one("article", class_="post").text
    assert after.page.all("time", datetime=edited["editedDate"])


@pytest.mark.parametrize("path", ["/", "/posts/{post}", "/users/{user}", "/write", "/posts/{post}/edit", "/nope"])
async def test_no_image_and_no_time_is_empty(api: Api, site: Site, path: str) -> None:
    post = await api.new_post(await api.new_user())
    page = (await site.get(path.format(post=post["id"], user=post["userId"]))).page

    assert all(image["src"] for image in page.all("img"))
    assert all(time.text or time.get("datetime") for time in page.all("time"))
    assert all(time.get("datetime") != "" for time in page.all("time"))


async def test_the_address_of_a_post_has_the_words_of_its_title(api: Api, site: Site, app: RunningApp) -> None:
    post = await api.new_post(await api.new_user(), "Über Gärten & Brücken")
    path = post_path(post)
    assert unquote(path) == f"/posts/{post['id']}/über-gärten-brücken"

    assert (await site.get(path)).page.one("h1").text == post["title"]
    await api.edit_post(post["id"], "Edit", "Some content.")
    moved = await site.get(f"{path}?limit=5")

    assert (moved.status, moved.headers["location"]) == (308, f"/posts/{post['id']}/edit-?limit=5")
    # Another address is not an error, which would be logged with a traceback.
    assert "PageMoved" not in app.log.read_text(encoding="utf-8")
    assert (await site.get(f"/posts/{post['id']}/edit-")).status == 200
    # Without words, links of any age lead to the page.
    assert (await site.get(f"/posts/{post['id']}")).status == 200


async def test_a_title_without_words_adds_none_to_the_address(api: Api, site: Site) -> None:
    post = await api.new_post(await api.new_user(), "???")

    assert post_path(post) == f"/posts/{post['id']}"
    assert (await site.get(f"{post_path(post)}/former")).headers["location"] == post_path(post)


async def test_a_post_leads_to_its_authors_other_posts_and_to_its_neighbors(api: Api, site: Site) -> None:
    author = await api.new_user()
    titles = [unique(name) for name in ("First", "Other", "Third")]
    posts = [await api.new_post(author, title) for title in titles]

    async def is_shown() -> Shown | None:
        shown = await site.get(post_path(posts[1]))
        # The author's posts can be shown before the front page has them.
        neighbors = {
            rel: [link.text[-len(titles[0]) :] for link in shown.page.all("a", rel=rel)] for rel in ("prev", "next")
        }
        return shown if neighbors == {"prev": [titles[0]], "next": [titles[2]]} else None

    page = (await eventually(is_shown)).page

    assert page.one("aside", class_="after").text.count(titles[0]) == 2  # as the previous one, and as the author's


async def test_a_post_says_the_day_and_how_long_reading_takes(api: Api, site: Site) -> None:
    post = await api.new_post(await api.new_user(), content="word " * 700)

    byline = (await site.get(f"/posts/{post['id']}")).page.one("article", class_="post").text

    assert exact_day(post["creationDate"]) in byline
    assert "3 min read" in byline
