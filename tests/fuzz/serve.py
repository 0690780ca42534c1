"""`python -m tests.fuzz.serve JSON`: an emulator in memory whose settings the JSON object changes, until killed.

The command line of the emulator has no switch for the time of a script, which the fuzzers shorten.
"""

from __future__ import annotations

import asyncio
import json
import sys

from cosmos_emulator.__main__ import serve
from cosmos_emulator.settings import EmulatorSettings

if __name__ == "__main__":
    asyncio.run(serve(EmulatorSettings(**json.loads(sys.argv[1]))))
