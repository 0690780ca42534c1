"""Stored procedures, triggers and user-defined functions, in QuickJS."""

from cosmos_emulator.scripts.engine_pool import ENGINES
from cosmos_emulator.scripts.functions import UdfRuntime
from cosmos_emulator.scripts.limits import ScriptLimits
from cosmos_emulator.scripts.operations import Page, ScriptOperations
from cosmos_emulator.scripts.procedures import ScriptResult, execute_stored_procedure
from cosmos_emulator.scripts.triggers import run_post_trigger, run_pre_trigger

__all__ = [
    "ENGINES",
    "Page",
    "ScriptLimits",
    "ScriptOperations",
    "ScriptResult",
    "UdfRuntime",
    "execute_stored_procedure",
    "run_post_trigger",
    "run_pre_trigger",
]
