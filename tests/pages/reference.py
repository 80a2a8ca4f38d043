"""Writes the reference pages from the code: commands, options of a server, metrics, faults, pytest, settings files."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from podless import pytest_plugin
from podless.app import Settings
from podless.cli import build_parser, check
from podless.http.faults.fault import RULES, TERMS, FieldSpec
from podless.http.faults.objects import _STATUS
from podless.http.metrics import FAMILIES
from podless.runtime.option import Option, Section, declared_options

DOCS = Path(__file__).parent.parent.parent / "docs"
_NOTE = "<!-- `python -m tests.pages write` writes this page from the code. Do not edit it. -->\n\n"

_COMMANDS = "`podless COMMAND --help` prints the same texts. `podless --version` prints the version.\n\n"
_SERVER = (
    "`podless.Server(...)` takes these arguments, `data` first. `podless serve` has an option for most of them.\n\n"
)
_METRICS = """\
`GET /metrics` returns these families in the text format of Prometheus. Names and labels are those of kube-apiserver
where it has the family; families that begin with `podless_` are podless' own. See
[monitor a server](../how-to/operations.md#monitor-a-server-with-prometheus).

"""
_FAULTS = """\
A fault is a call of `server.faults.add(...)`, with the names in the column Python, or an object of the kind `Fault`
(`testing.podless.dev/v1`) with the names in the column spec. See [inject faults](../how-to/inject-faults.md).

## Which requests

"""
_PYTEST = """\
Installing podless installs the plugin; it imports nothing until a test uses one of its fixtures. See
[test a controller](../how-to/testing.md).

## Fixtures

"""
_CONFIGURATION = f"""\
`podless check` reads the table `[check]` of the nearest `{check.FILE}`: in the working directory or a folder above
it. Paths in it are relative to its folder. Options on the command line take precedence. A table or setting that is
not on this page is an error.

```toml
[check]
paths = ["config"]
crds = ["vendor/crds"]
exclude = ["kustomization.yaml"]
ignore-unknown = true
```

"""

# what 0, 1 and 2 mean, by command
EXIT_CODES: Mapping[str, tuple[str, str, str]] = {
    "serve": ("stopped by SIGTERM or SIGINT", "the server cannot start", "-"),
    "run": ("the command ended with 0", "the server cannot start; or the command ended with 1", "-"),
    "envtest": ("the programs are written", "the folder cannot be written", "-"),
    "kubeconfig": ("the kubeconfig is printed", "it cannot be made", "-"),
    "status": ("the server answered", "it cannot be reached", "-"),
    "backup": ("the backup is complete", "it failed", "-"),
    "restore": ("the restore is complete", "it failed", "-"),
    "export": ("all objects are exported", "some could not be read", "neither kinds nor `--all` are given"),
    "import": ("all objects are imported", "some could not be written; run it again", "-"),
    "migrate": ("all objects are migrated", "some are not; run it again", "neither names nor `--all` are given"),
    "check": ("every object would be accepted; warnings are allowed", "an object would be rejected", "checking failed"),
    "compare": ("nothing breaks", "something breaks", "comparing failed"),
    "test": ("every statement holds", "a statement does not hold", "a suite cannot be run"),
    "eval": ("the rule is true, or no boolean", "the rule is false or fails", "the rule cannot be evaluated"),
    "plan": ("nothing would change", "an object would be rejected, or planning failed", "something would change"),
    "apply": ("everything is applied", "an object was rejected, or applying failed", "-"),
    "explore": ("the property holds in all runs", "a run violates it", "exploring failed"),
    "log": ("the changes are shown", "they cannot be read", "-"),
    "show": ("the object is shown", "it cannot be read", "-"),
    "diff": ("nothing differs", "something differs, or it cannot be read", "-"),
    "blame": ("the fields are shown", "they cannot be read", "-"),
    "undo": ("the change is undone", "it cannot be undone", "-"),
    "model": ("the models are written", "-", "they cannot be made"),
    "crd": ("the definitions are written", "-", "they cannot be made"),
    "schema": ("the schemas are written", "-", "a file cannot be read or written, or has no definition"),
    "convert": ("everything is converted", "checks or fields are lost", "a manifest cannot be converted"),
    "completion": ("the script is printed", "shtab is not installed", "the shell is not known"),
}


def _begin(title: str, introduction: str) -> str:
    return f"{_NOTE}# {title}\n\n{introduction}"


_NAMES = ("bash", "podless", "kubectl")  # are not capitalized


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _row(*cells: str) -> str:
    return f"| {' | '.join(map(_cell, cells))} |\n".replace("|  |", "| |")


def _table(*head: str) -> str:
    return _row(*head) + "|" + "---|" * len(head) + "\n"


def _sentence(text: str) -> str:
    """Begin a text with a capital, unless it begins with a name, and end it with a period."""
    first = text.split(" ", 1)[0].rstrip(",:;")
    start = text[:1] if first in _NAMES or "." in first.rstrip(".") else text[:1].upper()
    return start + text[1:] + ("" if not text or text.endswith((".", "!", "?")) else ".")


# commands


def parsers() -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of every command, by name."""
    whole = build_parser()
    (found,) = [each for each in whole._actions if isinstance(each, argparse._SubParsersAction)]
    return dict(found.choices)


def write_commands() -> str:
    """Return the page of the commands."""
    page = _begin("Commands", _COMMANDS)
    whole = build_parser()
    (found,) = [each for each in whole._actions if isinstance(each, argparse._SubParsersAction)]
    page += _table("command", "what it does")
    for each in found._choices_actions:
        page += _row(f"[`podless {each.dest}`](#podless-{each.dest})", _sentence(each.help or ""))
    for name, parser in found.choices.items():
        page += f"\n## podless {name}\n\n{_sentence(parser.description or '')}\n"
        page += f"\n```text\n{_usage(parser)}\n```\n"
        for group in parser._action_groups:
            actions = [
                each
                for each in group._group_actions
                if "--help" not in each.option_strings and each.help != argparse.SUPPRESS
            ]
            if actions:
                page += f"\n{_title(group)}" + _table("option", "meaning", "default")
                page += "".join(_row(_left(each), _sentence(_help(each)), _default(each)) for each in actions)
    return page + _exit_codes()


def _is_listed(action: argparse.Action) -> bool:
    return "--help" not in action.option_strings and action.help != argparse.SUPPRESS


def _exit_codes() -> str:
    page = "\n## Exit status\n\nInvalid options end every command with 2, and `podless plan` with 1. "
    page += "Ctrl-C ends a command with 130, `podless serve` with 0 and `podless explore` with 2. "
    page += "`podless run` ends with the status of its command.\n\n"
    page += _table("command", "0", "1", "2")
    return page + "".join(_row(f"`{name}`", *meanings) for name, meanings in EXIT_CODES.items())


def _usage(parser: argparse.ArgumentParser) -> str:
    required = [each for each in parser._actions if each.required and each.option_strings]
    words = [parser.prog, *(f"{each.option_strings[0]} {_metavar(each)}" for each in required)]
    words += ["[options]"]
    for each in parser._actions:
        if not each.option_strings:
            value = _metavar(each)
            optional = each.nargs in ("?", "*")
            words.append(f"[{value}]" if optional else value)
    return " ".join(words)


def _title(group: argparse._ArgumentGroup) -> str:
    title = group.title or ""
    if title in ("options", "positional arguments"):
        return ""
    about = f"\n\n{_sentence(group.description)}" if group.description else ""
    return f"**{title}**{about}\n\n"


def _metavar(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "|".join(map(str, action.choices))
    more = " ..." if action.nargs in ("*", "+", argparse.REMAINDER, "...") else ""
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return name.removesuffix(" ...") + more


def _help(action: argparse.Action) -> str:
    """Return the help of an option without its default, which has a column of its own."""
    text = (action.help or "") % {"default": action.default, "prog": "podless"}
    return text.removesuffix(f"(default: {action.default})").rstrip()


def _left(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_metavar(action)}`"
    names = sorted(action.option_strings, key=lambda name: (name.startswith("--"), name.startswith("--no-")))
    if action.nargs == 0:
        return ", ".join(f"`{name}`" for name in names)
    value = f"[{_metavar(action)}]" if action.nargs == "?" else _metavar(action)
    return ", ".join(f"`{name} {value}`" for name in names)


def _default(action: argparse.Action) -> str:
    if isinstance(action, argparse.BooleanOptionalAction):
        return "on" if action.default else "off"
    shown = action.default
    if shown in (None, False, "", [], argparse.SUPPRESS) or action.required:
        return ""
    return f"`{shown}`"


# a server in Python


def write_server_options() -> str:
    """Return the page of the arguments of podless.Server."""
    page = _begin("Arguments of podless.Server", _SERVER)
    return page + _settings(Settings)


def _settings(of: type) -> str:
    page = _table("argument", "option of `podless serve`", "meaning", "default")
    sections: list[tuple[str, Section]] = []
    for name, default, told in declared_options(of):
        if isinstance(told, Section):
            sections.append((name, told))
        else:
            shown = "required" if default is MISSING else f"`{_value(default)}`"
            page += _row(f"`{name}`", f"`{told.flag}`" if told.flag else "", _meaning(told), shown)
    for name, told in sections:
        page += f"\n## {name}: podless.{told.of.__name__}\n\n{_sentence(told.description or told.title)}\n\n"
        page += _settings(told.of).replace("\n## ", "\n### ")
    return page


def _meaning(told: Option) -> str:
    opposite = told.values is not None and told.values[0] is False
    return _sentence(f"False: {told.help}" if opposite else told.help)


def _value(default: Any) -> str:
    return "()" if default in ((), []) else repr(str(default) if isinstance(default, Path) else default)


# metrics


def write_metrics() -> str:
    """Return the page of the metrics."""
    page = _begin("Metrics", _METRICS)
    page += _table("family", "type", "labels", "meaning")
    for name, family in FAMILIES.items():
        page += _row(f"`{name}`", family.type, ", ".join(family.labels), family.help)
    return page


# faults

_EFFECTS = "delay"  # the first field that says what happens; the ones before say to which requests


def write_faults() -> str:
    """Return the page of the fields of a fault."""
    page = _begin("Fault fields", _FAULTS)
    head = _table("spec", "Python", "type", "meaning", "allowed")
    page += head
    for name, term in TERMS.items():
        if name == _EFFECTS:
            page += f"\n## What happens\n\n{head}"
        page += _row(f"`{name}`", f"`{_snake(name)}`", _type(term), _sentence(term.description), _allowed(term))
    page += "\n## Status\n\n" + _table("status", "type", "meaning")
    for name, (type_, about) in _STATUS.items():
        page += _row(f"`{name}`", type_, _sentence(about))
    page += "\n## Rules\n\nThe server rejects a fault that breaks one of these rules:\n\n"
    return page + "".join(f"- {rule.message}\n" for rule in RULES)


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def _type(term: FieldSpec) -> str:
    return {str: "string", int: "integer", float: "number", bool: "boolean"}[term.type]


def _allowed(term: FieldSpec) -> str:
    if term.choices:
        return ", ".join(f"`{choice}`" for choice in term.choices)
    if term.type is str:
        return f"up to {term.maximum:,g} characters"
    if term.type is bool:
        return ""
    if term.minimum < 0:
        return "any"
    return f"from {term.minimum:,g}" if term.maximum > 1 << 32 else f"{term.minimum:,g} to {term.maximum:,g}"


# pytest


class _Recorded:
    """Takes what the plugin declares to pytest."""

    def __init__(self) -> None:
        self.settings: list[tuple[str, str, str, Any]] = []
        self.options: list[tuple[str, str]] = []

    def getgroup(self, name: str) -> _Recorded:
        return self

    def addoption(self, flag: str, *, metavar: str = "", help: str = "", nargs: str = "", **_: Any) -> None:
        self.options.append((f"{flag} [{metavar}]" if nargs == "?" else f"{flag} {metavar}".strip(), help))

    def addini(self, name: str, help: str, type: str = "string", default: Any = None) -> None:
        self.settings.append((name, help, type, default))


def fixtures() -> Iterator[tuple[str, str, str]]:
    """Yield the public fixtures of the plugin: name, scope, and the docstring."""
    for node in ast.parse(Path(pytest_plugin.__file__).read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            for decorator in map(ast.unparse, node.decorator_list):
                if decorator.startswith("pytest.fixture"):
                    yield node.name, "session" if "session" in decorator else "function", ast.get_docstring(node) or ""


def write_pytest() -> str:
    """Return the page of the pytest plugin."""
    recorded = _Recorded()
    pytest_plugin.pytest_addoption(recorded)  # type: ignore[arg-type]
    page = _begin("pytest plugin", _PYTEST)
    page += _table("fixture", "scope", "meaning")
    page += "".join(_row(f"`{name}`", scope, _sentence(about)) for name, scope, about in fixtures())
    page += "\n## Settings\n\nIn `pytest.ini`, or under `[tool.pytest.ini_options]` of `pyproject.toml`:\n\n"
    page += _table("setting", "type", "meaning", "default")
    for name, about, type_, default in recorded.settings:
        page += _row(f"`{name}`", type_, _sentence(about), f"`{str(default).lower()}`" if type_ == "bool" else "")
    page += "\n## Command-line options\n\n" + _table("option", "meaning")
    return page + "".join(_row(f"`{flag}`", _sentence(about)) for flag, about in recorded.options)


# podless.toml


def write_configuration() -> str:
    """Return the page of the settings file."""
    options = {each.dest: each for each in parsers()["check"]._actions}
    page = _begin("podless.toml", _CONFIGURATION)
    page += _table("key", "type", "meaning", "default")
    for field in fields(check.CheckSettings):
        key = field.name.replace("_", "-")
        kind = "list of strings" if "Sequence" in str(field.type) else check._KINDS.get(field.name, str).__name__
        kind = {"str": "string", "bool": "boolean", "int": "integer"}.get(kind, kind)
        about = _help(options[field.name]).removesuffix(" (repeatable)")
        about, _, default = (
            about.removesuffix(")").partition(" (default: ") if " (default: " in about else (about, "", "")
        )
        if field.default not in ((), None, "", 0) or isinstance(field.default, bool):
            default = f"`{str(field.default).lower()}`"
        page += _row(f"`{key}`", kind, _sentence(about), default)
    return page


PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": write_commands,
    "server-options.md": write_server_options,
    "metrics.md": write_metrics,
    "faults.md": write_faults,
    "pytest.md": write_pytest,
    "configuration.md": write_configuration,
}


def write() -> list[Path]:
    """Write all pages of the reference that come from code; return those that changed."""
    changed = []
    for name, make in PAGES.items():
        path, text = DOCS / "reference" / name, make()
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            changed.append(path)
    return changed
