"""Templates in `templates/`, with autoescape, and the filters that they can use."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from addons.web.avatars import avatar
from addons.web.extensions import EXTENSIONS
from addons.web.links import linked
from addons.web.markdown import rendered_markdown
from addons.web.relative_time import exact_day, exact_time, minutes_to_read, relative_time
from addons.web.settings import web_settings
from addons.web.slugs import post_path
from addons.web.static_files import asset_url
from shared.models.base import COMMENT_LENGTH, POST_LENGTH, TITLE_LENGTH, USERNAME_LENGTH
from shared.models.summary import summary

_NAMESPACE = UUID("8f6a4f7c-3f0b-4d0e-8c55-5d3f6f1b2f0a")
_FOLDER = Path(__file__).parent
# XML 1.0 has no form for these characters, and HTML forbids them. The API refuses them, but items of other writers can
# have them.
_NOT_TEXT = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160), 0xFFFE, 0xFFFF])


def render(template: str, context: Mapping[str, object]) -> bytes:
    return _environment().get_template(template).render(context).encode()


@cache
def _environment() -> Environment:
    folders = [_FOLDER, *(extension.folder for extension in EXTENSIONS)]
    environment = Environment(
        loader=FileSystemLoader([folder / "templates" for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_as_text,
    )
    environment.filters.update(
        avatar=lambda user_id: Markup(avatar(user_id)),  # noqa: S704 - has no input in it
        exact=exact_time,
        day=exact_day,
        linked=linked,
        markdown=rendered_markdown,
        relative=relative_time,
        minutes=minutes_to_read,
        path=post_path,
        summary=summary,
        urn=_urn,
    )
    environment.globals.update(
        asset=asset_url,
        settings=web_settings(),
        can_export=find_spec("addons.export") is not None,
        comment_length=COMMENT_LENGTH,
        extensions=EXTENSIONS,
        links=_links(),
        post_length=POST_LENGTH,
        site_name=web_settings().title,
        title_length=TITLE_LENGTH,
        username_length=USERNAME_LENGTH,
    )
    for extension in EXTENSIONS:
        environment.globals |= extension.variables()
    return environment


def _links() -> dict[str, str]:
    """The addresses in the navigation, by name."""
    api = {"API": "/api/docs"} if find_spec("addons.openapi") else {}
    added = {name: address for extension in EXTENSIONS for name, address in extension.links.items()}
    return {"Home": "/", **added, **api}


def _urn(item_id: str) -> str:
    """An ID for Atom that does not depend on the site's address (RFC 4287, section 4.2.6).

    The app's IDs are UUIDs. Items of other writers can have other IDs.
    """
    with suppress(ValueError):
        if str(uuid := UUID(item_id)) == item_id:
            return uuid.urn
    return uuid5(_NAMESPACE, item_id).urn


def _as_text(value: Any) -> Any:
    return value.translate(_NOT_TEXT) if isinstance(value, str) else value
