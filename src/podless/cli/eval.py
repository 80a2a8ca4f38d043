"""podless eval: evaluate one rule on one object, and show the value of each part of the rule."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from podless.check.sources import CannotCheck, find_sources
from podless.codec.documents import split_documents
from podless.codec.jsontext import JSONError
from podless.meta.field import Path, format_path, parse_path
from podless.runtime.jsonobject import Object
from podless.runtime.option import report_errors


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option for the release."""
    from podless.cli import options

    options.add_selected(parser, ("kubernetes_version",))


def run(args: argparse.Namespace) -> int:
    """Evaluate, and print the parts."""
    from podless.apis import features
    from podless.cel.errors import CelError
    from podless.check.evaluate import evaluate_rule, format_value

    with report_errors(CelError):
        obj = _read_document(args.object)
        old = _read_document(args.old) if args.old else None
        schema = _find_schema(args, obj)
        path = _parse_path(args.at)
        this, before = (_select_part(value, path) if value is not None else None for value in (obj, old))
        result = evaluate_rule(
            args.rule,
            this,
            before,
            schema=_find_subschema(schema, path),
            complete=not path,
            new=features.choose_release(args.kubernetes_version),
        )
    if args.output == "json":
        steps = [asdict(step) for step in result.steps]
        document = {"value": format_value(result.value), "error": result.error, "type": result.type}
        print(json.dumps({**document, "cost": result.cost, "estimate": result.estimate, "steps": steps}, indent=2))
    else:
        if not result.steps:  # a constant
            print(f"{args.rule} => {result.error or format_value(result.value)}")
        for step in result.steps:
            outcome = step.value if not step.error else f"error: {step.error}"
            print(f"{'  ' * step.depth}{step.text} => {outcome}")
        print(f"cost {result.cost}, estimated at most {result.estimate}")
    return 0 if result.value is not False and not result.error else 1


def _read_document(name: str) -> Object:
    """Return the first document of a file. Raises CannotCheck."""
    [source] = find_sources([name])[:1]
    document = next(split_documents(source.name, source.read()), None)
    if document is None:
        raise CannotCheck(f"{source.name}: the file is empty")
    try:
        value = document.decode_value()
    except JSONError as error:
        raise CannotCheck(f"{source.name}: {error.message}") from None
    if not isinstance(value, dict):
        raise CannotCheck(f"{source.name}: not an object")
    return value


def _find_schema(args: argparse.Namespace, obj: Object) -> Object | None:
    """Return the schema of the object. Raises CannotCheck."""
    if args.schema is None:
        return None
    document = _read_document(args.schema)
    if "kind" not in document and "apiVersion" not in document:
        return document
    spec = document.get("spec")
    if document.get("kind") != "CustomResourceDefinition" or not isinstance(spec, dict):
        raise CannotCheck(f"{args.schema}: neither a CustomResourceDefinition nor an openAPIV3Schema")
    version_name = args.version or str(obj.get("apiVersion") or "").rpartition("/")[2]
    versions = [version for version in spec.get("versions") or () if version.get("name") == version_name]
    if not versions:
        raise CannotCheck(f"{args.schema}: the definition has no version {version_name}; name one with --version")
    schema: Object | None = (versions[0].get("schema") or {}).get("openAPIV3Schema")
    if not schema:
        raise CannotCheck(f"{args.schema}: version {version_name} of the definition has no schema")
    return schema


def _parse_path(text: str) -> Path:
    """Return the path in --at. Raises CannotCheck for a text that no path is written as, such as `spec[`."""
    path = parse_path(text)
    if format_path(path) != text.removeprefix("."):
        raise CannotCheck(f"--at: {text} is not a path; write it like spec.ports[0]")
    return path


def _select_part(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            raise CannotCheck(f"the object has no {format_path(path)}") from None
    return value


def _find_subschema(schema: Object | None, path: Path) -> Object | None:
    """Return the schema of a part of the object."""
    for step in path if schema is not None else ():
        assert schema is not None
        subschema = schema.get("items") if isinstance(step, int) else (schema.get("properties") or {}).get(step)
        schema = subschema if isinstance(subschema, dict) else schema.get("additionalProperties")
        if not isinstance(schema, dict):
            raise CannotCheck(f"the schema has no {format_path(path)}")
    return schema
