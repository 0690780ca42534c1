"""What a host is told when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class HostSettings:
    """Settings of one host; None takes local.settings.json's value, then the default.

    `port` 0 picks a free one (default 7071). `cors` is a comma list of origins. `environment` holds app settings
    that win over the process environment. `state_dir` keeps the timers' state, by default
    `<app_dir>/.data/functions-host`, made on demand.
    """

    app_dir: Path
    host: str = "127.0.0.1"
    port: int | None = None
    cors: str | None = None
    cors_credentials: bool | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    state_dir: Path | None = None

    @property
    def timer_state_dir(self) -> Path:
        """Where timers keep their state."""
        return self.state_dir or self.app_dir / ".data" / "functions-host"
