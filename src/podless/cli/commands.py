"""Options and arguments of the commands, as commands.txt declares them; it explains its format."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from podless.runtime.option import StartError, parse_number, parse_positive

_SECTIONS = re.compile(r"^(podless|shared) (.+?):(.*)\n((?:  .*\n|\n)*)", re.MULTILINE)
_LINES = re.compile(r"^  (?! ).*(?:\n   .*)*", re.MULTILINE)
_WORD = re.compile(r"(type|choices|default|dest)=(.*)")
_NAME = re.compile(r"\{([\w.]+)\}")
_DEFAULT = re.compile(r"\bdefault: ", re.IGNORECASE)


class DefaultsFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Adds the default to the help of each option, unless the text mentions it."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        # Python before 3.13 adds this to flags
        help_string = (action.help or "").removesuffix(" (default: %(default)s)")
        if _DEFAULT.search(help_string) or action.default in (None, "", False, [], argparse.SUPPRESS):
            return help_string
        return f"{help_string} (default: on)" if action.default is True else f"{help_string} (default: %(default)s)"


def as_type(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser of texts as a type for argparse, which then shows the text of its ValueError or StartError."""

    def parse_text(text: str) -> Any:
        try:
            return parse(text)
        except StartError as error:
            raise argparse.ArgumentTypeError(error.why) from None  # argparse names the option
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse_text


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(f"{text} is not a number of seconds above 0")
    return seconds


_TYPES: Mapping[str, Callable[[str], Any]] = {
    "path": Path,
    "int": int,
    "float": float,
    "positive": as_type(parse_positive),
    "number": as_type(parse_number),
    "seconds": as_type(_parse_seconds),
}


_FOUND = _SECTIONS.findall(Path(__file__).with_name("commands.txt").read_text(encoding="utf-8"))
# by name: the summary of each command and the lines below it; the lines of options that commands share
COMMANDS: Mapping[str, tuple[str, str]] = {
    name: (rest.strip(), lines) for kind, name, rest, lines in _FOUND if kind == "podless"
}
SHARED: Mapping[str, str] = {name: lines for kind, name, _, lines in _FOUND if kind == "shared"}


def add_command(commands: Any, name: str) -> Any:
    """Add a command to the subparsers of a parser. Returns its parser."""
    summary, text = COMMANDS[name]
    description, _, lines = text.partition("\n\n")
    parser = commands.add_parser(name, help=summary, description=" ".join(description.split()))
    _add_lines(parser, lines)
    return parser


def _add_lines(parser: argparse.ArgumentParser, lines: str) -> None:
    group: Any = parser
    for line in _LINES.findall(lines):
        first = line.strip()
        if first.startswith("<"):
            _add_lines(parser, SHARED[first[1:-1]])
        elif first.startswith("["):
            title, _, description = first[1:].partition("]")
            group = parser.add_argument_group(title, description.strip() or None)
        else:
            spec, _, text = re.sub(r"\n *", "  ", first).partition("  ")
            names, keywords = _read_words(spec.split(" "))
            text = _NAME.sub(lambda match: str(_find_value(match[1])), " ".join(text.split()))
            group.add_argument(*names, help=text, **keywords)


def _read_words(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the names of an argument and the keywords with which argparse declares it."""
    names: list[str] = []
    keywords: dict[str, Any] = {}
    for word in words:
        if match := _WORD.fullmatch(word):
            keywords[match[1]] = _READ.get(match[1], str)(match[2])
        elif word.startswith("-") or not names:
            names.append(word)
        else:
            keywords |= _read_placeholder(word, names[0].startswith("-"))
    if names[0].startswith("-") and not keywords.keys() & {"metavar", "choices"}:
        keywords["action"] = "store_true"
    return names, keywords


def _read_placeholder(word: str, is_option: bool) -> dict[str, Any]:
    sign = word[-1]
    if sign not in "?*+!":
        return {"metavar": word}
    if sign == "!":
        return {"metavar": word[:-1], "required": True}
    arguments = {"action": "append", "default": []} if is_option else {"nargs": sign}
    return {"metavar": word[:-1], **arguments}


def _read_type(text: str) -> Callable[[str], Any]:
    return as_type(_find_value(text)) if "." in text else _TYPES[text]


def _read_choices(text: str) -> tuple[str, ...]:
    return tuple(_find_value(text) if "." in text else text.split(","))


_READ: Mapping[str, Callable[[str], Any]] = {"type": _read_type, "choices": _read_choices}


def _find_value(name: str) -> Any:
    """Return what a module of podless has under a name, such as apis.features.SPANS."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"podless.{module}"), attribute)
