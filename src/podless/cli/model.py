"""podless model: Python modules with classes for the objects of definitions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from podless.check.sources import CannotCheck
from podless.models.render import STYLES


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "model",
        help="make Python classes of CustomResourceDefinitions",
        description=(
            "Make Python modules of CustomResourceDefinitions: classes with types, defaults and documentation, whose "
            "objects tell what a server would say of them (check). With --output each group and version gets a module, "
            "GROUP/VERSION.py; without it the only one is printed."
        ),
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="file, folder or pattern; - for the standard input")
    parser.add_argument("--style", choices=STYLES, default=STYLES[0], help="kind of classes (default: pydantic)")
    parser.add_argument("--output", "-o", metavar="FOLDER", type=Path, help="where the modules go")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the modules. Returns 2 where that fails."""
    from podless.check.run import read_definitions
    from podless.check.sources import find_sources
    from podless.models.render import module_path, write_modules

    try:
        made = write_modules(read_definitions(find_sources(options.paths)), options.style)
        if not made:
            raise CannotCheck("no CustomResourceDefinition found")
        if options.output is None and len(made) > 1:
            raise CannotCheck(f"these definitions make {len(made)} modules: use --output FOLDER")
        if options.output is None:
            sys.stdout.write(next(iter(made.values())))
        for (group, version), text in made.items() if options.output is not None else ():
            file = options.output / module_path(group, version)
            file.parent.mkdir(parents=True, exist_ok=True)
            (file.parent / "__init__.py").touch()
            file.write_text(text)
            print(file)
    except (CannotCheck, ValueError) as error:
        print(f"podless: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"podless: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0
