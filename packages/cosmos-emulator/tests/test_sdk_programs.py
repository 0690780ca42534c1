"""The SDKs for Go, Java, JavaScript and Rust, run against the emulator: the same scenarios in each language.

Spring Data has scenarios of its own.

Each folder in `sdks` has a program that prints a line of JSON for each scenario. It is built and run once, and so is
the example in docs/sdks.md. A test is skipped if the language is not installed, or its package registry cannot be
reached. Rust also needs SDK_PROGRAMS=all, because its first build takes minutes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from asyncio.subprocess import PIPE
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pytest
from cosmos_emulator import CosmosEmulator, EmulatorSettings

fcntl = pytest.importorskip("fcntl", reason="the lock that test processes share is POSIX only")

HERE = Path(__file__).parent / "sdks"
GUIDE = HERE.parents[1] / "docs" / "sdks.md"
DOWNLOAD_S = 120.0
BUILD_S = 900.0
RUN_S = 120.0
SCENARIOS = (
    "create",
    "read",
    "query ORDER BY",
    "query GROUP BY",
    "transactional batch",
    "patch",
    "bulk",
    "change feed",
    "hierarchical keys",
    "throttling",
    "TLS",
)
EXAMPLE = "example of the guide"
UNSUPPORTED = {
    # It leaves queries across partitions to the gateway, which cannot merge them.
    ("go", "query ORDER BY"),
    ("go", "query GROUP BY"),
    ("go", "bulk"),
    # It merges sorted rows, but not groups.
    ("rust", "query GROUP BY"),
    ("rust", "bulk"),
}

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cosmos-emulator-sdks"
_MAVEN_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

Command = Sequence[str]


@dataclass(frozen=True)
class Program:
    """How to build and run a program in a folder with a copy of its sources. `source` is the file of its code."""

    language: str
    source: str
    tools: tuple[str, ...]
    download: Command
    build: Command | None
    run: Callable[[Path], Command]


PROGRAMS = {
    "go": Program(
        language="Go",
        source="main.go",
        tools=("go",),
        download=("go", "mod", "download"),
        build=("go", "build", "-mod=readonly", "-o", "program", "."),
        run=lambda folder: [str(folder / "program")],
    ),
    "java": Program(
        language="Java",
        source="Program.java",
        tools=("java", "javac", "mvn"),
        download=("mvn", "--quiet", "--batch-mode", f"{_MAVEN_PLUGIN}:build-classpath", "-Dmdep.outputFile=classpath"),
        build=("javac", "-J-XX:TieredStopAtLevel=1", "-d", "classes", "-cp", "@classpath", "Program.java"),
        run=lambda folder: [
            "java",
            "-XX:TieredStopAtLevel=1",  # starts faster
            "-cp",
            f"classes{os.pathsep}{(folder / 'classpath').read_text()}",
            "Program",
        ],
    ),
    "node": Program(
        language="JavaScript",
        source="main.js",
        tools=("node", "npm"),
        download=("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0"),
        build=None,
        run=lambda folder: ["node", str(folder / "main.js")],
    ),
    "rust": Program(
        language="Rust",
        source="src/main.rs",
        tools=("cargo",),
        download=("cargo", "fetch", "--locked"),
        build=("cargo", "build", "--locked", "--offline", "--target-dir", str(_CACHE / "rust")),
        run=lambda _: [str(_CACHE / "rust" / "debug" / "sdk-program")],
    ),
}
LANGUAGES = tuple(PROGRAMS)
PROGRAMS["spring"] = replace(PROGRAMS["java"], language="Spring Data")


@dataclass(frozen=True)
class Outcome:
    """What a program printed for each scenario, or why it was not run."""

    results: dict[str, dict[str, str]] = field(default_factory=dict)
    skipped: str = ""
    failed: str = ""


class ProgramError(Exception):
    """A program cannot be built or run."""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "sdk-programs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.nightly
@pytest.mark.parametrize("scenario", [*SCENARIOS, EXAMPLE])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_scenario_passes_with_the_sdk(shared: Path, language: str, scenario: str) -> None:
    results = await results_of(language, shared)

    assert set(results) == {*SCENARIOS, EXAMPLE}
    found = results[scenario]
    assert found["result"] == ("unsupported" if (language, scenario) in UNSUPPORTED else "passed"), found["detail"]


@pytest.mark.nightly
async def test_all_scenarios_pass_with_spring_data(shared: Path) -> None:
    results = await results_of("spring", shared)

    assert results
    assert [found for found in results.values() if found["result"] != "passed"] == []


async def results_of(language: str, shared: Path) -> dict[str, dict[str, str]]:
    outcome = await outcome_of(language, shared)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    if outcome.failed:
        pytest.fail(outcome.failed, pytrace=False)
    return outcome.results


async def outcome_of(language: str, shared: Path) -> Outcome:
    """Return the outcome of a program, which the first test process to ask builds and runs."""
    with (shared / f"{language}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = shared / f"{language}.json"
        if not kept.exists():
            try:
                outcome = await _build_and_run(PROGRAMS[language], language, shared / language)
            except ProgramError as error:
                outcome = Outcome(failed=str(error))
            kept.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        return Outcome(**json.loads(kept.read_text(encoding="utf-8")))


async def _build_and_run(program: Program, name: str, folder: Path) -> Outcome:
    if name == "rust" and os.environ.get("SDK_PROGRAMS") != "all":
        return Outcome(skipped="Set SDK_PROGRAMS=all to build the Rust SDK, which takes minutes the first time.")
    missing = [tool for tool in program.tools if shutil.which(tool) is None]
    if missing:
        return Outcome(skipped=f"Install {' and '.join(missing)} to run the {program.language} SDK.")
    # Without the times of the files, because cargo builds only what is newer than its last build.
    ignored = shutil.ignore_patterns("node_modules", "target")
    shutil.copytree(HERE / name, folder, ignore=ignored, copy_function=shutil.copy)
    if problem := _failure(program.download, folder, DOWNLOAD_S):
        return Outcome(skipped=f"The {program.language} SDK cannot be downloaded: {' '.join(problem.split())[:300]}")
    printed = await _run(program, folder)
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    if name in LANGUAGES:
        (folder / program.source).write_text(_example(program), encoding="utf-8")
        example = await _run(program, folder)
        shows_total = re.search(r"\b42\b", example) is not None
        lines.append({"scenario": EXAMPLE, "result": "passed" if shows_total else "failed", "detail": example})
    return Outcome({line["scenario"]: line for line in lines})


def _example(program: Program) -> str:
    fence = f"```{program.language.lower()}\n"
    example = GUIDE.read_text(encoding="utf-8").partition(fence)[2].partition("```")[0]
    return example.replace("class Orders", f"class {Path(program.source).stem}")  # as Java wants it


def _failure(command: Command, folder: Path, timeout_s: float) -> str | None:
    """Run a command; return its output if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the commands above
            command, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {timeout_s:.0f} s"
    return f"{done.stdout}\n{done.stderr}" if done.returncode else None


async def _run(program: Program, folder: Path) -> str:
    """Build and run a program, with an emulator of several partitions, and one with TLS; return what it prints."""
    if program.build is not None and (problem := _failure(program.build, folder, BUILD_S)):
        raise ProgramError(f"The {program.language} program cannot be built:\n{problem}")
    secure = EmulatorSettings(data_dir=folder / "data", tls=True)
    async with CosmosEmulator(EmulatorSettings(partitions=4)) as emulator, CosmosEmulator(secure) as with_tls:
        environment = {
            "COSMOS_ENDPOINT": emulator.endpoint,
            "COSMOS_KEY": emulator.key,
            "COSMOS_TLS_ENDPOINT": with_tls.endpoint,
            "COSMOS_CERTIFICATE": str(with_tls.certificate),
            "SSL_CERT_FILE": str(with_tls.certificate),
        }
        process = await asyncio.create_subprocess_exec(
            *program.run(folder), cwd=folder, env={**os.environ, **environment}, stdout=PIPE, stderr=PIPE
        )
        try:
            output, errors = await asyncio.wait_for(process.communicate(), RUN_S)
        except TimeoutError:
            raise ProgramError(f"The {program.language} program took longer than {RUN_S:.0f} s.") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode:
        raise ProgramError(f"The {program.language} program ended with {process.returncode}:\n{errors.decode()}")
    return output.decode()
