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
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind, Version
from podless.meta import field
from podless.runtime.jsonobject import Object, Schema

_RULES = "x-kubernetes-validations"
_TRIED = 60  # maximum objects to pair as old and new
_DEEPEST = 12  # maximum levels of a schema to visit
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
    found = [*read_definitions(find_sources([path]))]
    if len(found) != 1:
        raise CannotCheck(f"{path}: {len(found)} CustomResourceDefinitions found, expected one")
    [definition] = found
    kind = compile_kind(definition, serializer.encode_json(definition))
    tests: list[Object] = []
    untested: list[str] = []
    for version in kind.versions:
        tests += _Version(kind, version, len(kind.versions) > 1, untested).tests()
    relative = os.path.relpath(path) if path != "-" else path
    text = yaml.safe_dump({"resources": [relative], "tests": tests}, sort_keys=False, allow_unicode=True, width=110)
    head = f"# What {kind.kind} of {kind.group} accepts and rejects; run it with: podless test FILE\n"
    notes = "".join(f"# no object was found that breaks: {rule}\n" for rule in untested)
    return head + notes + text


class _Version:
    """The statements about one version. many: there are other versions. untested: gets rules without a statement."""

    def __init__(self, kind: Kind, version: Version, many: bool, untested: list[str]) -> None:
        self.kind, self.version = kind, version
        self.mark = f" ({version.name})" if many else ""
        self.untested = untested
        self.schema = version.schema or {}

    def tests(self) -> Iterator[Object]:
        """Yield a test for the smallest object, then tests with objects that are rejected."""
        head = {"apiVersion": self.kind.api_version(self.version.name), "kind": self.kind.kind}
        small = {**head, "metadata": {"name": "example"}, **(smallest_value(self.schema) or {})}
        small["metadata"] = {"name": "example"}
        if self.errors(small):
            self.untested.append(f"the smallest object could not be made{self.mark}: {'; '.join(self.errors(small))}")
            return
        yield {"name": f"the smallest object{self.mark}", "object": small}
        seen: set[str] = set()
        for name, path, changed in _broken(self.schema, small):
            found = self.errors(changed)
            said = field.format_path(path)
            if name not in seen and any(error.startswith(f"{said}: ") for error in found):
                seen.add(name)
                yield {"name": name + self.mark, "object": changed, "expect": "refused", "path": said}
        for path, rule in _rules(self.schema):
            test = self.rule(small, path, rule)
            if test is None:
                self.untested.append(f"{rule['rule']!r} at {field.format_path(path) or 'the root'}{self.mark}")
            else:
                yield test

    def errors(self, obj: Object, old: Object | None = None) -> list[str]:
        """Return the errors of an object."""
        raw = serializer.encode_json(obj)
        if old is None:
            checked = offline.check_create(self.kind, self.version, raw)
        else:
            before = offline.read_accepted(self.kind, self.version, serializer.encode_json(old))
            assert before is not None
            checked = offline.check_update(self.kind, self.version, raw, before)
        return [checked.refusal] if checked.refusal else [str(error) for error in checked.errors]

    def rule(self, small: Object, path: field.Path, rule: Object) -> Object | None:
        """Return an object, or an update, that violates only this rule; None if none was found."""
        node = _below(self.schema, path)
        message = rule.get("message") or f"failed rule: {rule['rule'].strip()}"
        told = {} if rule.get("messageExpression") else {"message": message}
        name = f"rejected: {message}"[:100] + self.mark
        for old, changed in (
            self.pairs(small, path, node) if "oldSelf" in rule["rule"] else self.single(small, path, node)
        ):
            found = self.errors(changed, old)
            if (
                len(found) == 1
                and found[0].endswith(told.get("message", ""))
                and found[0].startswith(field.format_path(path))
            ):
                before = {} if old is None else {"old": old}
                return {"name": name, **before, "object": changed, "expect": "refused", **told}
        return None

    def single(self, small: Object, path: field.Path, node: Schema) -> Iterator[tuple[None, Object]]:
        """Yield objects that can violate a rule."""
        for changed in _variants(small, path, node):
            yield None, changed

    def pairs(self, small: Object, path: field.Path, node: Schema) -> Iterator[tuple[Object, Object]]:
        """Yield updates of valid objects that can violate a rule."""
        near = islice(_variants(small, path, node), _TRIED)
        sound = [variant for variant in near if not self.errors(variant)]
        for old in sound:
            for changed in sound:
                if changed != old:
                    yield old, changed


def smallest_value(schema: Schema, level: int = 0) -> Any:
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
        names = [name for name in schema.get("required") or () if level < _DEEPEST]
        result = {name: smallest_value(properties.get(name) or {}, level + 1) for name in names}
        for place in range(len(result), schema.get("minProperties") or 0):
            extra = schema.get("additionalProperties")
            result[f"key{place}"] = smallest_value(extra if isinstance(extra, dict) else {}, level + 1)
        return result
    if kind == "array":
        return [smallest_value(schema.get("items") or {}, level + 1) for _ in range(schema.get("minItems") or 0)]
    if kind in ("integer", "number"):
        return _number(schema)
    return {"boolean": False, "string": _make_text(schema)}.get(kind or "")


def _number(schema: Schema) -> Any:
    low = schema.get("minimum")
    high = schema.get("maximum")
    found = low if low is not None else min(high, 1) if high is not None else 1
    found += bool(schema.get("exclusiveMinimum"))
    step = schema.get("multipleOf")
    return -(-found // step) * step if step else found


def _make_text(schema: Schema) -> str:
    from podless.codec import re2

    length = max(schema.get("minLength") or 0, 1)
    base = _FORMATS.get(schema.get("format") or "")
    tried = [base] if base else [*_TEXTS, *("a" * size for size in range(1, 20)), "a" * length]
    most = schema.get("maxLength")
    fitting = [one for one in tried if len(one) >= length and (most is None or len(one) <= most)]
    pattern = schema.get("pattern")
    if pattern:
        try:
            regexp = re2.make_regexp(pattern, re2.Options())
        except re2.RegexpError:
            return "a" * length
        fitting = [one for one in fitting if regexp.search(one)]
    return fitting[0] if fitting else "a" * length


def _broken(schema: Schema, small: Object) -> Iterator[tuple[str, field.Path, Object]]:
    """Yield objects with one invalid field: the statement, the field, the object."""
    for path, node in _fields(schema, ()):
        said = field.format_path(path)
        for name in node.get("required") or ():
            inner = (*path, name)
            yield f"{field.format_path(inner)} is required", inner, _without(_with(small, schema, path), inner)
        for what, wrong in _wrong(node):
            yield f"{said} {what}", path, _with(small, schema, path, wrong)


def _wrong(node: Schema) -> Iterator[tuple[str, Any]]:
    """Yield invalid values of a node, each with a description of the fault."""
    kind, good = node.get("type"), smallest_value(node)
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
            yield f"is a multiple of {node['multipleOf']}", good + node["multipleOf"] / 2
    elif kind == "boolean":
        yield "is true or false", "a"
    elif kind == "array":
        yield from _wrong_list(node)
    if not node.get("nullable") and kind and "default" not in node:
        yield "is not null", None


def _wrong_list(node: Schema) -> Iterator[tuple[str, Any]]:
    item = smallest_value(node.get("items") or {}, 1)
    yield "is a list", "a"
    if node.get("minItems"):
        yield f"has at least {node['minItems']} items", [item] * (node["minItems"] - 1)
    if node.get("maxItems") is not None and node["maxItems"] < 1000:
        yield f"has at most {node['maxItems']} items", [item] * (node["maxItems"] + 1)


def _fields(schema: Schema, path: field.Path) -> Iterator[tuple[field.Path, Schema]]:
    """Yield the fields of a schema, except those in lists and maps."""
    for name, part in (schema.get("properties") or {}).items():
        if path or name not in ("apiVersion", "kind", "metadata", "status"):
            yield (*path, name), part
            if len(path) < _DEEPEST:
                yield from _fields(part, (*path, name))


def _rules(schema: Schema) -> Iterator[tuple[field.Path, Object]]:
    for at, node in [((), schema), *_fields(schema, ())]:
        yield from ((at, rule) for rule in node.get(_RULES) or ())


def _below(schema: Schema, path: field.Path) -> Schema:
    for step in path:
        schema = (schema.get("properties") or {}).get(step) or {}
    return schema


def _with(small: Object, schema: Schema, path: field.Path, wanted: Any = ...) -> Object:
    """Return an object with a field set to a value, or to its smallest one."""
    result = copy.deepcopy(small)
    holder: Any = result
    for index, step in enumerate(path):
        node = _below(schema, path[: index + 1])
        if index == len(path) - 1 and wanted is not ...:
            holder[step] = wanted
        elif not isinstance(holder.get(step), dict | list) or index == len(path) - 1:
            holder.setdefault(step, smallest_value(node))
        holder = holder[step]
        if not isinstance(holder, dict):
            break
    return result


def _without(obj: Object, path: field.Path) -> Object:
    holder: Any = obj
    for step in path[:-1]:
        holder = holder.get(step) if isinstance(holder, dict) else None
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
    return obj


def _variants(small: Object, path: field.Path, node: Schema) -> Iterator[Object]:
    """Yield variants of the smallest object, with one or two different fields at a path."""

    def changed(obj: Object, inner: field.Path, wanted: Any = ...) -> Object:
        return _with(obj, _spine(path, node), (*path, *inner), wanted)

    properties = node.get("properties") or {}
    names = [name for name in properties if path or name not in ("apiVersion", "kind", "metadata", "status")][:20]
    if not names:
        yield from (changed(small, (), one) for one in _near(node))
        return
    whole = changed(small, ())
    yield whole
    for name in names:
        yield from (changed(whole, (name,), one) for one in _near(properties[name]))
        yield _without(copy.deepcopy(whole), (*path, name))
    for name, other in combinations(names[:8], 2):
        for one, two in product(_near(properties[name])[:6], _near(properties[other])[:6]):
            yield changed(changed(whole, (name,), one), (other,), two)


def _spine(path: field.Path, node: Schema) -> Schema:
    """Return a schema with only this node, at a path."""
    for step in reversed(path):
        node = {"type": "object", "properties": {step: node}}
    return node


def _near(node: Schema) -> list[Any]:
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
        item = smallest_value(node.get("items") or {}, 1)
        return [[], [item], [item, copy.deepcopy(item)], *([one] for one in _near(node.get("items") or {})[:5])]
    if kind == "object":
        whole = smallest_value(node) or {}
        return [
            whole,
            *({**whole, name: smallest_value(part)} for name, part in (node.get("properties") or {}).items()),
        ]
    return [_make_text(node), "", *_TEXTS] if kind == "string" else [1, "a"]
