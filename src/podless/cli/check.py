"""podless check: report what a server would say about manifests, with file and line.

The settings are from options, and from [check] in the nearest podless.toml of a parent directory.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from podless.apis import features
from podless.check.catalog import read_kinds
from podless.check.documents import STRICT, VALIDATIONS, Strictness
from podless.check.output import FORMS, render_report
from podless.check.run import CheckOptions, check_files, has_definition, read_definitions
from podless.check.sources import CannotCheck, SourceFile, fetch_definitions, find_sources, former_files
from podless.cli.progress import Progress
from podless.runtime.dataclass import dataclass
from podless.runtime.files import read_path
from podless.runtime.messages import suggest_name
from podless.runtime.option import StartError

FILE = "podless.toml"
_TABLE = "check"
_KINDS: dict[str, type] = {"ignore_unknown": bool, "references": bool, "explain_cost": bool, "processes": int}
_TYPE_NAMES = {bool: "true or false", int: "an integer", str: "a string"}
_LISTS = ("paths", "crds", "exclude", "openapi")
_CHOICES = {"field_validation": VALIDATIONS, "output": FORMS}


@dataclass(frozen=True)
class CheckSettings:
    """All settings of a check. The names are those of the options, with _ instead of -."""

    paths: Sequence[str] = ()
    crds: Sequence[str] = ()
    exclude: Sequence[str] = ()
    openapi: Sequence[str] = ()
    context: str | None = None
    kubeconfig: Path | None = None
    old: str = ""
    field_validation: str = STRICT
    ignore_unknown: bool = False
    references: bool = False
    explain_cost: bool = False
    output: str = "text"
    processes: int = 0
    kubernetes_version: str = features.DEFAULT

    def make_options(self) -> CheckOptions:
        """Return the settings as CheckOptions.

        Raises CannotCheck if the running API or an OpenAPI document cannot be read.
        """
        try:
            releases = [release.name for release in features.choose_all(self.kubernetes_version)]
        except StartError as error:
            raise CannotCheck(str(error)) from None
        return CheckOptions(
            rules=Strictness(self.field_validation, self.ignore_unknown),
            references=self.references,
            processes=self.processes,
            definitions=() if self.context is None else fetch_definitions(self.kubeconfig, self.context),
            schemas=read_kinds(self.openapi),
            releases=releases,
        )


def run(args: argparse.Namespace) -> int:
    """Check, and print the report. Returns the exit code."""
    chosen = resolve_settings(vars(args))
    if not chosen.paths:
        raise CannotCheck("name the files to check, or - for standard input")
    sources = find_sources(chosen.paths, chosen.exclude)
    definitions = _find_definitions(chosen)
    if chosen.explain_cost:
        return _explain_costs([*definitions, *sources], chosen)
    progress = Progress(elsewhere=False)
    report = check_files(
        sources,
        known=definitions,
        old=former_files(chosen.old, chosen.paths, chosen.exclude) if chosen.old else (),
        options=chosen.make_options(),
        progress=lambda done, total: progress.show(f"{done} of {total} files"),
    )
    progress.clear()
    texts = {source.name: source.read for source in sources}
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    rendered = render_report(report, chosen.output, lambda name: texts[name]() if name in texts else None, color=color)
    sys.stdout.write(rendered)
    sys.stdout.flush()
    return 1 if report.errors else 0


def _find_definitions(chosen: CheckSettings) -> list[SourceFile]:
    """Return the files of --crds. Raises CannotCheck for a path without a definition."""
    definitions: dict[str, SourceFile] = {}
    for path in chosen.crds:
        sources = find_sources([path], chosen.exclude)
        if not any(map(has_definition, sources)):
            raise CannotCheck(f"{path}: no CustomResourceDefinition found")
        definitions.update((source.name, source) for source in sources)
    return [*definitions.values()]


def _explain_costs(source_files: Sequence[SourceFile], chosen: CheckSettings) -> int:
    """Print the maximum cost of every rule. Returns 1 if a rule is too expensive or does not compile, else 0."""
    from podless.check.costs import estimate_costs, format_cost  # imported late: few checks need CEL

    estimates = [cost for definition in read_definitions(source_files) for cost in estimate_costs(definition)]
    if chosen.output == "json":
        shares = [{**asdict(cost), "total": cost.total, "share": cost.share} for cost in estimates]
        print(json.dumps(shares, indent=2, ensure_ascii=False))
    else:
        for cost in estimates:
            print(format_cost(cost))
    return 1 if any(cost.error or cost.share > 1 for cost in estimates) else 0


def resolve_settings(arguments: Mapping[str, Any]) -> CheckSettings:
    """Return the settings of the command line, with podless.toml as defaults. Raises CannotCheck."""
    options = {name: value for name, value in arguments.items() if value not in (None, [], False)}
    chosen = _read_file(Path.cwd()) | {
        field.name: options[field.name] for field in fields(CheckSettings) if field.name in options
    }
    return CheckSettings(**chosen)


def _read_file(folder: Path) -> dict[str, Any]:
    """Return [check] of the nearest podless.toml, with absolute paths: they are relative to its folder."""
    file = next((parent / FILE for parent in (folder, *folder.parents) if (parent / FILE).is_file()), None)
    if file is None:
        return {}
    try:
        document = tomllib.loads(read_path(file).decode())
    except ValueError as error:
        raise CannotCheck(f"{file}: {error}") from None
    for name, value in document.items():
        if name != _TABLE:
            raise CannotCheck(f"{file}: {_explain_unknown(name, value)}")
    table = document.get(_TABLE, {})
    if not isinstance(table, dict):
        raise CannotCheck(f"{file}: {_TABLE} is not a table: write [{_TABLE}] on a line of its own")
    return {
        name: _check_setting(file, name, value)
        for name, value in ((key.replace("-", "_"), table[key]) for key in table)
    }


def _explain_unknown(name: str, value: Any) -> str:
    """Return the text for an unknown name at the top of the file."""
    if not isinstance(value, dict):
        hint = f"; write it below [{_TABLE}]" if name.replace("-", "_") in _list_names() else ""
        return f"the setting {name!r} is in no table{hint}"
    return f"unknown table [{name}]{suggest_name(name, [_TABLE])}; the file has one table, [{_TABLE}]"


def _list_names() -> list[str]:
    return [field.name for field in fields(CheckSettings)]


def _check_setting(file: Path, name: str, value: Any) -> Any:
    option = name.replace("_", "-")
    if name not in _list_names():
        option_names = [known_name.replace("_", "-") for known_name in _list_names()]
        hint = suggest_name(option, option_names) or f"; it has {', '.join(option_names)}"
        raise CannotCheck(f"{file}: [{_TABLE}] has no setting {option!r}{hint}")
    setting = f"{file}: {_TABLE}.{option}"
    if name in _LISTS:
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise CannotCheck(f"{setting} is not a list of strings")
        return value if name == "exclude" else [str(file.parent / item) for item in value]
    if type(value) is not _KINDS.get(name, str):
        raise CannotCheck(f"{setting} must be {_TYPE_NAMES[_KINDS.get(name, str)]}")
    if name == "processes" and isinstance(value, int) and value < 1:
        raise CannotCheck(f"{setting} must be above 0")
    if value not in _CHOICES.get(name, (value,)):
        raise CannotCheck(f"{setting}: {value} is not one of {', '.join(_CHOICES[name])}")
    return Path(str(value)) if name == "kubeconfig" else value
