"""host.json and local.settings.json, which can have comments and trailing commas, as for Microsoft's host and tools.

https://github.com/Azure/azure-functions-host/issues/9583
https://github.com/Azure/azure-functions-core-tools/pull/3866
https://github.com/Azure/azure-functions-core-tools/issues/3868
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_TEXT = r'("(?:\\.|[^"\\])*")'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])")


def read_json(path: Path) -> Any:
    """Parse a file, which can begin with a byte order mark. Raises OSError, ValueError.

    A removed comment leaves its line breaks, so that an error names the right line.
    """
    text = _COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), path.read_text(encoding="utf-8-sig"))
    return json.loads(_TRAILING_COMMA.sub(lambda found: found[1] or "", text))
