"""What other parts of the app add to every page of the site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import azure.functions as func


@dataclass(frozen=True)
class Extension:
    """An addition to the site.

    `folder` has `templates/` and `static/`, next to the site's. `head` and `body` are templates that end the
    head and the body of every page, and `introduction` continues the front page's. `tools` is a template for the
    buttons of the navigation and of each post, comment and user; its variable `subject` is `site`, `post`, `comment` or
    `user`. All have the `variables`. `links` are added to the navigation: addresses by name. `sitemaps` are addresses
    that robots.txt lists, too. `data_attributes` returns attributes of the root element, by their name without `data-`,
    of the page that answers a request.
    """

    folder: Path
    head: str = ""
    body: str = ""
    introduction: str = ""
    tools: str = ""
    variables: Callable[[], Mapping[str, object]] = dict
    links: Mapping[str, str] = field(default_factory=dict)
    sitemaps: Sequence[str] = ()
    data_attributes: Callable[[func.HttpRequest], Mapping[str, str]] = lambda _: {}


EXTENSIONS: Final[list[Extension]] = []


def data_attributes(request: func.HttpRequest) -> dict[str, str]:
    return {name: value for extension in EXTENSIONS for name, value in extension.data_attributes(request).items()}
