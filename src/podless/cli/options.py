"""Options of `podless serve` and their help texts, from their declaration in podless.app.Settings.

Other commands take some of them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, replace
from typing import Any

from podless.app import Settings
from podless.cli.commands import as_type
from podless.cluster import configure_store
from podless.runtime.files import describe_fault
from podless.runtime.option import Option, Section, StartError, declared_options
from podless.settings import ClusterSettings
from podless.store import Store
from podless.store.engines import DATABASE, option_sections

_FILES = ("FILE", "DIR")  # placeholders of options that name a file


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser."""
    _add_fields(parser, parser, Settings, "")


def add_selected(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """Add the options of some fields of Settings."""
    for name, default, declared in declared_options(Settings):
        if name in names and isinstance(declared, Option):
            _add_one(parser, name, default, declared)


def read_selected(args: argparse.Namespace, names: Collection[str]) -> dict[str, Any]:
    """Return the values of some options, by field."""
    options = {
        name: option for name, _, option in declared_options(Settings) if name in names and isinstance(option, Option)
    }
    return {name: _convert_value(getattr(args, name), option) for name, option in options.items()}


def add_store_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the store, for a command that opens it without a server. Those of servers are hidden."""
    for section_name, section in option_sections().items():
        group = parser.add_argument_group(section.title, "as for podless serve")
        for name, default, declared in declared_options(section.of):
            assert isinstance(declared, Option)
            option = replace(declared, help=argparse.SUPPRESS) if declared.server_only else declared
            _add_one(group, f"{section_name}.{name}", default, option)


def make_chosen_store(args: argparse.Namespace) -> Store:
    """Return the store of the options, not yet open. It does not compact on its own. Raises StartError."""
    sections = {name: _read_fields(vars(args), item.of, f"{name}.") for name, item in option_sections().items()}
    return configure_store(ClusterSettings(store=args.store, **sections), args.data / DATABASE, compacting=False)


def chaos_notice(seed: int) -> str:
    """Return the notice about a seed."""
    return f"chaos: seed {seed}; to get the same faults again, use --chaos {seed}"


def _add_fields(parser: argparse.ArgumentParser, group: Any, cls: type, prefix: str) -> None:
    for name, default, declared in _order_options(cls):
        if isinstance(declared, Section):
            subgroup = parser.add_argument_group(declared.title, declared.description or None)
            _add_fields(parser, subgroup, declared.of, f"{prefix}{name}.")
        elif declared.flag:
            _add_one(group, f"{prefix}{name}", default, declared)


def _order_options(cls: type) -> list[tuple[str, Any, Option | Section]]:
    """Return the declared options: those of the class first, then its sections."""
    own_names = cls.__annotations__
    return sorted(declared_options(cls), key=lambda entry: (isinstance(entry[2], Section), entry[0] not in own_names))


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
    keywords: dict[str, Any] = {"dest": dest, "type": as_type(option.parse), "help": option.help}
    if option.choices:
        keywords["choices"] = option.choices
    else:
        keywords["metavar"] = option.metavar
    if option.combine is not None:
        group.add_argument(option.flag, action="append", default=[], **keywords)
        return
    keywords["default"] = _choose_default(default, option)
    if option.bare_value is not None:
        keywords |= {"nargs": "?", "const": option.bare_value, "metavar": option.metavar}
    if option.unset_flag is None:
        group.add_argument(option.flag, **keywords)
        return
    either = group.add_mutually_exclusive_group()
    either.add_argument(option.flag, **keywords)
    flag, unset_help = option.unset_flag
    either.add_argument(flag, dest=dest, action="store_const", const=None, default=argparse.SUPPRESS, help=unset_help)


def _choose_default(default: Any, option: Option) -> Any:
    if option.default is not None:
        return option.default
    return None if default is MISSING else default


def read_settings(args: argparse.Namespace) -> Settings:
    """Return the settings. Raises StartError for invalid ones."""
    settings: Settings = _read_fields(vars(args), Settings, "")
    return settings


@contextmanager
def name_options(args: argparse.Namespace) -> Iterator[None]:
    """Add to errors about a file the option that names it. Raises StartError in place of OSError."""
    try:
        yield
    except BrokenPipeError:  # the reader of the output has closed it
        raise
    except (StartError, OSError) as error:
        text = describe_fault(error) if isinstance(error, OSError) else str(error)
        raise StartError(text, _find_flag(vars(args), text, Settings, "")) from None


def _find_flag(arguments: dict[str, Any], text: str, cls: type, prefix: str) -> str:
    """Return the flag of the option with the file that an error starts with, "" if there is none."""
    for name, _, declared in declared_options(cls):
        dest = f"{prefix}{name}"
        if isinstance(declared, Section):
            if flag := _find_flag(arguments, text, declared.of, f"{dest}."):
                return flag
        elif declared.metavar in _FILES and isinstance(path := arguments.get(dest), str | os.PathLike) and path:
            starts = f"{path}: ", f"{path}, ", f"{os.path.abspath(path)}: "
            if text.startswith(starts):
                return declared.flag
    return ""


def _read_fields(arguments: dict[str, Any], cls: type, prefix: str) -> Any:
    values: dict[str, Any] = {}
    for name, _, declared in declared_options(cls):
        dest = f"{prefix}{name}"
        if isinstance(declared, Section):
            if not declared.any_of or any(arguments[f"{dest}.{required}"] for required in declared.any_of):
                values[name] = _read_fields(arguments, declared.of, f"{dest}.")
            else:
                _reject_without_required(arguments, declared, f"{dest}.")
        elif declared.flag:
            values[name] = _convert_value(arguments[dest], declared)
    return cls(**{name: value if value is not None or name != "issuer" else "" for name, value in values.items()})


def _reject_without_required(arguments: dict[str, Any], section: Section, prefix: str) -> None:
    """Raise StartError for an option whose section requires another option."""
    options = [
        (name, default, option) for name, default, option in declared_options(section.of) if isinstance(option, Option)
    ]
    needed = next(option.flag for name, _, option in options if name in section.any_of)
    for name, default, option in options:
        plain = _choose_default(default, option)
        usual = option.parse(plain) if isinstance(plain, str) else plain
        if option.flag and name not in section.any_of and arguments[f"{prefix}{name}"] not in (usual, [], None):
            raise StartError(f"{option.flag} requires {needed}")


def _convert_value(value: Any, option: Option) -> Any:
    if option.values is not None:
        if option.values[1] is None and option.values[0] is False:
            return not value
        return option.values[0] if value else option.values[1]
    return option.combine(value) if option.combine is not None else value
