"""Loads the hooks of a worker, and finds the source lines for its answers."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from podless import hooks as declared
from podless.hooks import Hook
from podless.runtime.jsonobject import Object


class SourceError(ValueError):
    """A source cannot be loaded, or has no hooks. The text names it."""


def load_hooks(sources: Sequence[str]) -> list[Hook]:
    """Import files and modules, and return their hooks. Raises SourceError, ValueError and errors of the import."""
    hooks: list[Hook] = []
    for source in sources:
        path = Path(source)
        if path.suffix == ".py":
            if not path.is_file():  # otherwise the error would name a file of importlib
                raise SourceError(f"{source}: no such file")
            sys.path.insert(0, str(path.parent.absolute()))
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None:
                raise SourceError(f"{source} cannot be loaded")
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
        elif "/" in source or path.is_file():
            raise SourceError(f"{source}: not a Python file: name a file that ends in .py, or a module")
        else:
            module = importlib.import_module(source)
        declared_here = declared.find_hooks(vars(module))
        if not declared_here:
            raise SourceError(f"{source} has no hooks: decorate a function with podless.hooks.validate, mutate, ...")
        hooks += declared_here
    declared.check_names(hooks)
    return hooks


def find_place(error: BaseException, sources: Sequence[str] = ()) -> Object:
    """Return file and line of the innermost frame of an exception, preferably in the hooks' own folders."""
    if isinstance(error, SyntaxError) and error.filename:
        return {"file": error.filename, "line": error.lineno or 0}
    frames = traceback.extract_tb(error.__traceback__)
    folders = tuple(str(Path(source).parent.absolute()) for source in sources if source.endswith(".py"))
    nearby = [frame for frame in frames if not folders or frame.filename.startswith(folders)]
    machinery = str(Path(__file__).parent)
    for frame in reversed(nearby or frames):
        if not frame.filename.startswith(machinery) or frame is frames[0]:
            return {"file": frame.filename, "line": frame.lineno or 0}
    return {}


def place_of(hook: Hook) -> Object:
    """Return file and line of a hook's function."""
    code = getattr(inspect.unwrap(hook.function), "__code__", None)
    return {"file": code.co_filename, "line": code.co_firstlineno} if code is not None else {}


def list_files(sources: Sequence[str]) -> list[str]:
    """Return the files from which the hooks were loaded: their own, and modules in the same folders."""
    folders = {str(Path(source).parent.absolute()) for source in sources if source.endswith(".py")}
    files = {str(Path(source).absolute()) for source in sources if source.endswith(".py")}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and (str(Path(file).parent) in folders or name in sources):
            files.add(file)
    return sorted(files)
