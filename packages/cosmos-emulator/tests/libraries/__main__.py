"""Try the newest versions of Python libraries that are built on azure-cosmos.

    python -m tests.libraries [--write] [LIBRARY ...]

Installs each library from PyPI in a virtual environment of its own, starts an empty emulator, and runs the script that
has the library's name. Prints a table, and with --write puts those that passed in the README. Fails if the outcome of a
library is not the expected one.

Their searches use embeddings that are computed from words, so that they need no model.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cosmos_emulator import WELL_KNOWN_KEY
from tests.processes import running_emulator

FOLDER = Path(__file__).parent
README = FOLDER.parents[1] / "README.md"
CACHE = Path(tempfile.gettempdir()) / "cosmos-emulator-libraries"
TIMEOUT_S = 300.0
_TABLE = re.compile(r"(<!-- libraries -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Library:
    """A library on PyPI, what its script tries, and what else the script needs.

    `fault` states why the script fails with every account, also with one in Azure.
    """

    name: str
    tried: str
    also: tuple[str, ...] = ()
    extra: str = ""
    fault: str = ""

    @property
    def script(self) -> Path:
        return FOLDER / f"{self.name.replace('-', '_')}.py"


@dataclass(frozen=True)
class Attempt:
    """How a script ended: `reason` is the last line of the error of one that failed."""

    library: Library
    version: str
    passed: bool
    reason: str = ""

    @property
    def is_expected(self) -> bool:
        return self.passed != bool(self.library.fault)


_CONFORMANCE = "langgraph-checkpoint-conformance"
_NO_PARTITION_KEY = "it calls read_item without a partition key, which azure-cosmos requires"
LIBRARIES = (
    Library("agent-framework-azure-cosmos", "checkpoints, chat history", also=("aiohttp",)),
    Library("azure-cosmos-agent-memory", "facts, episodes and turns; vector and hybrid search"),
    Library("botbuilder-azure", "state of a bot", also=("aiohttp", "botbuilder-core", "six")),
    Library("cosmodol", "25 of its own tests of an emulator", also=("pytest",)),
    Library("crewai-memory-cosmosdb", "memory, with vector search"),
    Library("crewai-persistence-cosmosdb", "flow states"),
    Library("haystack-azure-cosmosdb", "documents; vector, full-text and hybrid search"),
    Library(
        "langchain-azure-cosmosdb",
        "checkpoints (53 of LangGraph's conformance tests), store, caches, chat history; "
        "vector, full-text and hybrid search",
        also=(_CONFORMANCE,),
    ),
    Library("langgraph-checkpoint-cosmos", "checkpoints (58 of LangGraph's conformance tests)", also=(_CONFORMANCE,)),
    Library("langgraph-checkpoint-cosmosdb", "checkpoints (81 of LangGraph's conformance tests)", also=(_CONFORMANCE,)),
    Library("langgraph-store-cosmosdb", "store, with vector search"),
    Library("langraph-cosmos", "store", fault="it does not import Item, which it uses"),
    Library("llama-index-storage-chat-store-azurecosmosnosql", "chat history", fault=_NO_PARTITION_KEY),
    Library("llama-index-storage-kv-store-azurecosmosnosql", "values", fault=_NO_PARTITION_KEY),
    Library("llama-index-vector-stores-azurecosmosnosql", "vector search"),
    Library("microsoft-agents-storage-cosmos", "agent state"),
    Library("opal-fetcher-cosmos", "fetched data"),
    Library("protean-cosmosdb", "repositories", fault="it does not enable queries of several partitions"),
    Library("pydantic-ai-cosmosdb-memory", "memory files, without its search"),
    Library("pydantic-ai-cosmosdb-persistence", "steps, message history"),
    Library(
        "semantic-kernel",
        "collections, with vector search",
        extra="azure,mongo",
    ),
)


def main() -> int:
    options = _options()
    libraries = [library for library in LIBRARIES if not options.names or library.name in options.names]
    attempts = []
    for library in libraries:
        attempts.append(_try(library))
        sys.stdout.write(f"{library.name} {attempts[-1].version}: {_outcome(attempts[-1])}\n")
        sys.stdout.flush()
    if options.write:
        text = README.read_text(encoding="utf-8")
        README.write_text(_TABLE.sub(lambda found: f"{found[1]}{table(attempts)}\n{found[2]}", text), encoding="utf-8")
    unexpected = [attempt for attempt in attempts if not attempt.is_expected]
    sys.stdout.write(f"\n{table(attempts)}\n{len(attempts) - len(unexpected)} as expected, {len(unexpected)} not\n")
    return 1 if unexpected else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [library.name for library in LIBRARIES]
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=f"default: all ({', '.join(names)})")
    parser.add_argument("--write", action="store_true", help="put those that passed in the README")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no script for {', '.join(sorted(unknown))}")
    if options.write and options.names:
        parser.error("--write needs all libraries")
    return options


def _try(library: Library) -> Attempt:
    folder = CACHE / library.name
    folder.mkdir(parents=True, exist_ok=True)
    uv = Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    requirement = f"{library.name}[{library.extra}]" if library.extra else library.name
    install = [uv, "pip", "install", "--quiet", "--upgrade", "--python", python, requirement, *library.also]
    for command in ([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, folder], install):
        finished = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed commands
        if finished.returncode:
            return Attempt(library, "", passed=False, reason=f"not installed: {' '.join(finished.stderr.split())}")
    versions = f"import importlib.metadata; print(importlib.metadata.version({library.name!r}))"
    version = subprocess.run([python, "-c", versions], capture_output=True, text=True, check=True)  # noqa: S603 - fixed
    passed, reason = _run(library.script, python, folder / "script.log")
    return Attempt(library, version.stdout.strip(), passed, reason)


def _run(script: Path, python: Path, log: Path) -> tuple[bool, str]:
    """Run a script against an empty emulator. Return whether it passed, and otherwise the end of its log."""
    with running_emulator(log.with_suffix(".emulator.log")) as endpoint, log.open("wb") as output:
        # Without PYTHONPATH and with -P, the script imports nothing of this repository but its helper.
        environment = {**os.environ, "COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": WELL_KNOWN_KEY}
        environment |= {"PYTHONPATH": str(FOLDER / "inside"), "PYTHONDONTWRITEBYTECODE": "1"}
        # They send usage data elsewhere.
        environment |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "DO_NOT_TRACK": "1"}
        command = [python, "-P", script]
        try:
            finished = subprocess.run(  # noqa: S603 - a fixed command
                command, cwd=log.parent, env=environment, stdout=output, stderr=output, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return False, f"did not finish in {TIMEOUT_S:.0f} s"
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit)\b", line)] or ["failed"]
    return finished.returncode == 0, "" if finished.returncode == 0 else f"{errors[-1][:200]} ({log})"


def _outcome(attempt: Attempt) -> str:
    if attempt.passed:
        return "passed, unlike expected" if attempt.library.fault else "passed"
    expected = f", as expected: {attempt.library.fault}" if attempt.library.fault else ""
    return f"failed{expected}: {attempt.reason}"


def table(attempts: list[Attempt]) -> str:
    """Describe the libraries that passed, with the date, for the README."""
    today = datetime.datetime.now(datetime.UTC).date()
    lines = [f"These passed on {today.isoformat()}:", "", "| Library | Version | Tried |", "|---|---|---|"]
    lines += [f"| {one.library.name} | {one.version} | {one.library.tried} |" for one in attempts if one.passed]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
