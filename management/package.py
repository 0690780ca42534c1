"""Build the deployment package in dist/: what azd and Core Tools upload, without the files in .funcignore.

Usage: python -m management.package
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from pathspec import GitIgnoreSpec

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dist" / "package.zip"


def packaged_files() -> list[str]:
    """Return the paths of the deployed files, with slashes on every system."""
    ignored = GitIgnoreSpec.from_lines((ROOT / ".funcignore").read_text(encoding="utf-8").splitlines())
    return sorted(Path(path).as_posix() for path in ignored.match_tree_files(ROOT, negate=True))


def build(package: Path) -> None:
    """Write the package. The same files give the same bytes."""
    package.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in packaged_files():
            # Without a date, an entry gets the earliest possible one.
            archive.writestr(zipfile.ZipInfo(path), (ROOT / path).read_bytes(), zipfile.ZIP_DEFLATED)


def main() -> None:
    build(PACKAGE)
    with zipfile.ZipFile(PACKAGE) as archive:
        files = archive.infolist()
    for file in files:
        sys.stdout.write(f"{file.file_size:>9,}  {file.filename}\n")
    unpacked = sum(file.file_size for file in files)
    where = PACKAGE.relative_to(ROOT)
    sys.stdout.write(f"{where}: {len(files)} files, {unpacked:,} bytes, {PACKAGE.stat().st_size:,} compressed\n")


if __name__ == "__main__":
    main()
