"""Health as the API shows it: what was checked, and how far the change-feed functions are behind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Check = Literal["ready", "unchecked"]


class Lag(BaseModel):
    """How far a function is behind its change feed; numbers where the state is not unknown."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)

    state: Annotated[
        Literal["known", "notStarted", "unknown"],
        Field(
            description="`notStarted`: the function has never run, and all changes wait for it. `unknown`: its progress"
            " could not be read in time; the log has the reason."
        ),
    ]
    lag_seconds: Annotated[
        int | None, Field(description="Age of the oldest change that waits; 0 where none does.", examples=[0])
    ] = None
    lag_changes: Annotated[
        int | None, Field(description="Transactions that wait, deletions included: an estimate.", examples=[0])
    ] = None


class Health(BaseModel):
    """Everything that the blog needs is there. A script is unchecked where the app's identity may run but not list
    it."""

    model_config = ConfigDict(frozen=True)

    status: Literal["ready"] = "ready"
    checks: Annotated[
        dict[str, Check],
        Field(
            description="By name: the database, a container, a script of a container.",
            examples=[{"database": "ready", "posts": "ready", "posts/createLike": "unchecked"}],
        ),
    ]
    propagation: Annotated[
        dict[str, Lag],
        Field(
            description="By function: how far the copies that it keeps lag behind.",
            examples=[{"on_posts_changed": {"state": "known", "lagSeconds": 0, "lagChanges": 0}}],
        ),
    ]
