"""Run bandit and fail if a finding has no reason on its line.

Ruff's S rules are bandit's rules with another prefix (S608 is B608), so both use one comment: `# noqa: S608 - reason`.
B404 (import of subprocess) is skipped because B603 finds each call.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCANNED = (
    "function_app.py",
    "functions",
    "shared",
    "local",
    "packages/cosmos-emulator/src",
    "packages/functions-host/src",
    "manage.py",
    "tasks.py",
    "infra",
    "management",
    "bench",
)


def main(bandit: str) -> int:
    command = [bandit, "--quiet", "--format", "json", "--skip", "B404", "--recursive", *SCANNED]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    report = json.loads(finished.stdout)
    unexplained = [finding for finding in report["results"] if not is_explained(finding)]
    for finding in unexplained:
        sys.stdout.write("{filename}:{line_number}: {test_id} {issue_text}\n".format_map(finding))
    for error in report["errors"]:
        sys.stdout.write("{filename}: {reason}\n".format_map(error))
    explained = len(report["results"]) - len(unexplained)
    lines = report["metrics"]["_totals"]["loc"]
    sys.stdout.write(f"bandit: {lines} lines, {explained} findings explained, {len(unexplained)} not\n")
    return 1 if unexplained or report["errors"] else 0


def is_explained(finding: dict[str, Any]) -> bool:
    """Return whether a line of the statement, or a comment above it, gives a reason."""
    lines = (ROOT / finding["filename"]).read_text(encoding="utf-8").splitlines()
    rule = "S" + finding["test_id"].removeprefix("B")
    first, last = min(finding["line_range"]), max(finding["line_range"])
    exempt = [line for line in lines[first - 1 : last] if re.search(rf"# noqa: [A-Z0-9, ]*\b{rule}\b", line)]
    above = any(line.lstrip().startswith("# ") for line in lines[max(0, first - 3) : first - 1])
    return any(above or re.search(r"# noqa: [A-Z0-9, ]+ - \S", line) for line in exempt)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
