"""The address of the site in links, behind a proxy and without one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from addons.web.slugs import post_path
from shared.platform.settings import Account
from shared.settings import Settings
from tests.addons.web.deliveries import feed_has
from tests.addons.web.pages import Site
from tests.api import Api
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp, provisioned, running_app

DOMAIN = "https://blog.example"
# With the Host header of a request to the function app.
ORIGIN = {"Host": "func-blog.azurewebsites.net"}


@pytest.fixture(scope="module")
def domain_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    account = Account(emulator.endpoint, emulator.key)
    settings = provisioned(Settings(account=account, database=unique("domain"), site_url=DOMAIN))
    with running_app(settings, tmp_path_factory.mktemp("domain") / "host.log") as running:
        yield running


@pytest.fixture
async def domain_api(domain_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, domain_app.url, domain_app.openapi)


async def test_every_absolute_link_to_the_site_names_its_domain(domain_api: Api) -> None:
    api = domain_api
    author = await api.new_user()
    post = await api.new_post(author)
    await eventually(lambda: feed_has(api, 1))
    site = Site(api.session, api.url)

    shown = {
        path: (await site.get(path, ORIGIN)).text
        for path in ("/", f"/posts/{post['id']}", f"/users/{author['id']}", "/feed.atom", "/sitemap.xml", "/robots.txt")
    }

    assert [path for path, text in shown.items() if DOMAIN not in text] == []
    assert [path for path, text in shown.items() if re.search("azurewebsites|127.0.0.1|localhost", text)] == []
    assert f'href="{DOMAIN}{post_path(post)}"' in shown["/feed.atom"]
    assert f"Sitemap: {DOMAIN}/sitemap.xml" in shown["/robots.txt"]


async def test_without_a_domain_links_name_the_host(site: Site) -> None:
    shown = await site.get("/robots.txt", ORIGIN)

    assert "Sitemap: http://func-blog.azurewebsites.net/sitemap.xml" in shown.text
