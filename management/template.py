"""Turn a checkout of this repository into one for another app: docs/template.md."""

from __future__ import annotations

import argparse
import keyword
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# An add-on, and those that stand on it.
ADD_ONS = {
    "export": ("export",),
    "inspector": ("inspector",),
    "moderation": ("moderation",),
    "openapi": ("openapi",),
    "search": ("search",),
    "web": ("web", "inspector", "moderation", "search"),
}
# The parameters of the templates that belong to an add-on, and the end of their settings, besides those with its name.
_MORE_PARAMETERS = {
    "moderation": {"moderatorRole": "MODERATOR_ROLE"},
    "search": {"searchMaxThroughput": "SEARCH_MAX_THROUGHPUT"},
    "web": {"tagline": "TAGLINE", "about": "ABOUT", "accent": "ACCENT"},
}
NAME = "blog"
# At most 12 characters, as the short name of an action group (infra/alerts.bicep).
_NEW_NAME = re.compile(r"[a-z][a-z0-9]{1,11}")
# Not in the middle of other words, but in settings and in names such as StoredBlog.
_WORD = re.compile(rf"(?<![A-Za-z])({NAME}|{NAME.upper()})(?![a-z])|{NAME.title()}(?![a-z])")
# The packages have the name only in examples, and the others are not ours to change.
_KEPT = (
    *("packages/", "LICENSE", "THIRD_PARTY_NOTICES.md", "addons/openapi/static/swagger-ui/"),
    "docs/template.md",
)


def take_off(add_on: str, root: Path = ROOT) -> None:
    """Delete an add-on and those that stand on it: their folders, tests, templates, and lines in the two programs."""
    for name in ADD_ONS[add_on]:
        for folder in (root / "addons" / name, root / "tests" / "addons" / name):
            shutil.rmtree(folder, ignore_errors=True)
        for program in (root / "function_app.py", root / "manage.py"):
            lines = program.read_text(encoding="utf-8").splitlines(keepends=True)
            program.write_text("".join(_without(name, line) for line in lines), encoding="utf-8")
        layer = rf'(?m)^ *"addons\.{name}",\n|(?<=")addons\.{name} \| | \| addons\.{name}(?=["\s])'
        project = root / "pyproject.toml"  # what import-linter checks
        project.write_text(re.sub(layer, "", project.read_text(encoding="utf-8")), encoding="utf-8")
        _take_off_infra(name, root)


def _without(add_on: str, line: str) -> str:
    """Return a line of a program without the add-on: "" if the line concerns no other."""
    imports = "from addons import "
    if line.startswith(imports):
        kept = [name for name in line.removeprefix(imports).split(", ") if name.strip() != add_on]
        return imports + ", ".join(kept).rstrip() + "\n" if kept else ""
    return "" if re.search(rf"\b{add_on}\b", line) else line


def _take_off_infra(add_on: str, root: Path) -> None:
    """Delete an add-on's template, its parameters and module in main.bicep, and the lines with its settings."""
    (root / "infra" / f"{add_on}.bicep").unlink(missing_ok=True)
    parameters = {add_on: add_on.upper(), **_MORE_PARAMETERS.get(add_on, {})}
    main_template = root / "infra" / "main.bicep"
    declaration = re.compile(rf"(?m)^param ({'|'.join(parameters)})\b|'{add_on}\.bicep'")
    blocks = main_template.read_text(encoding="utf-8").split("\n\n")
    main_template.write_text("\n\n".join(one for one in blocks if not declaration.search(one)), encoding="utf-8")
    others = ("infra/main.parameters.json", ".github/workflows/deploy.yml", "docs/deploy.md", "docs/parameters.md")
    for file in (main_template, *(root / name for name in others)):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        settings = re.compile("|".join(rf"{NAME.upper()}_{setting}\b" for setting in parameters.values()))
        file.write_text("".join(line for line in lines if not settings.search(line)), encoding="utf-8")


def rename(name: str, root: Path = ROOT) -> int:
    """Replace the product's name in the contents and names of all files in git; return the number of files.

    Raises ValueError for a name that settings, meters and Python modules cannot have, and outside a git repository.
    """
    if not _NEW_NAME.fullmatch(name) or keyword.iskeyword(name):
        message = "must be 2 to 12 lower-case letters and digits, start with a letter, and not be a keyword of Python"
        raise ValueError(f"{name!r} {message}")
    words = {NAME: name, NAME.title(): name.title(), NAME.upper(): name.upper()}
    changed = 0
    for file in _files(root):
        path = root / file
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # an image
        renamed = _WORD.sub(lambda found: words[found[0]], text)
        target = path.with_name(_WORD.sub(lambda found: words[found[0]], path.name))
        if (renamed, target) != (text, path):
            path.write_text(renamed, encoding="utf-8")
            path.rename(target)
            changed += 1
    return changed


def _files(root: Path) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603 - fixed
    except (OSError, subprocess.CalledProcessError) as error:
        raise ValueError(f"git must list the files of {root}; clone the repository, or run `git init`") from error
    files = [name for name in listed.stdout.splitlines() if not name.startswith(_KEPT)]
    # Git ignores the settings of this machine.
    return [name for name in (*files, "local.settings.json") if (root / name).is_file()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m management.template", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("take-off", help="delete an add-on").add_argument("add_on", choices=ADD_ONS)
    commands.add_parser("rename", help="replace the name of the product").add_argument("name")
    given = parser.parse_args(arguments)
    if given.command == "take-off":
        take_off(given.add_on)
        sys.stdout.write(f"Deleted {', '.join(ADD_ONS[given.add_on])}. Run `make test`.\n")
        return 0
    try:
        changed = rename(given.name)
    except ValueError as error:
        parser.error(str(error))
    sys.stdout.write(f"Changed {changed} files. Run `make format lock-check test`.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
