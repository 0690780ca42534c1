"""`python -m tests.fuzz.serve JSON`: run an in-memory emulator with these settings.

The emulator's command line has no option for the script time limit.
"""

from __future__ import annotations

import asyncio
import json
import sys

from cosmos_emulator.__main__ import serve
from cosmos_emulator.settings import EmulatorSettings

if __name__ == "__main__":
    asyncio.run(serve(EmulatorSettings(**json.loads(sys.argv[1]))))
