"""The settings of a host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class HostSettings:
    """Settings of one host. If a setting is None, local.settings.json applies, then the default.

    Port 0 picks a free port. `cors` is a comma-separated list of origins. `environment` overrides the process
    environment. `state_dir` stores timer state and keys. `quiet` omits requests and successful invocations from the
    log. Without `local_settings`, the host ignores local.settings.json. `enable_auth` checks the keys of functions that
    are not anonymous. `sign_in` emulates App Service authentication. `allowed_hosts` are names in the Host header that
    are served besides private ones and IP addresses; `*` serves all. `stub_bindings` loads functions with triggers and
    outputs that this host does not run: `FunctionsHost.invoke` calls them, and `outputs` has what they set. A stop
    waits up to `grace_s` seconds for running calls.
    """

    app_dir: Path
    host: str = "127.0.0.1"
    port: int | None = None
    cors: str | None = None
    cors_credentials: bool | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    state_dir: Path | None = None
    quiet: bool = False
    local_settings: bool = True
    enable_auth: bool = False
    sign_in: bool = False
    allowed_hosts: tuple[str, ...] = ()
    stub_bindings: bool = False
    grace_s: float = 10.0

    @property
    def effective_state_dir(self) -> Path:
        """The effective `state_dir`."""
        return self.state_dir or self.app_dir / ".data" / "functions-host"
