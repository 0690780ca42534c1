"""Change shared/ in many small ways, one at a time, and list the changes that no test of `make test-core` notices.

`MUTANTS=60 SEED=1 make mutants`: that many mutants, spread over all files. `TESTS` can name other tests. Works in a
copy of the repository, with cosmic-ray.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import tasks
from tests.repository_copy import copy_repository

UV = str(Path(sys.executable).with_name("uv"))
COSMIC_RAY = (UV, "tool", "run", "--from", "cosmic-ray==8.7.0", "cosmic-ray")
# Survivors run all tests; this is several times as long.
TIMEOUT_S = 600
CONFIG = """[cosmic-ray]
module-path = ["shared"]
timeout = {timeout_s}.0
excluded-modules = []
test-command = {command}

[cosmic-ray.distributor]
name = "local"
"""


def main() -> None:
    try:
        number, seed = int(os.environ.get("MUTANTS", "200")), int(os.environ.get("SEED", "1"))
    except ValueError:
        sys.exit("MUTANTS and SEED are whole numbers")
    tests = os.environ.get("TESTS", "").split() or [*tasks.core_tests(), "-m", "not nightly"]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_repository(copy)
        options = ("-x", "-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider")
        command = shlex.join([sys.executable, "-m", "pytest", *options, *tests])
        (copy / "mutants.toml").write_text(
            CONFIG.format(timeout_s=TIMEOUT_S, command=json.dumps(command)), encoding="utf-8"
        )
        # If a test fails without a mutant, each one would count as killed.
        _run(copy, "baseline", "mutants.toml")
        _run(copy, "init", "mutants.toml", "mutants.sqlite")
        with sqlite3.connect(copy / "mutants.sqlite") as session:
            _choose(session, copy, number, seed)
        session.close()
        _run(copy, "exec", "mutants.toml", "mutants.sqlite")
        with sqlite3.connect(copy / "mutants.sqlite") as session:
            _report(session)
        session.close()


def _run(copy: Path, *arguments: str) -> None:
    subprocess.run([*COSMIC_RAY, *arguments], cwd=copy, check=True)  # noqa: S603 - fixed


def _choose(session: sqlite3.Connection, copy: Path, number: int, seed: int) -> None:
    """Delete all mutants but `number`, taken in turn from each file."""
    by_file: defaultdict[str, list[str]] = defaultdict(list)
    rows = session.execute("SELECT job_id, module_path, start_pos_row, start_pos_col FROM mutation_specs").fetchall()
    annotations = {name: set(_annotations(copy / name)) for name in {row[1] for row in rows}}
    for job, file, line, column in sorted(rows, key=lambda row: (row[1:], row[0])):
        if (line, column) not in annotations[file]:
            by_file[file].append(job)
    chance = random.Random(seed)
    for jobs in by_file.values():
        chance.shuffle(jobs)
    chosen: set[str] = set()
    while len(chosen) < number and any(by_file.values()):
        for file in sorted(by_file):
            if by_file[file] and len(chosen) < number:
                chosen.add(by_file[file].pop())
    for (job,) in session.execute("SELECT job_id FROM mutation_specs").fetchall():
        if job not in chosen:
            session.execute("DELETE FROM mutation_specs WHERE job_id = ?", (job,))
            session.execute("DELETE FROM work_items WHERE job_id = ?", (job,))


def _annotations(file: Path) -> Iterator[tuple[int, int]]:
    """Yield the positions in annotations, which are not evaluated."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for name in ("annotation", "returns"):
            if isinstance(annotation := getattr(node, name, None), ast.expr):
                first, last = annotation.lineno, annotation.end_lineno or 0
                for line in range(first, last + 1):
                    start = annotation.col_offset if line == first else 0
                    end = annotation.end_col_offset or 0 if line == last else 200
                    yield from ((line, column) for column in range(start, end))


def _report(session: sqlite3.Connection) -> None:
    of_each = "SELECT module_path, test_outcome, diff FROM mutation_specs JOIN work_results USING (job_id)"
    results = session.execute(of_each).fetchall()
    outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for file, outcome, diff in results:
        survived = str(outcome).lower().endswith("survived")
        outcomes[file][("killed", "survived")[survived]] += 1
        if survived:
            changed = [line for line in str(diff).splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
            sys.stdout.write("\n".join([f"\nsurvived: {file}", *changed]) + "\n")
    sys.stdout.write("\n")
    for file, counts in sorted(outcomes.items()):
        sys.stdout.write(f"{counts['killed']:>4} of {counts.total():>3}  {file}\n")
    killed = sum(counts["killed"] for counts in outcomes.values())
    sys.stdout.write(f"{killed} of {len(results)} mutants are killed.\n")


if __name__ == "__main__":
    main()
