"""A page of every kind. Each check requests them, because a broken page leaves the API as it is.

With cachetools 5, all pages were 500 while the API's checks passed: `condition` came with 6.0.0
(https://github.com/pypi/warehouse/pull/18789).
"""

from __future__ import annotations

from importlib.util import find_spec

from aiohttp import ClientSession

OF_THE_BLOG = ("/", "/write", "/feed.atom", "/sitemap.xml")


def paths(post_id: str, user_id: str) -> tuple[str, ...]:
    """Return the path of a page of every kind that the site has without the search; none if it has been taken off."""
    if find_spec("addons.web") is None:
        return ()
    return (*OF_THE_BLOG, f"/posts/{post_id}", f"/posts/{post_id}/edit", f"/users/{user_id}")


async def not_shown(session: ClientSession, url: str, post_id: str, user_id: str) -> dict[str, int]:
    """Return the status of each page that is not shown."""
    found = {}
    for path in paths(post_id, user_id):
        async with session.get(f"{url}{path}") as answer:
            found[path] = answer.status
    return {path: status for path, status in found.items() if status != 200}
