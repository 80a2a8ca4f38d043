"""The podless command, one module a subcommand."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from podless.cli.commands import COMMANDS, DefaultsFormatter, add_command
from podless.runtime.collector import pause_gc
from podless.runtime.files import describe_fault
from podless.runtime.messages import suggest_name
from podless.runtime.option import ReportedError
from podless.version import __version__

_COMMANDS = tuple(COMMANDS)
# `import` is a keyword of Python; the history commands are in a folder
_MODULES = {
    "export": "exports",
    "import": "imports",
    **{name: f"history.{name}" for name in ("log", "show", "diff", "blame", "undo")},
}


# exit codes for invalid arguments: 2, except for commands that use 2 for something else
_MISTAKES = {"plan": 1}
# exit codes of reported failures and for files that cannot be used: 1, but for commands whose 1 says something else
_FAILURES = dict.fromkeys(("check", "compare", "test", "eval", "schema", "convert", "model", "crd", "explore"), 2)
_INTERRUPTED = 130


class CommandParser(argparse.ArgumentParser):
    """A parser that reports an invalid argument in one line. mistake_code: the exit code then."""

    mistake_code = 2

    def __init__(self, **arguments: Any) -> None:
        # an abbreviation of an option would get another meaning with the next option that begins like it
        # each added option makes a formatter; a fixed width spares them the terminal's, and an import of shutil
        narrow = partial(DefaultsFormatter, width=80)
        super().__init__(allow_abbrev=False, formatter_class=narrow, **arguments)

    def format_help(self) -> str:
        self.formatter_class = DefaultsFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        self.exit(self.mistake_code, f"{self.prog}: {message}; see {self.prog} --help\n")


def _build_parsers(names: Sequence[str]) -> tuple[CommandParser, Mapping[str, CommandParser]]:
    parser = CommandParser(prog="podless", description="The Kubernetes API without the pods.")
    parser.add_argument("--version", action="version", version=f"podless {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in names:
        module, command = import_module(f"podless.cli.{_MODULES.get(name, name)}"), add_command(commands, name)
        command.set_defaults(run=module.run)
        if hasattr(module, "add_options"):  # which are not in commands.txt
            module.add_options(command)
        if name in _MISTAKES:
            command.mistake_code = _MISTAKES[name]
    return parser, commands.choices


def build_parser(names: Sequence[str] = _COMMANDS) -> CommandParser:
    """Return the parser of the command line with some of the commands. Imports their modules."""
    return _build_parsers(names)[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments_given = sys.argv[1:] if arguments is None else list(arguments)
    if arguments_given[:1] != ["serve"]:  # serve sets up its own log
        logging.basicConfig(level=logging.ERROR, format="podless: %(message)s")
    try:
        return _run(arguments_given)
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"podless: {describe_fault(error)}", file=sys.stderr)
        return _FAILURES.get(arguments_given[0], 1)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(arguments: list[str]) -> int:
    # imports only the modules of the given command; help and errors need all commands
    name = arguments[0] if arguments else ""
    with pause_gc():
        parser, commands = _build_parsers([name] if name in _COMMANDS else _COMMANDS)
    parser.mistake_code = _MISTAKES.get(name, parser.mistake_code)
    if name and name not in _COMMANDS and not name.startswith("-"):
        parser.error(f"unknown command {name!r}{suggest_name(name, _COMMANDS)}")
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        chosen = commands.get(name, parser)
        flags = [flag for action in chosen._actions for flag in action.option_strings]
        chosen.error(f"unrecognized arguments: {' '.join(unknown)}{suggest_name(unknown[0].partition('=')[0], flags)}")
    if not hasattr(options, "run"):
        parser.print_help(sys.stderr)
        return 2
    del parser, commands  # which take 80 KB, and a server runs for long
    code: int
    try:
        code = options.run(options)
    except ReportedError as error:
        print(f"podless: {error}", file=sys.stderr)
        code = _FAILURES.get(arguments[0], 1)
    sys.stdout.flush()
    return code
