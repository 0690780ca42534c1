"""Templates in `web/templates`, with autoescape, and the filters that they can use."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from shared.models.base import COMMENT_LENGTH, POST_LENGTH, TITLE_LENGTH, USERNAME_LENGTH
from shared.models.summary import summary
from shared.settings import app_settings
from shared.site.assets import asset_url
from shared.site.avatars import avatar
from shared.site.links import linked
from shared.site.markdown import rendered_markdown
from shared.site.relative_time import exact_time, relative_time

_NAMESPACE = UUID("8f6a4f7c-3f0b-4d0e-8c55-5d3f6f1b2f0a")
_TEMPLATES = Path(__file__).parents[2] / "web" / "templates"
# XML 1.0 has no form for these characters, and HTML forbids them. The API refuses them, but items of other writers can
# have them.
_NOT_TEXT = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160), 0xFFFE, 0xFFFF])


def render(template: str, context: Mapping[str, object]) -> bytes:
    return _environment().get_template(template).render(context).encode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_as_text,
    )
    environment.filters.update(
        avatar=lambda user_id: Markup(avatar(user_id)),  # noqa: S704 - has no input in it
        exact=exact_time,
        linked=linked,
        markdown=rendered_markdown,
        relative=relative_time,
        summary=summary,
        urn=_urn,
    )
    environment.globals.update(
        asset=asset_url,
        settings=app_settings(),
        comment_length=COMMENT_LENGTH,
        post_length=POST_LENGTH,
        site_name="The Blog",
        title_length=TITLE_LENGTH,
        username_length=USERNAME_LENGTH,
    )
    if app_settings().inspector:
        from shared.site.data_model import data_model

        environment.globals["data_model"] = data_model()
    return environment


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
