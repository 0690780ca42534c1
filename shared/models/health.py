"""Health, as the API shows it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Check = Literal["ready", "unchecked"]


class Health(BaseModel):
    """Everything the blog needs exists. A script is `unchecked` if the app's identity can run it but not list it."""

    model_config = ConfigDict(frozen=True)

    status: Literal["ready"] = "ready"
    checks: dict[str, Check] = Field(
        description="By name: the single write region, the database, a container, a script of a container.",
        examples=[{"database": "ready", "posts": "ready", "posts/createLike": "unchecked"}],
    )
