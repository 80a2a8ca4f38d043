"""podless model: generate Python classes for the objects of definitions."""

from __future__ import annotations

import argparse
import sys

from podless.check.sources import CannotCheck
from podless.cli.generated import read_definitions, write_files
from podless.runtime.option import report_errors


def run(options: argparse.Namespace) -> int:
    """Generate the modules. Returns 2 if that fails."""
    with report_errors(ValueError):
        _generate_modules(options)
    return 0


def _generate_modules(options: argparse.Namespace) -> None:
    from podless.models.render import module_path, write_modules

    modules = write_modules(read_definitions(options), options.style)
    if options.output is not None:
        write_files(options.output, {module_path(*key): text for key, text in modules.items()}, ("__init__.py",))
    elif len(modules) > 1:
        raise CannotCheck(f"these definitions make {len(modules)} modules: use --output FOLDER")
    else:
        sys.stdout.write(next(iter(modules.values())))
