"""Options of `podless serve` and their help texts, from their declaration in podless.app.Settings."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from dataclasses import MISSING, replace
from typing import Any

from podless.app import Settings
from podless.cli.arguments import as_type
from podless.runtime.option import Option, Section, StartError, declared_options

_DEFAULT = re.compile(r"\bdefault: ", re.IGNORECASE)


class DefaultsFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Adds the default to the help of each option, unless the text mentions it."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        help_string = (action.help or "").removesuffix(
            " (default: %(default)s)"
        )  # Python before 3.13 adds this to flags
        if _DEFAULT.search(help_string) or action.default in (None, "", False, [], argparse.SUPPRESS):
            return help_string
        return f"{help_string} (default: on)" if action.default is True else f"{help_string} (default: %(default)s)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser."""
    _add_fields(parser, parser, Settings, "")


def add_section(group: Any, of: type, prefix: str) -> None:
    """Add the options of one section to another command. Options that only servers use are hidden."""
    for name, default, told in declared_options(of):
        assert isinstance(told, Option)
        _add_one(group, f"{prefix}{name}", default, replace(told, help=argparse.SUPPRESS) if told.server_only else told)


def add_selected(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """Add the options of some fields of Settings, and show defaults in the help."""
    parser.formatter_class = DefaultsFormatter
    for name, default, told in declared_options(Settings):
        if name in names and isinstance(told, Option):
            _add_one(parser, name, default, told)


def read_selected(given: argparse.Namespace, names: Collection[str]) -> dict[str, Any]:
    """Return the values of some options, by field."""
    found = {name: told for name, _, told in declared_options(Settings) if name in names and isinstance(told, Option)}
    return {name: _convert_value(getattr(given, name), told) for name, told in found.items()}


def chaos_notice(seed: int) -> str:
    """Return the notice about a seed."""
    return f"chaos: seed {seed}; to get the same faults again, use --chaos {seed}"


def _add_fields(parser: argparse.ArgumentParser, group: Any, of: type, prefix: str) -> None:
    for name, default, told in _order_options(of):
        if isinstance(told, Section):
            inner = parser.add_argument_group(told.title, told.description or None)
            _add_fields(parser, inner, told.of, f"{prefix}{name}.")
        elif told.flag:
            _add_one(group, f"{prefix}{name}", default, told)


def _order_options(of: type) -> list[tuple[str, Any, Option | Section]]:
    """Return the declared options: those of the class first, then its sections."""
    own = of.__annotations__
    return sorted(declared_options(of), key=lambda each: (isinstance(each[2], Section), each[0] not in own))


def _add_one(group: Any, dest: str, default: Any, option: Option) -> None:
    if option.values is not None:
        plain = option.values[1] is None and option.values[0] is False
        if plain:
            group.add_argument(option.flag, dest=dest, action="store_true", help=option.help)
        else:
            on = default == option.values[0]
            action = argparse.BooleanOptionalAction
            flags = (option.letter, option.flag) if option.letter else (option.flag,)
            group.add_argument(*flags, dest=dest, action=action, default=on, help=option.help)
        return
    more: dict[str, Any] = {"dest": dest, "type": as_type(option.parse), "help": option.help}
    if option.choices:
        more["choices"] = option.choices
    else:
        more["metavar"] = option.metavar
    if option.combine is not None:
        group.add_argument(option.flag, action="append", default=[], **more)
        return
    more["default"] = _choose_default(default, option)
    if option.bare_value is not None:
        more |= {"nargs": "?", "const": option.bare_value, "metavar": option.metavar}
    if option.unset_flag is None:
        group.add_argument(option.flag, **more)
        return
    either = group.add_mutually_exclusive_group()
    either.add_argument(option.flag, **more)
    flag, about = option.unset_flag
    either.add_argument(flag, dest=dest, action="store_const", const=None, default=argparse.SUPPRESS, help=about)


def _choose_default(default: Any, option: Option) -> Any:
    if option.default is not None:
        return option.default
    return None if default is MISSING else default


def read_settings(given: argparse.Namespace) -> Settings:
    """Return the settings. Raises StartError for invalid ones."""
    settings: Settings = _read_fields(vars(given), Settings, "")
    return settings


def read_section(given: argparse.Namespace, of: type, prefix: str) -> Any:
    """Return the settings of a section. Raises StartError for invalid ones."""
    return _read_fields(vars(given), of, prefix)


def _read_fields(given: dict[str, Any], of: type, prefix: str) -> Any:
    found: dict[str, Any] = {}
    for name, _, told in declared_options(of):
        dest = f"{prefix}{name}"
        if isinstance(told, Section):
            if not told.any_of or any(given[f"{dest}.{each}"] for each in told.any_of):
                found[name] = _read_fields(given, told.of, f"{dest}.")
            else:
                _reject_without_required(given, told, f"{dest}.")
        elif told.flag:
            found[name] = _convert_value(given[dest], told)
    return of(**{name: value if value is not None or name != "issuer" else "" for name, value in found.items()})


def _reject_without_required(given: dict[str, Any], section: Section, prefix: str) -> None:
    """Raise StartError for an option whose section requires another option."""
    known = [(name, default, told) for name, default, told in declared_options(section.of) if isinstance(told, Option)]
    needed = next(told.flag for name, _, told in known if name in section.any_of)
    for name, default, told in known:
        plain = _choose_default(default, told)
        usual = told.parse(plain) if isinstance(plain, str) else plain
        if told.flag and name not in section.any_of and given[f"{prefix}{name}"] not in (usual, [], None):
            raise StartError(f"{told.flag} requires {needed}")


def _convert_value(value: Any, option: Option) -> Any:
    if option.values is not None:
        if option.values[1] is None and option.values[0] is False:
            return not value
        return option.values[0] if value else option.values[1]
    return option.combine(value) if option.combine is not None else value
