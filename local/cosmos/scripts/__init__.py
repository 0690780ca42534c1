"""Server-side JavaScript: stored procedures, triggers and user-defined functions, run in QuickJS."""

from local.cosmos.scripts.engine_pool import ENGINES
from local.cosmos.scripts.functions import UdfRuntime
from local.cosmos.scripts.limits import ScriptLimits
from local.cosmos.scripts.operations import Page, ScriptOperations
from local.cosmos.scripts.procedures import ScriptResult, execute_stored_procedure
from local.cosmos.scripts.triggers import run_post_trigger, run_pre_trigger

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
