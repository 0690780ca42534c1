"""Run a module, and stop it when standard input ends: the local stack has ended, even if it was killed.

A closed pipe shows the end of a parent process on every operating system.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def main() -> None:
    """Run the module that the first argument names, with the remaining arguments."""
    read, write = os.pipe()
    threading.Thread(target=_forward, args=(os.dup(sys.stdin.fileno()), write), daemon=True).start()
    # The module can read standard input, too.
    sys.stdin = os.fdopen(read, encoding="utf-8")
    module, sys.argv = sys.argv[1], sys.argv[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _forward(source: int, target: int) -> None:
    while text := os.read(source, 1024):
        os.write(target, text)
    os.close(target)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
