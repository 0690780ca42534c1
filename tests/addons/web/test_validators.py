"""Every page is valid HTML."""

from __future__ import annotations

from pathlib import Path

from tests.addons.web.pages import Site
from tests.addons.web.validation import NEEDS_VNU, errors_in, pages_of, save_pages
from tests.api import Api

MARKDOWN = (
    "# A\n\n- *b* `c`\n\n| d |\n|---|\n| e |\n\n```\nf\n```\n\nג[^1] ![](https://e.com/x.png) <i>\n\n[^1]: note\n"
)


@NEEDS_VNU
async def test_every_page_is_valid_html(api: Api, site: Site, tmp_path: Path) -> None:
    author = await api.new_user()
    post = await api.new_post(author, "A title", MARKDOWN)
    await api.new_comment(post, author, "https://e.com/a")
    await api.new_like(post, author)
    await save_pages(site, pages_of(site, post), tmp_path)

    assert errors_in(tmp_path) == []
