"""Finds changes of a definition that break clients or stored objects.

The rules are those of the Kubernetes API conventions on changing an API, and the checks of crdify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from podless.check.findings import Severity
from podless.codec import serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object, Schema

RULES = "x-kubernetes-validations"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
# type, and a type that allows the same values and more
_WIDER_TYPES = (("integer", "number"), ("integer", "integer or string"), ("string", "integer or string"))
_STORED = "stored objects that break it keep their value, and can change only in other fields; correct them first"
# keywords of upper bounds, where less is stricter
_UPPER = ("maximum", "maxLength", "maxItems", "maxProperties")
_LOWER = ("minimum", "minLength", "minItems", "minProperties")


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
        name = definition["metadata"]["name"]
        if name not in new_by_name:
            change = "the definition is gone, and all its objects with it"
            changes.append(
                SchemaChange(Severity.ERROR, name, "", "", change, "keep it until all its objects are deleted")
            )
        else:
            changes += _DefinitionComparison(name).compare_specs(definition["spec"], new_by_name[name]["spec"])
    return changes


class _DefinitionComparison:
    """Compares the old and the new state of one definition."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = ""

    def make_error(self, path: str, change: str, advice: str) -> SchemaChange:
        return SchemaChange(Severity.ERROR, self.name, self.version, path, change, advice)

    def make_warning(self, path: str, change: str, advice: str) -> SchemaChange:
        return SchemaChange(Severity.WARNING, self.name, self.version, path, change, advice)

    def compare_specs(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Yield the changes between two specs."""
        yield from self.compare_names(old, new)
        before, after = ({entry["name"]: entry for entry in spec["versions"]} for spec in (old, new))
        for name, version in before.items():
            self.version = name
            if name not in after:
                yield from self.describe_removal(version)
            else:
                yield from self.compare_versions(version, after[name])
                yield from self.compare_schemas(old, new, version, after[name])
        self.version = ""
        yield from self.find_version_gaps(old, new)
        stored = [
            next((name for name, entry in versions.items() if entry.get("storage")), "") for versions in (before, after)
        ]
        if stored[0] != stored[1]:
            change = f"objects are stored in {stored[1]} rather than {stored[0]} from their next change on"
            yield self.make_warning("spec.versions", change, "run `podless migrate` when all servers have it")

    def compare_names(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Yield changes of group, scope and names."""
        for path in ("group", "scope", "names.kind", "names.plural"):
            before, after = _get_value(old, path), _get_value(new, path)
            if before != after:
                change = f"{before} became {after}, which a server rejects"
                yield self.make_error(f"spec.{path}", change, "create another definition, and move the objects")
        for path in ("names.shortNames", "names.categories"):
            for removed in sorted({*(_get_value(old, path) or ())} - {*(_get_value(new, path) or ())}):
                yield self.make_warning(
                    f"spec.{path}", f"{removed} is gone", "kubectl commands with this name fail; keep it"
                )
        before, after = (_get_value(spec, "conversion.strategy") or "None" for spec in (old, new))
        if before == "Webhook" and after == "None":
            change = "objects are no longer converted, only their apiVersion changes"
            yield self.make_error("spec.conversion", change, "keep the webhook while there is more than one version")
        if not new.get("preserveUnknownFields") and old.get("preserveUnknownFields"):
            change = "unknown fields are dropped"
            yield self.make_error(
                "spec.preserveUnknownFields",
                change,
                "add them to the schema, or keep them with x-kubernetes-preserve-unknown-fields",
            )

    def find_version_gaps(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Yield fields that only some versions have: without conversion, clients of the other versions drop them."""
        if (_get_value(new, "conversion.strategy") or "None") != "None":
            return
        old_gaps = {*_find_lacking(old)}
        for lacking, path, having in _find_lacking(new):
            if (lacking, path, having) not in old_gaps:
                change = f"the field is in {having} and not in {lacking}: a write in {lacking} drops it"
                yield self.make_warning(path, change, f"add it to {lacking} too, or convert with a webhook")

    def describe_removal(self, version: Object) -> Iterator[SchemaChange]:
        """Yield the effects of removing a version."""
        if version.get("storage"):
            change = "the version that objects are stored in is gone, so they cannot be read"
            yield self.make_error("spec.versions", change, "store another version first, and run `podless migrate`")
        if version.get("served"):
            change = "the version is gone: its clients get 404"
            yield self.make_error("spec.versions", change, "deprecate it first, and serve it while it has clients")

    def compare_versions(self, old: Object, new: Object) -> Iterator[SchemaChange]:
        """Yield changes in whether a version is served, and in its subresources."""
        if old.get("served") and not new.get("served"):
            yield self.make_error(
                "served", "no longer served: its clients get 404", "deprecate it first, and keep serving it"
            )
        before, after = (entry.get("subresources") or {} for entry in (old, new))
        for name in ("status", "scale"):
            if name in before and name not in after:
                yield self.make_error(f"subresources.{name}", f"/{name} is gone: its clients get 404", "keep it")
        if "status" in after and "status" not in before:
            change = "the status can be written at /status only; other writes ignore it"
            yield self.make_warning("subresources.status", change, "update the controllers first")
        for path in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath"):
            old_path, new_path = _get_value(before, f"scale.{path}"), _get_value(after, f"scale.{path}")
            if "scale" in before and "scale" in after and old_path != new_path:
                yield self.make_warning(
                    f"subresources.scale.{path}",
                    f"{old_path} became {new_path}",
                    "make sure that objects have both fields",
                )
        columns = [{entry["jsonPath"] for entry in version.get("selectableFields") or ()} for version in (old, new)]
        for removed in sorted(columns[0] - columns[1]):
            yield self.make_error(
                "selectableFields", f"{removed} is gone: clients that select by it get 400", "keep it"
            )

    def compare_schemas(self, old: Object, new: Object, before: Object, after: Object) -> Iterator[SchemaChange]:
        """Yield the changes of a version's schema."""
        old_schema, new_schema = (
            (version.get("schema") or {}).get("openAPIV3Schema") or {} for version in (before, after)
        )
        yield from self.compare_nodes(
            old_schema, new_schema, "", bool(old.get("preserveUnknownFields")), bool(new.get("preserveUnknownFields"))
        )

    def compare_nodes(
        self, old: Schema, new: Schema, path: str, open_before: bool, open_after: bool
    ) -> Iterator[SchemaChange]:
        """Yield the changes of one schema node and everything below.

        open_before, open_after: unknown fields are preserved.
        """
        if old == new and open_before == open_after:
            return
        yield from self.compare_types(old, new, path)
        yield from self.compare_values(old, new, path)
        yield from self.compare_bounds(old, new, path)
        yield from self.compare_lists(old, new, path)
        yield from self.compare_rules(old, new, path)
        opens = [
            _allows_unnamed(schema) or everywhere for schema, everywhere in ((old, open_before), (new, open_after))
        ]
        if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
            yield self.make_error(path, "fields that the schema does not name are rejected", _STORED)
        yield from self.compare_fields(old, new, path, *opens)
        for name, child in (old.get("properties") or {}).items():
            new_part = (new.get("properties") or {}).get(name)
            if new_part is not None:
                yield from self.compare_nodes(
                    child, new_part, f"{path}.{name}" if path else name, open_before, open_after
                )
        for keyword, mark in (("items", "[]"), ("additionalProperties", "[*]")):
            before, after = old.get(keyword), new.get(keyword)
            if isinstance(before, dict) and isinstance(after, dict):
                yield from self.compare_nodes(before, after, path + mark, open_before, open_after)
            elif isinstance(before, dict) and keyword == "additionalProperties" and not opens[1]:
                yield self.make_error(
                    path,
                    "any key was allowed, now only known fields are",
                    "other keys are lost; keep additionalProperties",
                )

    def compare_types(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        before, after = _get_type(old), _get_type(new)
        if before == after or not after:
            pass
        elif (before, after) in _WIDER_TYPES:
            change = f"{before} became {after}: clients may read values of a type that they do not expect"
            yield self.make_warning(path, change, "make sure that clients accept both types")
        else:
            yield self.make_error(path, f"the type {before or 'any'} became {after}", "add another field instead")
        if old.get("nullable") and not new.get("nullable"):
            yield self.make_error(
                path, "null is no longer allowed", "objects with null are rejected or lose it; keep nullable"
            )
        elif new.get("nullable") and not old.get("nullable"):
            yield self.make_warning(path, "null is allowed", "clients may not expect null; update them first")
        if bool(old.get("x-kubernetes-embedded-resource")) != bool(new.get("x-kubernetes-embedded-resource")):
            yield self.make_error(path, "x-kubernetes-embedded-resource changed", "add another field instead")

    def compare_values(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        """Yield changes of enums, patterns, formats and defaults."""
        before, after = old.get("enum"), new.get("enum")
        if after is not None and before is None:
            yield self.make_error(path, f"only {_format_list(after)} is allowed", _STORED)
        elif before is not None and after is None:
            yield self.make_warning(path, "any value is allowed", "clients may not expect it; update them first")
        elif before is not None and after is not None:
            if removed := [value for value in before if value not in after]:
                yield self.make_error(path, f"{_format_list(removed)} is no longer allowed", _STORED)
            if added := [value for value in after if value not in before]:
                yield self.make_warning(
                    path, f"{_format_list(added)} is new", "clients may not expect it; update them first"
                )
        for keyword in ("pattern", "format"):
            if new.get(keyword) and old.get(keyword) != new.get(keyword):
                old_text = f"{old[keyword]!r} became" if old.get(keyword) else "is"
                yield self.make_error(path, f"the {keyword} {old_text} {new[keyword]!r}", _STORED)
            elif old.get(keyword) and not new.get(keyword):
                effect = f"the {keyword} {old[keyword]!r} is gone"
                yield self.make_warning(path, effect, "clients may rely on it; make sure that they accept other values")
        before, after = (
            serializer.encode_sorted(schema["default"]) if "default" in schema else b"" for schema in (old, new)
        )
        if before != after:
            old_text = f"{before.decode()} became {after.decode()}" if before and after else ""
            change = f"{before.decode()} is gone" if before else f"{after.decode()} is new"
            effect = f"the default {old_text or change}, also for objects that are stored without a value"
            yield self.make_warning(path, effect, "set the value in objects that rely on it")

    def compare_bounds(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        tighter: tuple[tuple[Sequence[str], Callable[[float, float], bool]], ...] = (
            (_UPPER, lambda before, after: after < before),
            (_LOWER, lambda before, after: after > before),
        )
        for keywords, is_tighter in tighter:
            for keyword in keywords:
                before, after = old.get(keyword), new.get(keyword)
                if after is None or (before is not None and not is_tighter(before, after)):
                    continue
                old_text = f"{before} became" if before is not None else "is new:"
                yield self.make_error(path, f"{keyword} {old_text} {after}", _STORED)
        for keyword in ("exclusiveMinimum", "exclusiveMaximum", "uniqueItems"):
            if new.get(keyword) and not old.get(keyword):
                yield self.make_error(path, f"{keyword} is new", _STORED)
        if new.get("multipleOf") is not None and new["multipleOf"] != old.get("multipleOf"):
            yield self.make_error(path, f"multipleOf {new['multipleOf']} is required", _STORED)

    def compare_lists(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        """Yield changes of how lists and maps are merged."""
        for keyword, usual in (("list-type", "atomic"), ("list-map-keys", None), ("map-type", "granular")):
            before, after = (schema.get(f"x-kubernetes-{keyword}", usual) for schema in (old, new))
            if before != after:
                change = f"{keyword} {_format_list(before)} became {_format_list(after)}"
                effect = f"{change}: fields change owners, duplicates may be rejected"
                yield self.make_error(path, effect, "add another field instead")

    def compare_rules(self, old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
        before = {rule["rule"] for rule in old.get(RULES) or ()}
        for rule in new.get(RULES) or ():
            if rule["rule"] not in before:
                advice = "find objects that break it with --objects; unchanged values may stay"
                yield self.make_error(path, f"the rule {rule['rule']!r} is new", advice)
        for keyword in ("allOf", "anyOf", "oneOf", "not"):
            if new.get(keyword) and new.get(keyword) != old.get(keyword):
                yield self.make_warning(path, f"{keyword} has changed", "find objects that break it with --objects")

    def compare_fields(
        self, old: Schema, new: Schema, path: str, open_before: bool, open_after: bool
    ) -> Iterator[SchemaChange]:
        before, after = old.get("properties") or {}, new.get("properties") or {}
        for name in before:
            field_path = f"{path}.{name}" if path else name
            if name not in after and not open_after and not isinstance(new.get("additionalProperties"), dict):
                change = "the field is gone: objects lose it when they are read"
                yield self.make_error(field_path, change, "keep it, and name its replacement in its description")
        for name in after:
            field_path = f"{path}.{name}" if path else name
            if name not in before and open_before:
                change = "the field accepted any value, and has a schema now"
                yield self.make_warning(field_path, change, "find objects that break it with --objects")
        for name in new.get("required") or ():
            field_path = f"{path}.{name}" if path else name
            if name in (old.get("required") or ()):
                continue
            if "default" in (after.get(name) or {}):
                yield self.make_warning(
                    field_path,
                    "the field is required, and has a default",
                    "clients see it in objects that had no value",
                )
            else:
                yield self.make_error(
                    field_path, "the field is required", "objects without it are rejected; give it a default"
                )
        if open_before and not open_after and not isinstance(new.get("additionalProperties"), dict):
            yield self.make_error(
                path,
                "unknown fields are dropped",
                "add them to the schema, or keep x-kubernetes-preserve-unknown-fields",
            )


def _find_lacking(spec: Object) -> Iterator[tuple[str, str, str]]:
    """Yield fields that one of two served versions lacks: that version, the path, the other version."""
    schemas = {
        version["name"]: (version.get("schema") or {}).get("openAPIV3Schema") or {}
        for version in spec["versions"]
        if version.get("served")
    }
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
        field_path = f"{path}.{name}" if path else name
        if name in fields:
            yield from _find_missing_fields(fields[name], child, field_path)
        elif not isinstance(lacking_schema.get("additionalProperties"), dict):
            yield field_path
    for keyword, mark in (("items", "[]"), ("additionalProperties", "[*]")):
        if isinstance(lacking_schema.get(keyword), dict) and isinstance(having_schema.get(keyword), dict):
            yield from _find_missing_fields(lacking_schema[keyword], having_schema[keyword], path + mark)


def _allows_unnamed(schema: Schema) -> bool:
    """Return whether a schema allows fields that it does not name."""
    return bool(schema.get(_PRESERVE)) or schema.get("additionalProperties") is True


def _get_value(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _get_type(schema: Schema) -> str:
    return "integer or string" if schema.get("x-kubernetes-int-or-string") else schema.get("type") or ""


def _format_list(values: Any) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list) else str(values)
