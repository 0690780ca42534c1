"""Adds what pyproject.toml cannot know: the URL of the repository, which REPOSITORY_URL names when a release is built.

PyPI does not resolve relative links, so with a URL, the README's links lead to the files of the release's tag.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from setuptools import setup

FOLDER = Path(__file__).parent
NAME = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
VERSION = re.search(r'"(.+)"$', next(FOLDER.glob("src/*/version.py")).read_text(encoding="utf-8").strip())[1]
REPOSITORY = os.environ.get("REPOSITORY_URL", "").rstrip("/")

readme = (FOLDER / "README.md").read_text(encoding="utf-8")
urls = {}
if REPOSITORY:
    tagged = f"{NAME}-v{VERSION}/packages/{NAME}/"
    page, image = f"{REPOSITORY}/blob/{tagged}", f"{REPOSITORY}/raw/{tagged}"
    readme = re.sub(r"(!\[[^]]*]\()(?!https?:)", rf"\g<1>{image}", readme)
    readme = re.sub(r"(?<!!)(\[[^]]*]\()(?=#)", rf"\g<1>{page}README.md", readme)
    readme = re.sub(r"(?<!!)(\[[^]]*]\()(?!https?:)", rf"\g<1>{page}", readme)
    urls = {
        "Repository": REPOSITORY,
        "Documentation": f"{page}README.md",
        "Changelog": f"{page}CHANGELOG.md",
        "Issues": f"{REPOSITORY}/issues",
    }

setup(long_description=readme, long_description_content_type="text/markdown", project_urls=urls)
