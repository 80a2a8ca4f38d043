"""Reads the annotation of a definition as conversions, and reports all errors in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from podless.cel import types
from podless.cel.errors import CelError, CompileError
from podless.cel.program import Program
from podless.cel.program import compile as compile_program
from podless.cel.rules.definitions import RULE_LIMIT
from podless.cel.schematypes import SchemaTypes
from podless.cel.types import Type
from podless.codec import serializer
from podless.kinds.declared.carryout import ConversionStep, DeclaredConversions
from podless.kinds.declared.paths import BadPath, DeclaredPath, find_schema, is_within, parse_path, sort_moves
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge
from podless.schema import Schema

_EITHER: Final = "int-or-string"
# CEL types that fit into a field, by the field's type; dyn fits into all
_KINDS: Final = {
    "string": ("string", "timestamp", "duration", "bytes"),
    "integer": ("int", "uint"),
    "number": ("double", "int", "uint"),
    "boolean": ("bool",),
    "array": ("list",),
    "object": ("map", "struct"),
    _EITHER: ("string", "int", "uint"),
}
_SCALARS: Final = ("bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp", "null")
_WITH_JSON: Final = (*_SCALARS, "list", "map", "dyn", "param")
_WIDER: Final = (("integer", "number"), ("integer", _EITHER), ("string", _EITHER))
_OBJECT: Final = "selfType"  # names of object types begin with this (cel/schematypes.py)
_MAX = 500  # maximum number of entries and paths together
_MAX_EXPRESSION = 4096  # maximum characters of one expression
_MAX_EXPRESSIONS = 32768  # maximum characters of all expressions; compiling takes 12 us for each character
# costs from here on mean that a size is unknown, such as that of string(1); the evaluation has its own limit
_UNKNOWN = 1 << 60
_WORDS = ("from", "to", "move", "set", "remove", "default")
_TEXTS: Object = {"type": "object", "additionalProperties": {"type": "string"}}
# the part of metadata that expressions can read
_METADATA: Object = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("name", "generateName", "namespace")},
        "labels": _TEXTS,
        "annotations": _TEXTS,
    },
}


def read_conversions(
    text: str, schemas: Mapping[str, Schema], path: str
) -> tuple[DeclaredConversions, list[FieldError]]:
    """Return the conversions that an annotation declares, and the errors in it.

    schemas: of all versions, by name. path: path of the annotation, for the errors.
    """
    reader = _ConversionReader(schemas)
    reader.read_entries(text, path)
    conversions = DeclaredConversions(reader.steps.values())
    if not reader.errors:
        names = list(schemas)
        for source in names:
            for target in names:
                charge(1)
                if not conversions.can_convert(source, target):
                    reader.errors.append(field.required(path, f"no conversion from {source} to {target} is declared"))
    return conversions, reader.errors


class _ConversionReader:
    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._declared: dict[str, SchemaTypes] = {}
        self._moves: dict[tuple[str, str], dict[DeclaredPath, DeclaredPath]] = {}
        self._written: dict[tuple[str, str], list[DeclaredPath]] = {}
        self._count = 0
        self._length = 0  # characters of all expressions so far
        self.steps: dict[tuple[str, str], ConversionStep] = {}
        self.errors: list[FieldError] = []

    def read_entries(self, text: str, path: str) -> None:
        """Read all entries of the annotation."""
        try:
            entries = serializer.decode_yaml(text.encode())
        except serializer.YAMLError as error:
            self.errors.append(field.invalid(path, text, f"must be YAML: {error.message}"))
            return
        if not isinstance(entries, list):
            self.errors.append(field.invalid(path, text, "must be a list of conversions"))
            return
        for index, entry in enumerate(entries):
            self._read_entry(entry, f"{path}[{index}]")
            if self._count > _MAX:
                self.errors.append(field.too_many(path, self._count, _MAX))
                return
        for pair, moves in self._moves.items():
            self.steps[pair].moves = sort_moves(moves)

    def _read_entry(self, entry: Any, at: str) -> None:
        """Read one entry: moves between two versions, or changes from one version to another."""
        self._count += 1
        if not isinstance(entry, dict):
            self._add_error(at, entry, "must be an object with between and move, or with from and to")
            return
        allowed = ("between", "move") if "between" in entry else _WORDS
        for name in entry:
            if name not in allowed:
                problem = f"unknown; with {'between' if 'between' in entry else 'from and to'} there can be "
                self.errors.append(field.forbidden(f"{at}.{name}", problem + ", ".join(allowed[1:])))
        if "between" in entry:
            versions = entry["between"]
            if not isinstance(versions, list) or len(versions) != 2:
                self._add_error(f"{at}.between", versions, "must be a list of two versions")
                return
            places = (f"{at}.between[0]", f"{at}.between[1]")
        else:
            versions, places = [entry.get("from"), entry.get("to")], (f"{at}.from", f"{at}.to")
        for version, entry_path in zip(versions, places, strict=True):
            if not isinstance(version, str) or version not in self._schemas:
                self._add_error(
                    entry_path, version, f"must be a version of this definition: {', '.join(self._schemas)}"
                )
                return
        if versions[0] == versions[1]:
            self._add_error(places[1], versions[1], "must be another version")
            return
        pair = versions[0], versions[1]
        self._read_first(pair)
        if "between" in entry:
            self._read_first(pair[::-1])
        self._read_moves(pair, entry.get("move"), f"{at}.move", both_ways="between" in entry)
        self._read_values(pair, entry.get("set"), f"{at}.set")
        self._read_removed(pair, entry.get("remove"), f"{at}.remove")
        self._read_defaults(pair, entry.get("default"), f"{at}.default")

    def _read_first(self, pair: tuple[str, str]) -> ConversionStep:
        if pair not in self.steps:
            self.steps[pair] = ConversionStep(*pair, self._schemas[pair[1]])
            self._moves[pair], self._written[pair] = {}, []
        return self.steps[pair]

    def _read_moves(self, pair: tuple[str, str], moves: Any, at: str, *, both_ways: bool) -> None:
        for source_text, target_text in self._iterate_map(moves, at):
            item_path = f"{at}[{source_text}]"
            source = self._read_path(source_text, pair[0], item_path)
            target = self._read_path(target_text, pair[1], item_path)
            if source is None or target is None:
                continue
            if source.prefix != target.prefix:
                self._add_error(
                    item_path, target_text, "must have the same path up to the last [*] as the field that moves"
                )
                continue
            if self._add_move(pair, source, target, item_path) and both_ways:
                self._add_move(pair[::-1], target, source, item_path)

    def _add_move(self, pair: tuple[str, str], source: DeclaredPath, target: DeclaredPath, path: str) -> bool:
        """Record a move. Returns whether it is valid."""
        schemas = [self._schemas[name].openapi for name in pair]
        nodes = [find_schema(*one) for one in zip(schemas, (source, target), strict=True)]
        assert nodes[0] is not None
        assert nodes[1] is not None
        problem = _explain_move(nodes[0], nodes[1])
        if problem:
            self._add_error(path, target.text, f"{source.text} of {pair[0]} does not fit: {problem}")
        elif self._claim_field(pair, target, path):
            self._moves[pair][source] = target
            return True
        return False

    def _read_values(self, pair: tuple[str, str], values: Any, at: str) -> None:
        for text, source in self._iterate_map(values, at):
            item_path = f"{at}[{text}]"
            path = self._read_path(text, pair[1], item_path)
            if path is None:
                continue
            if None in path.steps:
                self._add_error(item_path, text, "must not have [*]: use map() in the expression")
            elif not isinstance(source, str) or len(source) > _MAX_EXPRESSION:
                problem = f"must be an expression in CEL with at most {_MAX_EXPRESSION} characters"
                self._add_error(item_path, source if isinstance(source, str | int | bool) else None, problem)
            elif self._claim_field(pair, path, item_path) and (
                program := self._compile_expression(pair[0], source, item_path)
            ):
                node = find_schema(self._schemas[pair[1]].openapi, path) or {}
                reason = _explain_value(program.type, node)
                if reason:
                    self._add_error(item_path, source, reason)
                self.steps[pair].values.append((path, program))

    def _compile_expression(self, version: str, source: str, at: str) -> Program | None:
        self._length += len(source)
        if self._length > _MAX_EXPRESSIONS:
            self.errors.append(field.forbidden(at, f"all expressions have more than {_MAX_EXPRESSIONS} characters"))
            return None
        declared = self._declared.get(version)
        if declared is None:
            openapi = self._schemas[version].openapi
            properties = {**(openapi.get("properties") or {}), "metadata": _METADATA}
            declared = self._declared[version] = SchemaTypes({**openapi, "properties": properties}, resource=True)
        root = declared.root
        try:
            program = compile_program(source, {"self": root if root is not None else types.DYN}, schemas=declared)
        except CompileError as error:
            self._add_error(at, source, f"compilation failed: {error}")
        except CelError as error:
            self._add_error(at, source, f"program instantiation failed: {error}")
        else:
            cost = program.estimate().high
            if RULE_LIMIT < cost < _UNKNOWN:
                problem = (
                    f"estimated cost is {cost / RULE_LIMIT:.1f} times the limit: add maxItems, maxProperties and "
                    "maxLength to the schema, or simplify the expression"
                )
                self.errors.append(field.forbidden(at, problem))
            return program
        return None

    def _read_removed(self, pair: tuple[str, str], names: Any, at: str) -> None:
        if names is None:
            return
        if not isinstance(names, list):
            self._add_error(at, None, "must be a list of paths")
            return
        for index, text in enumerate(names):
            self._count += 1
            path = self._read_path(text, pair[0], f"{at}[{index}]")
            if path is not None:
                self.steps[pair].removed.append(path)
            if self._count > _MAX:
                return

    def _read_defaults(self, pair: tuple[str, str], values: Any, at: str) -> None:
        for text, value in self._iterate_map(values, at):
            item_path = f"{at}[{text}]"
            path = self._read_path(text, pair[1], item_path)
            if path is None:
                continue
            problem = _explain_default(find_schema(self._schemas[pair[1]].openapi, path) or {}, value)
            if problem:
                self._add_error(item_path, value if isinstance(value, str | int | bool) else None, problem)
            self.steps[pair].defaults.append((path, value))

    def _iterate_map(self, entries: Any, at: str) -> Iterator[tuple[str, Any]]:
        """Yield the entries of a map, up to the maximum number."""
        if entries is None:
            return
        if not isinstance(entries, dict):
            self._add_error(at, None, "must be an object whose keys are paths")
            return
        for key, value in entries.items():
            self._count += 1
            if self._count > _MAX:
                return
            yield key, value

    def _read_path(self, text: Any, version: str, at: str) -> DeclaredPath | None:
        """Return a path that the schema of a version has, None after an error."""
        try:
            path = parse_path(text)
        except BadPath as error:
            self._add_error(at, text if isinstance(text, str) else None, str(error))
            return None
        if find_schema(self._schemas[version].openapi, path) is None:
            self._add_error(at, text, f"the schema of {version} has no such field")
            return None
        return path

    def _claim_field(self, pair: tuple[str, str], path: DeclaredPath, at: str) -> bool:
        """Reserve a field for one value. Returns False if another one writes to it, or to a part of it."""
        written = self._written[pair]
        charge(len(written))
        for claimed in written:
            if is_within(path, claimed) or is_within(claimed, path):
                self.errors.append(field.duplicate(at, f"{pair[0]} to {pair[1]}: {claimed.text}"))
                return False
        written.append(path)
        return True

    def _add_error(self, at: str, value: Any, detail: str) -> None:
        self.errors.append(field.invalid(at, value, detail))


def _type_of(node: Object) -> str:
    """Return the type of a field, "" for any."""
    return _EITHER if node.get("x-kubernetes-int-or-string") else node.get("type") or ""


def _explain_move(source: Object, target: Object) -> str:
    """Return why a field cannot move to another one, judged by their types; "" if it can."""
    todo = [(source, target, "")]
    while todo:
        charge(1)
        source_node, target_node, at = todo.pop()
        source_type, target_type = _type_of(source_node), _type_of(target_node)
        if not source_type or not target_type:
            continue
        if source_type != target_type and (source_type, target_type) not in _WIDER:
            location = f" at {at.removeprefix('.')}" if at else ""
            return f"it is of type {source_type}, and the field of type {target_type}{location}"
        for keyword, mark in (("items", "[*]"), ("additionalProperties", "[*]")):
            pair = source_node.get(keyword), target_node.get(keyword)
            if isinstance(pair[0], dict) and isinstance(pair[1], dict):
                todo.append((pair[0], pair[1], at + mark))
        target_properties = target_node.get("properties") or {}
        for name, source_property in (source_node.get("properties") or {}).items():
            if name in target_properties:
                todo.append((source_property, target_properties[name], f"{at}.{name}"))
    return ""


def _explain_value(type_: Type, node: Object) -> str:
    """Return why values of a CEL type do not fit into a field; "" if they do."""
    while type_.kind == "opaque" and type_.name == "optional_type":
        type_ = type_.params[0]
    if type_.kind not in _WITH_JSON and type_.name != "wrapper" and not type_.name.startswith(_OBJECT):
        return f"the expression must have a value with a form in JSON, and not {type_}"
    expected = _type_of(node)
    if type_.kind in ("dyn", "param") or not expected:
        return ""
    if type_.kind == "null":
        return "" if node.get("nullable") else "the field is not nullable"
    if type_.kind in _KINDS.get(expected, ()) or type_.name == "wrapper":
        return ""
    return f"the expression is of type {type_}, and the field of type {expected}"


def _explain_default(node: Object, value: Any) -> str:
    """Return why a value does not fit into a field; "" if it does."""
    if not node:
        return ""
    errors = Schema.compile({"type": "object", "properties": {"value": node}}).validate({"value": value})
    return errors[0].body if errors else ""
