"""Writes a first suite for a definition: a valid object, and objects that its schema and rules reject.

Every statement is tried first; those that do not hold are left out.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import Any

import yaml

from podless.apis import offline
from podless.check.run import read_definitions
from podless.check.sources import CannotCheck, find_sources
from podless.codec import serializer
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind, Version
from podless.meta import field
from podless.runtime.jsonobject import Object, Schema

_RULES = "x-kubernetes-validations"
_MAX_PAIRED = 60  # maximum objects to pair as old and new
_MAX_DEPTH = 12  # maximum levels of a schema to visit
# strings to try against a pattern
_TEXTS = (
    "a", "example", "1", "a1", "A", "example.com", "10.0.0.1", "10.0.0.0/8", "https://example.com", "1h", "v1", "a/b",
    "1.0.0", "0",
)  # fmt: skip
_FORMATS = {
    "date-time": "2024-01-01T00:00:00Z", "date": "2024-01-01", "duration": "1h", "ipv4": "10.0.0.1", "ipv6": "fd00::1",
    "cidr": "10.0.0.0/8", "uri": "https://example.com", "email": "a@example.com", "hostname": "example.com",
    "uuid": "c56a4180-65aa-42ec-a945-5fd21dec0538", "byte": "YQ==", "mac": "01:23:45:67:89:ab",
}  # fmt: skip


def make_suite(path: str) -> str:
    """Return the suite, as YAML. path: of the definition's file. Raises CannotCheck."""
    definitions = [*read_definitions(find_sources([path]))]
    if len(definitions) != 1:
        raise CannotCheck(f"{path}: {len(definitions)} CustomResourceDefinitions found, expected one")
    [definition] = definitions
    kind = compile_kind(definition, serializer.encode_json(definition))
    tests: list[Object] = []
    untested: list[str] = []
    for version in kind.versions:
        tests += _VersionTests(kind, version, len(kind.versions) > 1, untested).make_tests()
    relative = os.path.relpath(path) if path != "-" else path
    text = yaml.safe_dump({"resources": [relative], "tests": tests}, sort_keys=False, allow_unicode=True, width=110)
    head = f"# What {kind.kind} of {kind.group} accepts and rejects; run it with: podless test FILE\n"
    notes = "".join(f"# no object was found that breaks: {rule}\n" for rule in untested)
    return head + notes + text


class _VersionTests:
    """The tests of one version. has_others: there are other versions. untested: gets rules without a statement."""

    def __init__(self, kind: Kind, version: Version, has_others: bool, untested: list[str]) -> None:
        self.kind, self.version = kind, version
        self.mark = f" ({version.name})" if has_others else ""
        self.untested = untested
        self.schema = version.schema or {}

    def make_tests(self) -> Iterator[Object]:
        """Yield a test for the smallest object, then tests with objects that are rejected."""
        head = {"apiVersion": self.kind.api_version(self.version.name), "kind": self.kind.kind}
        smallest = {**head, "metadata": {"name": "example"}, **(make_smallest(self.schema) or {})}
        smallest["metadata"] = {"name": "example"}
        if errors := self.list_errors(smallest):
            self.untested.append(f"the smallest object could not be made{self.mark}: {'; '.join(errors)}")
            return
        yield {"name": f"the smallest object{self.mark}", "object": smallest}
        seen: set[str] = set()
        for name, path, changed in _make_invalid_objects(self.schema, smallest):
            errors = self.list_errors(changed)
            path_text = field.format_path(path)
            if name not in seen and any(error.startswith(f"{path_text}: ") for error in errors):
                seen.add(name)
                yield {"name": name + self.mark, "object": changed, "expect": "refused", "path": path_text}
        for path, rule in _walk_rules(self.schema):
            test = self.break_rule(smallest, path, rule)
            if test is None:
                self.untested.append(f"{rule['rule']!r} at {field.format_path(path) or 'the root'}{self.mark}")
            else:
                yield test

    def list_errors(self, obj: Object, old: Object | None = None) -> list[str]:
        raw = serializer.encode_json(obj)
        before = None
        if old is not None:
            before = offline.read_accepted(self.kind, self.version, serializer.encode_json(old))
            assert before is not None
        checked = offline.check_object(self.kind, self.version, raw, before)
        return [checked.refusal] if checked.refusal else [str(error) for error in checked.errors]

    def break_rule(self, smallest: Object, path: field.Path, rule: Object) -> Object | None:
        """Return an object, or an update, that violates only this rule; None if none was found."""
        node = _find_node(self.schema, path)
        message = rule.get("message") or f"failed rule: {rule['rule'].strip()}"
        expected = {} if rule.get("messageExpression") else {"message": message}
        name = f"rejected: {message}"[:100] + self.mark
        tried: Iterator[tuple[Object | None, Object]]
        if "oldSelf" in rule["rule"]:
            tried = self.make_update_pairs(smallest, path, node)
        else:
            tried = ((None, changed) for changed in _make_variants(smallest, path, node))
        for old, changed in tried:
            errors = self.list_errors(changed, old)
            head, end = field.format_path(path), expected.get("message", "")
            if len(errors) == 1 and errors[0].startswith(head) and errors[0].endswith(end):
                old_part = {} if old is None else {"old": old}
                return {"name": name, **old_part, "object": changed, "expect": "refused", **expected}
        return None

    def make_update_pairs(
        self, smallest: Object, path: field.Path, node: Schema
    ) -> Iterator[tuple[Object | None, Object]]:
        """Yield updates of valid objects that can violate a rule."""
        variants = islice(_make_variants(smallest, path, node), _MAX_PAIRED)
        valid = [variant for variant in variants if not self.list_errors(variant)]
        yield from ((old, changed) for old, changed in product(valid, valid) if changed != old)


def make_smallest(schema: Schema, level: int = 0) -> Any:
    """Return the smallest value of a schema; None if the schema has no type."""
    if "default" in schema:
        return copy.deepcopy(schema["default"])
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    if kind == "object":
        properties = schema.get("properties") or {}
        names = [name for name in schema.get("required") or () if level < _MAX_DEPTH]
        result = {name: make_smallest(properties.get(name) or {}, level + 1) for name in names}
        for index in range(len(result), schema.get("minProperties") or 0):
            additional = schema.get("additionalProperties")
            result[f"key{index}"] = make_smallest(additional if isinstance(additional, dict) else {}, level + 1)
        return result
    if kind == "array":
        return [make_smallest(schema.get("items") or {}, level + 1) for _ in range(schema.get("minItems") or 0)]
    if kind in ("integer", "number"):
        return _make_number(schema)
    return {"boolean": False, "string": _make_text(schema)}.get(kind or "")


def _make_number(schema: Schema) -> Any:
    low = schema.get("minimum")
    high = schema.get("maximum")
    number = low if low is not None else min(high, 1) if high is not None else 1
    number += bool(schema.get("exclusiveMinimum"))
    step = schema.get("multipleOf")
    return -(-number // step) * step if step else number


def _make_text(schema: Schema) -> str:
    from podless.codec import re2

    length = max(schema.get("minLength") or 0, 1)
    base = _FORMATS.get(schema.get("format") or "")
    candidates = [base] if base else [*_TEXTS, *("a" * size for size in range(1, 20)), "a" * length]
    max_length = schema.get("maxLength")
    matching = [text for text in candidates if len(text) >= length and (max_length is None or len(text) <= max_length)]
    pattern = schema.get("pattern")
    if pattern:
        try:
            regexp = re2.make_regexp(pattern, re2.Options())
        except re2.RegexpError:
            return "a" * length
        matching = [text for text in matching if regexp.search(text)]
    return matching[0] if matching else "a" * length


def _make_invalid_objects(schema: Schema, smallest: Object) -> Iterator[tuple[str, field.Path, Object]]:
    """Yield objects with one invalid field: the statement, the field, the object."""
    for path, node in _walk_fields(schema, ()):
        path_text = field.format_path(path)
        for name in node.get("required") or ():
            required_path = (*path, name)
            yield (
                f"{field.format_path(required_path)} is required",
                required_path,
                _remove_field(_set_field(smallest, schema, path), required_path),
            )
        for fault, wrong in _make_invalid_values(node):
            yield f"{path_text} {fault}", path, _set_field(smallest, schema, path, wrong)


def _make_invalid_values(node: Schema) -> Iterator[tuple[str, Any]]:
    """Yield invalid values of a node, each with a description of the fault."""
    kind, smallest = node.get("type"), make_smallest(node)
    if kind == "string":
        yield "is a text", 1
        if node.get("enum"):
            yield "has one of some values", "neither-of-them"
        if node.get("minLength"):
            yield f"has at least {node['minLength']} characters", "a" * (node["minLength"] - 1)
        if node.get("maxLength") is not None and node["maxLength"] < 10_000:
            yield f"has at most {node['maxLength']} characters", "a" * (node["maxLength"] + 1)
        if node.get("pattern"):
            yield from (("has a pattern", wrong) for wrong in ("", "!", "a b", "A_", "1"))
        if node.get("format"):
            yield f"is a {node['format']}", "!"
    elif kind in ("integer", "number"):
        yield "is a number", "a"
        for bound, step, word in (("minimum", -1, "least"), ("maximum", 1, "most")):
            if bound in node:
                yield f"is at {word} {node[bound]}", node[bound] + step
        if node.get("multipleOf"):
            yield f"is a multiple of {node['multipleOf']}", smallest + node["multipleOf"] / 2
    elif kind == "boolean":
        yield "is true or false", "a"
    elif kind == "array":
        yield from _make_invalid_lists(node)
    if not node.get("nullable") and kind and "default" not in node:
        yield "is not null", None


def _make_invalid_lists(node: Schema) -> Iterator[tuple[str, Any]]:
    item = make_smallest(node.get("items") or {}, 1)
    yield "is a list", "a"
    if node.get("minItems"):
        yield f"has at least {node['minItems']} items", [item] * (node["minItems"] - 1)
    if node.get("maxItems") is not None and node["maxItems"] < 1000:
        yield f"has at most {node['maxItems']} items", [item] * (node["maxItems"] + 1)


def _walk_fields(schema: Schema, path: field.Path) -> Iterator[tuple[field.Path, Schema]]:
    """Yield the fields of a schema, except those in lists and maps."""
    for name, child in (schema.get("properties") or {}).items():
        if path or name not in ("apiVersion", "kind", "metadata", "status"):
            yield (*path, name), child
            if len(path) < _MAX_DEPTH:
                yield from _walk_fields(child, (*path, name))


def _walk_rules(schema: Schema) -> Iterator[tuple[field.Path, Object]]:
    for at, node in [((), schema), *_walk_fields(schema, ())]:
        yield from ((at, rule) for rule in node.get(_RULES) or ())


def _find_node(schema: Schema, path: field.Path) -> Schema:
    for step in path:
        schema = (schema.get("properties") or {}).get(step) or {}
    return schema


def _set_field(smallest: Object, schema: Schema, path: field.Path, value: Any = ...) -> Object:
    """Return an object with a field set to a value, or to its smallest one."""
    result = copy.deepcopy(smallest)
    holder: Any = result
    for index, step in enumerate(path):
        node = _find_node(schema, path[: index + 1])
        if index == len(path) - 1 and value is not ...:
            holder[step] = value
        elif not isinstance(holder.get(step), dict | list) or index == len(path) - 1:
            holder.setdefault(step, make_smallest(node))
        holder = holder[step]
        if not isinstance(holder, dict):
            break
    return result


def _remove_field(obj: Object, path: field.Path) -> Object:
    holder: Any = obj
    for step in path[:-1]:
        holder = holder.get(step) if isinstance(holder, dict) else None
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
    return obj


def _make_variants(smallest: Object, path: field.Path, node: Schema) -> Iterator[Object]:
    """Yield variants of the smallest object, with one or two different fields at a path."""

    def change_field(obj: Object, field_path: field.Path, value: Any = ...) -> Object:
        return _set_field(obj, _wrap_node(path, node), (*path, *field_path), value)

    properties = node.get("properties") or {}
    names = [name for name in properties if path or name not in ("apiVersion", "kind", "metadata", "status")][:20]
    if not names:
        yield from (change_field(smallest, (), first) for first in _list_near_values(node))
        return
    complete = change_field(smallest, ())
    yield complete
    for name in names:
        yield from (change_field(complete, (name,), first) for first in _list_near_values(properties[name]))
        yield _remove_field(copy.deepcopy(complete), (*path, name))
    for name, other_name in combinations(names[:8], 2):
        pairs = product(_list_near_values(properties[name])[:6], _list_near_values(properties[other_name])[:6])
        for first, second in pairs:
            yield change_field(change_field(complete, (name,), first), (other_name,), second)


def _wrap_node(path: field.Path, node: Schema) -> Schema:
    """Return a schema with only this node, at a path."""
    for step in reversed(path):
        node = {"type": "object", "properties": {step: node}}
    return node


def _list_near_values(node: Schema) -> list[Any]:
    """Return values to try for a node, those at its bounds first."""
    kind = node.get("type")
    if node.get("enum"):
        return list(node["enum"])
    if kind in ("integer", "number"):
        bounds = [node[name] for name in ("minimum", "maximum") if name in node]
        return list(dict.fromkeys([*bounds, 0, 1, 2, 5, 10, 100, 1000, 100000, -1]))
    if kind == "boolean":
        return [True, False]
    if kind == "array":
        item = make_smallest(node.get("items") or {}, 1)
        return [
            [],
            [item],
            [item, copy.deepcopy(item)],
            *([item_value] for item_value in _list_near_values(node.get("items") or {})[:5]),
        ]
    if kind == "object":
        complete = make_smallest(node) or {}
        return [
            complete,
            *({**complete, name: make_smallest(child)} for name, child in (node.get("properties") or {}).items()),
        ]
    return [_make_text(node), "", *_TEXTS] if kind == "string" else [1, "a"]
