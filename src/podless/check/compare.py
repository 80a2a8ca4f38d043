"""Finds changes of a definition that break clients or stored objects. compare.txt lists them.

The rules are those of the Kubernetes API conventions on changing an API, and the checks of crdify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from podless.check.findings import Severity
from podless.codec import serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.datafiles import read_blocks
from podless.runtime.jsonobject import Object, Schema

RULES = "x-kubernetes-validations"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
# type, and a type that allows the same values and more
_WIDER_TYPES = (("integer", "number"), ("integer", "integer or string"), ("string", "integer or string"))
# keywords of bounds, and whether a new bound is stricter than the old one
_BOUNDS: tuple[tuple[Sequence[str], Callable[[float, float], bool]], ...] = (
    (("maximum", "maxLength", "maxItems", "maxProperties"), lambda before, after: after < before),
    (("minimum", "minLength", "minItems", "minProperties"), lambda before, after: after > before),
)
# by name: (severity and advice, text)
_CHANGES = {
    name: (header, text)
    for header, rows in read_blocks(Path(__file__).with_suffix(".txt")).items()
    for name, text in rows
}


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change. severity: error if clients or objects break, warning if they can break.

    definition: its name. version: of the schema, "" for all. path: of the field, such as spec.ports[].name, or the part
    of the definition. what: the change. advice: what to do about it.
    """

    severity: Severity
    definition: str
    version: str
    path: str
    what: str
    advice: str

    def __str__(self) -> str:
        location = " ".join(name for name in (self.definition, self.version, self.path) if name)
        return f"{location}: {self.severity}: {self.what} ({self.advice})"


def compare_definitions(old: Sequence[Object], new: Sequence[Object]) -> list[SchemaChange]:
    """Return the changes between v1 CustomResourceDefinitions, matched by name. New definitions break nothing."""
    new_by_name = {definition["metadata"]["name"]: definition for definition in new}
    changes: list[SchemaChange] = []
    for definition in old:
        comparison = _DefinitionComparison(name := definition["metadata"]["name"])
        if name not in new_by_name:
            changes.append(comparison.describe("definition", ""))
        else:
            changes += comparison.compare_specs(definition["spec"], new_by_name[name]["spec"])
    return changes


class _DefinitionComparison:
    """Compares the old and the new state of one definition. Each method yields changes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = ""

    def describe(self, change: str, path: str, /, **values: Any) -> SchemaChange:
        """Return a change by its name in compare.txt. values: for its text."""
        header, text = _CHANGES[change]
        severity, _, advice = header.format(**values).partition("  ")
        return SchemaChange(Severity(severity), self.name, self.version, path, text.format(**values), advice)

    def compare_specs(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        yield from self.compare_names(old, new)
        before, after = ({entry["name"]: entry for entry in spec["versions"]} for spec in (old, new))
        for name, version in before.items():
            self.version = name
            if name in after:
                yield from self.compare_versions(version, after[name])
                opens = bool(old.get("preserveUnknownFields")), bool(new.get("preserveUnknownFields"))
                yield from self.compare_nodes(_get_schema(version), _get_schema(after[name]), "", *opens)
                continue
            if version.get("storage"):
                yield self.describe("storage-version", "spec.versions")
            if version.get("served"):
                yield self.describe("served-version", "spec.versions")
        self.version = ""
        yield from self.find_version_gaps(old, new)
        old_stored, new_stored = (
            next((name for name, entry in versions.items() if entry.get("storage")), "") for versions in (before, after)
        )
        if old_stored != new_stored:
            yield self.describe("storage", "spec.versions", before=old_stored, after=new_stored)

    def compare_names(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Compare group, scope, names and conversion."""
        for path in ("group", "scope", "names.kind", "names.plural"):
            before, after = _get_value(old, path), _get_value(new, path)
            if before != after:
                yield self.describe("renamed", f"spec.{path}", before=before, after=after)
        for path in ("names.shortNames", "names.categories"):
            for gone in sorted({*(_get_value(old, path) or ())} - {*(_get_value(new, path) or ())}):
                yield self.describe("short-name", f"spec.{path}", gone=gone)
        before, after = (_get_value(spec, "conversion.strategy") or "None" for spec in (old, new))
        if before == "Webhook" and after == "None":
            yield self.describe("conversion", "spec.conversion")
        if not new.get("preserveUnknownFields") and old.get("preserveUnknownFields"):
            yield self.describe("pruned-everywhere", "spec.preserveUnknownFields")

    def find_version_gaps(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Find fields that only some versions have: without conversion, clients of the other versions drop them."""
        if (_get_value(new, "conversion.strategy") or "None") != "None":
            return
        old_gaps = {*_find_lacking(old)}
        for gap in _find_lacking(new):
            if gap not in old_gaps:
                lacking, path, having = gap
                yield self.describe("version-gap", path, lacking=lacking, having=having)

    def compare_versions(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Compare whether a version is served, its subresources and selectable fields."""
        if old.get("served") and not new.get("served"):
            yield self.describe("unserved", "served")
        before, after = (entry.get("subresources") or {} for entry in (old, new))
        for name in ("status", "scale"):
            if name in before and name not in after:
                yield self.describe("subresource", f"subresources.{name}", gone=name)
        if "status" in after and "status" not in before:
            yield self.describe("status", "subresources.status")
        for path in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath"):
            old_path, new_path = _get_value(before, f"scale.{path}"), _get_value(after, f"scale.{path}")
            if "scale" in before and "scale" in after and old_path != new_path:
                yield self.describe("scale-path", f"subresources.scale.{path}", before=old_path, after=new_path)
        columns = [{entry["jsonPath"] for entry in version.get("selectableFields") or ()} for version in (old, new)]
        for gone in sorted(columns[0] - columns[1]):
            yield self.describe("selectable", "selectableFields", gone=gone)

    def compare_nodes(
        self, old: Schema, new: Schema, path: str, open_before: bool, open_after: bool
    ) -> Iterator[SchemaChange]:
        """Compare one schema node and everything below. open_before, open_after: unknown fields are preserved."""
        if old == new and open_before == open_after:
            return
        yield from self.compare_types(old, new, path)
        yield from self.compare_values(old, new, path)
        yield from self.compare_bounds(old, new, path)
        yield from self.compare_lists(old, new, path)
        yield from self.compare_rules(old, new, path)
        opens = _allows_unnamed(old) or open_before, _allows_unnamed(new) or open_after
        if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
            yield self.describe("closed", path)
        yield from self.compare_fields(old, new, path, *opens)
        for name, child in (old.get("properties") or {}).items():
            new_part = (new.get("properties") or {}).get(name)
            if new_part is not None:
                yield from self.compare_nodes(child, new_part, _join_path(path, name), open_before, open_after)
        for keyword, mark in (("items", "[]"), ("additionalProperties", "[*]")):
            before, after = old.get(keyword), new.get(keyword)
            if isinstance(before, dict) and isinstance(after, dict):
                yield from self.compare_nodes(before, after, path + mark, open_before, open_after)
            elif isinstance(before, dict) and keyword == "additionalProperties" and not opens[1]:
                yield self.describe("keys", path)

    def compare_types(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        before, after = _get_type(old), _get_type(new)
        if (before, after) in _WIDER_TYPES:
            yield self.describe("wider-type", path, before=before, after=after)
        elif after and before != after:
            yield self.describe("type", path, before=before or "any", after=after)
        if bool(old.get("nullable")) != bool(new.get("nullable")):
            yield self.describe("null" if new.get("nullable") else "no-null", path)
        if bool(old.get("x-kubernetes-embedded-resource")) != bool(new.get("x-kubernetes-embedded-resource")):
            yield self.describe("embedded", path)

    def compare_values(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        """Compare enums, patterns, formats and defaults."""
        before, after = old.get("enum"), new.get("enum")
        if after is not None and before is None:
            yield self.describe("enum", path, values=_format_list(after))
        elif before is not None and after is None:
            yield self.describe("no-enum", path)
        elif before is not None and after is not None:
            if gone := [value for value in before if value not in after]:
                yield self.describe("enum-removed", path, values=_format_list(gone))
            if added := [value for value in after if value not in before]:
                yield self.describe("enum-added", path, values=_format_list(added))
        for keyword in ("pattern", "format"):
            before, after = old.get(keyword), new.get(keyword)
            if after and before != after:
                old_text = f"{before!r} became" if before else "is"
                yield self.describe("pattern", path, keyword=keyword, before=old_text, after=after)
            elif before and not after:
                yield self.describe("no-pattern", path, keyword=keyword, before=before)
        before, after = (
            serializer.encode_sorted(schema["default"]).decode() if "default" in schema else "" for schema in (old, new)
        )
        if before != after:
            gone_or_new = f"{before} is gone" if before else f"{after} is new"
            change = f"{before} became {after}" if before and after else gone_or_new
            yield self.describe("default", path, change=change)

    def compare_bounds(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        for keywords, is_stricter in _BOUNDS:
            for keyword in keywords:
                before, after = old.get(keyword), new.get(keyword)
                if after is not None and (before is None or is_stricter(before, after)):
                    old_text = f"{before} became" if before is not None else "is new:"
                    yield self.describe("bound", path, keyword=keyword, before=old_text, after=after)
        for keyword in ("exclusiveMinimum", "exclusiveMaximum", "uniqueItems"):
            if new.get(keyword) and not old.get(keyword):
                yield self.describe("new-bound", path, keyword=keyword)
        if new.get("multipleOf") is not None and new["multipleOf"] != old.get("multipleOf"):
            yield self.describe("multiple", path, after=new["multipleOf"])

    def compare_lists(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        """Compare how lists and maps are merged."""
        for keyword, usual in (("list-type", "atomic"), ("list-map-keys", None), ("map-type", "granular")):
            before, after = (schema.get(f"x-kubernetes-{keyword}", usual) for schema in (old, new))
            if before != after:
                texts = {"before": _format_list(before), "after": _format_list(after)}
                yield self.describe("merged", path, keyword=keyword, **texts)

    def compare_rules(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        before = {rule["rule"] for rule in old.get(RULES) or ()}
        for rule in new.get(RULES) or ():
            if rule["rule"] not in before:
                yield self.describe("rule", path, rule=rule["rule"])
        for keyword in ("allOf", "anyOf", "oneOf", "not"):
            if new.get(keyword) and new.get(keyword) != old.get(keyword):
                yield self.describe("junctor", path, keyword=keyword)

    def compare_fields(
        self, old: Schema, new: Schema, path: str, open_before: bool, open_after: bool
    ) -> Iterator[SchemaChange]:
        before, after = old.get("properties") or {}, new.get("properties") or {}
        closes = not open_after and not isinstance(new.get("additionalProperties"), dict)
        for name in before:
            if name not in after and closes:
                yield self.describe("field", _join_path(path, name))
        for name in after:
            if name not in before and open_before:
                yield self.describe("first-schema", _join_path(path, name))
        for name in new.get("required") or ():
            if name not in (old.get("required") or ()):
                change = "required-default" if "default" in (after.get(name) or {}) else "required"
                yield self.describe(change, _join_path(path, name))
        if open_before and closes:
            yield self.describe("pruned", path)


def _find_lacking(spec: Object) -> Iterator[tuple[str, str, str]]:
    """Yield fields that one of two served versions lacks: that version, the path, the other version."""
    schemas = {version["name"]: _get_schema(version) for version in spec["versions"] if version.get("served")}
    for lacking, lacking_schema in schemas.items():
        for having, having_schema in schemas.items():
            if lacking_schema is not having_schema:
                yield from ((lacking, path, having) for path in _find_missing_fields(lacking_schema, having_schema, ""))


def _find_missing_fields(lacking_schema: Schema, having_schema: Schema, path: str) -> Iterator[str]:
    """Yield the outermost fields of the other schema that this one would drop."""
    if lacking_schema == having_schema or _allows_unnamed(lacking_schema):
        return
    fields = lacking_schema.get("properties") or {}
    for name, child in (having_schema.get("properties") or {}).items():
        if name in fields:
            yield from _find_missing_fields(fields[name], child, _join_path(path, name))
        elif not isinstance(lacking_schema.get("additionalProperties"), dict):
            yield _join_path(path, name)
    for keyword, mark in (("items", "[]"), ("additionalProperties", "[*]")):
        if isinstance(lacking_schema.get(keyword), dict) and isinstance(having_schema.get(keyword), dict):
            yield from _find_missing_fields(lacking_schema[keyword], having_schema[keyword], path + mark)


def _join_path(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _allows_unnamed(schema: Schema) -> bool:
    """Return whether a schema allows fields that it does not name."""
    return bool(schema.get(_PRESERVE)) or schema.get("additionalProperties") is True


def _get_value(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _get_schema(version: Object) -> Schema:
    return _get_value(version, "schema.openAPIV3Schema") or {}


def _get_type(schema: Schema) -> str:
    return "integer or string" if schema.get("x-kubernetes-int-or-string") else schema.get("type") or ""


def _format_list(values: Any) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list) else str(values)
