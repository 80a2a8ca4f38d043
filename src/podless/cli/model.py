"""podless model: generate Python classes for the objects of definitions."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from podless.check.sources import CannotCheck
from podless.cli.generated import add_options, read_definitions, run_generator, write_files
from podless.models.render import STYLES


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "model",
        help="make Python classes from CustomResourceDefinitions",
        description=(
            "Make Python modules from CustomResourceDefinitions: classes with types, defaults and documentation. "
            "Their method check returns the errors that a server would return. With --output, write a module for each "
            "group and version, GROUP/VERSION.py. Without it, print the module if there is one only."
        ),
    )
    parser.add_argument("--style", choices=STYLES, default=STYLES[0], help="kind of classes (default: pydantic)")
    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Generate the modules. Returns 2 if that fails."""
    return run_generator(lambda: _generate_modules(options))


def _generate_modules(options: argparse.Namespace) -> None:
    from podless.models.render import module_path, write_modules

    modules = write_modules(read_definitions(options), options.style)
    if options.output is not None:
        write_files(options.output, {module_path(*key): text for key, text in modules.items()}, ("__init__.py",))
    elif len(modules) > 1:
        raise CannotCheck(f"these definitions make {len(modules)} modules: use --output FOLDER")
    else:
        sys.stdout.write(next(iter(modules.values())))
