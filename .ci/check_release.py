"""Fail unless a package can be released under a tag, such as cosmos-emulator-v1.2.3.

The version of the tag must be the package's, and its changelog must have a section of this version with a date, and
nothing under Unreleased.

Usage: python check_release.py TAG
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PACKAGES = Path(__file__).parents[1] / "packages"


def problems(tag: str) -> list[str]:
    """Return what prevents the release."""
    name, _, version = tag.rpartition("-v")
    folder = PACKAGES / name
    if not name or not folder.is_dir():
        return [f"{tag} is not the tag of a package"]
    (source,) = folder.glob("src/*/version.py")
    found = []
    if f'"{version}"' not in source.read_text(encoding="utf-8"):
        found.append(f"{source.relative_to(PACKAGES)} does not have the version {version}")
    changelog = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    unreleased = next((text for text in sections if text.startswith("[Unreleased]\n")), None)
    if unreleased is None or unreleased.partition("\n")[2].strip():
        found.append("CHANGELOG.md must have an empty section [Unreleased]")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no section [{version}] with a date")
    return found


if __name__ == "__main__":
    if found := problems(sys.argv[1]):
        sys.exit("\n".join(found))
