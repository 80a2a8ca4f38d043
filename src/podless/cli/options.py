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
        told = (action.help or "").removesuffix(" (default: %(default)s)")  # Python before 3.13 adds this to flags
        if _DEFAULT.search(told) or action.default in (None, "", False, [], argparse.SUPPRESS):
            return told
        return f"{told} (default: on)" if action.default is True else f"{told} (default: %(default)s)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser."""
    _add(parser, parser, Settings, "")


def add_section(group: Any, of: type, prefix: str) -> None:
    """Add the options of one section to another command. Options that only servers use are hidden."""
    for name, default, told in declared_options(of):
        assert isinstance(told, Option)
        _add_one(group, f"{prefix}{name}", default, replace(told, help=argparse.SUPPRESS) if told.serving else told)


def add_some(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """Add the options of some fields of Settings, and show defaults in the help."""
    parser.formatter_class = DefaultsFormatter
    for name, default, told in declared_options(Settings):
        if name in names and isinstance(told, Option):
            _add_one(parser, name, default, told)


def read_some(given: argparse.Namespace, names: Collection[str]) -> dict[str, Any]:
    """Return the values of some options, by field."""
    found = {name: told for name, _, told in declared_options(Settings) if name in names and isinstance(told, Option)}
    return {name: _value(getattr(given, name), told) for name, told in found.items()}


def chaos_notice(seed: int) -> str:
    """Return the notice about a seed."""
    return f"chaos: seed {seed}; to get the same faults again, use --chaos {seed}"


def _add(parser: argparse.ArgumentParser, group: Any, of: type, prefix: str) -> None:
    for name, default, told in _ordered(of):
        if isinstance(told, Section):
            inner = parser.add_argument_group(told.title, told.about or None)
            _add(parser, inner, told.of, f"{prefix}{name}.")
        elif told.flag:
            _add_one(group, f"{prefix}{name}", default, told)


def _ordered(of: type) -> list[tuple[str, Any, Option | Section]]:
    """Return the declared options: those of the class first, then its sections."""
    own = of.__annotations__
    return sorted(declared_options(of), key=lambda each: (isinstance(each[2], Section), each[0] not in own))


def _add_one(group: Any, dest: str, default: Any, told: Option) -> None:
    if told.values is not None:
        plain = told.values[1] is None and told.values[0] is False
        if plain:
            group.add_argument(told.flag, dest=dest, action="store_true", help=told.help)
        else:
            on = default == told.values[0]
            action = argparse.BooleanOptionalAction
            flags = (told.short, told.flag) if told.short else (told.flag,)
            group.add_argument(*flags, dest=dest, action=action, default=on, help=told.help)
        return
    more: dict[str, Any] = {"dest": dest, "type": as_type(told.parse), "help": told.help}
    if told.choices:
        more["choices"] = told.choices
    else:
        more["metavar"] = told.metavar
    if told.many is not None:
        group.add_argument(told.flag, action="append", default=[], **more)
        return
    more["default"] = _default(default, told)
    if told.alone is not None:
        more |= {"nargs": "?", "const": told.alone, "metavar": told.metavar}
    if told.without is None:
        group.add_argument(told.flag, **more)
        return
    either = group.add_mutually_exclusive_group()
    either.add_argument(told.flag, **more)
    flag, about = told.without
    either.add_argument(flag, dest=dest, action="store_const", const=None, default=argparse.SUPPRESS, help=about)


def _default(default: Any, told: Option) -> Any:
    if told.default is not None:
        return told.default
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
            if not told.given or any(given[f"{dest}.{each}"] for each in told.given):
                found[name] = _read_fields(given, told.of, f"{dest}.")
            else:
                _refuse_alone(given, told, f"{dest}.")
        elif told.flag:
            found[name] = _value(given[dest], told)
    return of(**{name: value if value is not None or name != "issuer" else "" for name, value in found.items()})


def _refuse_alone(given: dict[str, Any], section: Section, prefix: str) -> None:
    """Raise StartError for an option whose section requires another option."""
    known = [(name, default, told) for name, default, told in declared_options(section.of) if isinstance(told, Option)]
    needed = next(told.flag for name, _, told in known if name in section.given)
    for name, default, told in known:
        plain = _default(default, told)
        usual = told.parse(plain) if isinstance(plain, str) else plain
        if told.flag and name not in section.given and given[f"{prefix}{name}"] not in (usual, [], None):
            raise StartError(f"{told.flag} requires {needed}")


def _value(given: Any, told: Option) -> Any:
    if told.values is not None:
        if told.values[1] is None and told.values[0] is False:
            return not given
        return told.values[0] if given else told.values[1]
    return told.many(given) if told.many is not None else given
