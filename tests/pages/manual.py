"""The parser that argparse-manpage reads: that of the commands, with the defaults in the help texts."""

from __future__ import annotations

import argparse

from podless.cli import build_parser
from podless.cli.commands import DefaultsFormatter


def build_manual() -> argparse.ArgumentParser:
    """Return the parser of all commands. argparse-manpage does not ask a formatter for the defaults."""
    parser = build_parser()
    _write_defaults(parser)
    return parser


def _write_defaults(parser: argparse.ArgumentParser) -> None:
    formatter = parser._get_formatter()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _write_defaults(command)
        elif isinstance(formatter, DefaultsFormatter) and action.help not in (None, argparse.SUPPRESS):
            action.help = formatter._get_help_string(action)
