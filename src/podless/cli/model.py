"""podless model: generate Python classes for the objects of definitions."""

from __future__ import annotations

import argparse
import sys

from podless.check.sources import CannotCheck
from podless.cli.generated import read_definitions, write_files
from podless.runtime.option import report_errors


def run(args: argparse.Namespace) -> int:
    """Generate the modules. Returns 2 if that fails."""
    with report_errors(ValueError):
        _generate_modules(args)
    return 0


def _generate_modules(args: argparse.Namespace) -> None:
    from podless.models.render import make_module_path, write_modules

    modules = write_modules(read_definitions(args), args.style)
    if args.output is not None:
        write_files(args.output, {make_module_path(*key): text for key, text in modules.items()}, ("__init__.py",))
    elif len(modules) > 1:
        raise CannotCheck(f"these definitions make {len(modules)} modules: use --output FOLDER")
    else:
        sys.stdout.write(next(iter(modules.values())))
