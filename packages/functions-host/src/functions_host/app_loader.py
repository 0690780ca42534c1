"""Find and import `function_app.py`, its app object and its functions.

Rules: azure_functions_runtime loader.py and utils/validators.py.
"""

from __future__ import annotations

import importlib
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import azure.functions as func

from .app_settings import AppSettings
from .errors import FunctionIndexError, HostStartError
from .function_errors import FunctionErrors
from .functions import LoadedFunction, check_names, load_function

DEFAULT_SCRIPT = "function_app.py"
_SCRIPT_NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_\-]*\.py")
_log = logging.getLogger("Host.Startup")
_THIS_PACKAGE = __name__.partition(".")[0]


def find_script(app_dir: Path, settings: AppSettings) -> str:
    """Return the module name of the app's script. Raises HostStartError."""
    script = settings.get("PYTHON_SCRIPT_FILE_NAME") or DEFAULT_SCRIPT
    if not _SCRIPT_NAME.fullmatch(script):
        raise HostStartError(f"PYTHON_SCRIPT_FILE_NAME: {script!r} is not a valid Python file name")
    if not (app_dir / script).is_file():
        raise HostStartError(f"{app_dir} has no {script}; v1 apps (function.json) are not supported")
    return script.removesuffix(".py")


def load_functions(script: str, errors: FunctionErrors, *, stub_bindings: bool = False) -> list[LoadedFunction]:
    """Load an app. Call it inside `importable`.

    Invalid functions are added to `errors`. Raises HostStartError if the app is invalid.
    """
    app = _app_object(_import(script))
    try:
        functions = app.get_functions()
    except ValueError as error:
        raise HostStartError(str(error)) from error
    return _accepted(functions, errors, stub_bindings=stub_bindings)


def _import(script: str) -> ModuleType:
    try:
        return importlib.import_module(script)
    except ImportError as error:
        raise HostStartError(
            f"{_place(error)}: {error}. Add the package to requirements.txt and install it. sys.path: {sys.path}"
        ) from error
    except SystemExit as error:
        raise HostStartError(f"the app exits when it is imported: {error}") from error
    except KeyboardInterrupt:  # Ctrl-C
        raise
    except BaseException as error:
        _log.exception("the app cannot be imported")
        raise HostStartError(f"{_place(error)}: {type(error).__name__}: {error}") from error


def _place(error: BaseException) -> str:
    """Return the file and line of the import or statement that failed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    return f"{frames[-1].filename}, line {frames[-1].lineno}"


def _app_object(module: ModuleType) -> func.FunctionRegister:
    found = [value for value in vars(module).values() if isinstance(value, func.FunctionRegister)]
    if not found:
        raise HostStartError("Could not find top level function app instances in the script file")
    if len(found) > 1:
        raise HostStartError("More than one top level function app instance was found in the script file")
    return found[0]


def _accepted(functions: list[func.Function], errors: FunctionErrors, *, stub_bindings: bool) -> list[LoadedFunction]:
    accepted: dict[str, LoadedFunction] = {}
    for function in functions:
        name = function.get_function_name()
        try:
            loaded = load_function(function)
            check_names(loaded, stub_bindings=stub_bindings)
            if loaded.name.lower() in accepted:
                raise FunctionIndexError("another function has the same name (names ignore case)")
        except FunctionIndexError as error:
            errors.add(str(name), error)
        else:
            accepted[loaded.name.lower()] = loaded
    return list(accepted.values())


@contextmanager
def importable(app_dir: Path, script: str) -> Iterator[None]:
    """Put `app_dir` first on `sys.path` and unload its modules on exit.

    Inside the block, other modules with the same names are removed from `sys.modules`. So is the script if it was
    imported before, because an app object returns its functions only once.
    """
    own_names = _top_level_names(app_dir)
    hidden = {
        name: module
        for name, module in sys.modules.items()
        if name == script or (name.partition(".")[0] in own_names and _is_from_elsewhere(module, app_dir))
    }
    for name in hidden:
        del sys.modules[name]
    before = set(sys.modules)
    sys.path.insert(0, str(app_dir))
    try:
        yield
    finally:
        sys.path.remove(str(app_dir))
        for name in [name for name in sys.modules if name not in before and name.partition(".")[0] in own_names]:
            del sys.modules[name]
        sys.modules.update(hidden)
        importlib.invalidate_caches()


def _top_level_names(app_dir: Path) -> set[str]:
    names = {entry.stem for entry in app_dir.iterdir() if entry.is_dir() or entry.suffix == ".py"}
    return names - {_THIS_PACKAGE}


def _is_from_elsewhere(module: ModuleType, app_dir: Path) -> bool:
    source = getattr(module, "__file__", None)
    return source is not None and app_dir not in Path(source).parents
