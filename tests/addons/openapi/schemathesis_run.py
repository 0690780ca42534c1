"""Run Schemathesis against the whole app, with requests generated from its OpenAPI document.

    python -m tests.addons.openapi.schemathesis_run --tool .venv-audit/bin/schemathesis --requests 10000

Tests an app with function keys and one with user authentication, with increasing seeds, until each has served half of
the requests. Fails on 5xx and on undocumented statuses, headers or bodies. Excluded checks:

- unsupported_method: the Functions host returns 404 for an unsupported method;
- positive_data_acceptance: a schema cannot express which usernames NFKC changes, nor what is blank;
- ignored_auth: the platform checks function keys and sign-in.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

from cosmos_emulator import EmulatorSettings

from shared.platform.settings import Account
from shared.settings import Settings
from tests.auth.conftest import principal, with_sign_in
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import RunningApp, provisioned, running_app

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
EXCLUDED_CHECKS = ("unsupported_method", "positive_data_acceptance", "ignored_auth")
EXAMPLES = 300
_ANSWERED = re.compile(r'request function="(\w+)" method="\w+" path="[^"]*" status=(\d+)')


@dataclass(frozen=True)
class AppUnderTest:
    """An app with the headers of every request."""

    name: str
    app: RunningApp
    headers: dict[str, str]

    def statuses(self) -> Counter[str]:
        """Count the app's responses by status."""
        return Counter(match[2] for line in self.app.log_lines() if (match := _ANSWERED.search(line)))


def main() -> int:
    options = _options()
    with EmulatorThread(EmulatorSettings()) as emulator:
        account = Account(emulator.endpoint, emulator.key)
        for name, settings, headers in (
            ("function keys", provisioned(Settings(account=account, database=unique("described"))), {}),
            ("users sign in", with_sign_in(emulator), principal("schemathesis")),
        ):
            with tempfile.TemporaryDirectory() as directory, running_app(settings, Path(directory) / "log") as app:
                if not _passes(AppUnderTest(name, app, headers), options):
                    return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the schemathesis program")
    parser.add_argument("--requests", type=int, default=10_000, help="how many the apps shall answer together")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _passes(target: AppUnderTest, options: argparse.Namespace) -> bool:
    seed = options.seed
    while sum(target.statuses().values()) < options.requests / 2:
        command = _command(target, options.tool, seed)
        # Schemathesis stores its runs in this temporary directory.
        finished = subprocess.run(  # noqa: S603 - made here
            command, cwd=target.app.log.parent, capture_output=True, text=True, check=False
        )
        if finished.returncode != 0:
            sys.stdout.write(finished.stdout[-20_000:] + finished.stderr)
            return False
        seed += 1
    _ask_health(target.app)
    counts = sorted(target.statuses().items())
    failed = sum(count for status, count in counts if status.startswith("5"))
    sys.stdout.write(
        f"{target.name}: {sum(target.statuses().values())} requests answered, seeds {options.seed} to {seed - 1}, "
        f"{failed} of them 5xx; {', '.join(f'{status}: {count}' for status, count in counts)}\n"
    )
    return failed == 0


def _command(target: AppUnderTest, tool: str, seed: int) -> Sequence[str]:
    headers = [part for name, value in target.headers.items() for part in ("-H", f"{name}: {value}")]
    return [
        *(str(Path(tool).absolute()), "--config-file", str(CONFIGURATION), "run", f"{target.app.url}/api/openapi.json"),
        *("--checks", "all", "--exclude-checks", ",".join(EXCLUDED_CHECKS)),
        *("--max-examples", str(EXAMPLES), "--seed", str(seed), "--workers", "1", "--no-color"),
        *("--generation-database", "none", "--output-truncate", "true", *headers),
    ]


def _ask_health(app: RunningApp) -> None:
    """Raise HTTPError if the app is not ready."""
    with urlopen(Request(f"{app.url}/api/health"), timeout=10):  # noqa: S310 - local address
        pass


if __name__ == "__main__":
    sys.exit(main())
