"""The strategy of custom kinds: the rules of their definition's schemas."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

from podless import schema as schemas
from podless.codec import serializer
from podless.kinds.compiledforms import CompiledDefinition
from podless.kinds.declared import CONVERSION, ConversionFault
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import NOT_DESIRED, NOT_STATUS, ONLY_SPEC, Faults, ReadPolicy, Strategy, ValidationCost
from podless.kinds.version import validate_scale
from podless.meta import objectmeta
from podless.meta.errors import Internal
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.memo import find_value, is_off_loop, make_once
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.schema.mode import SharedParts

if TYPE_CHECKING:
    from podless.cel.rules import NodeRules as Expressions
    from podless.kinds.declared.carryout import DeclaredConversions
    from podless.schema import Schema

# what replaces the parts of an object that do not count for its generation, with and without a status subresource
_METADATA_ONLY: Object = {"metadata": None}


class CustomStrategy(Strategy[Kind]):
    """The strategy of one CustomResourceDefinition, compiled for each version at first use.

    preserve: keep fields that no schema declares.
    """

    allow_unconditional_update = False
    has_generation = True
    reads = ReadPolicy(by_namespace=False)
    checking = ValidationCost(repeats=False)
    ordered = False

    def __init__(self, preserve: bool = False) -> None:
        self._preserve = preserve
        self.form: CompiledDefinition = CompiledDefinition()

    @property
    def status_resets(self) -> tuple[tuple[str, ...], ...]:
        return NOT_STATUS if has("StatusResetsMetadata") else ONLY_SPEC

    def get_schema(self, version: Version) -> Schema:
        """Return the compiled schema of a version."""
        schema = self.form.schemas.get(version.name)
        if schema is None:
            schema = make_once(self.form.schemas, version.name, lambda: self._read_schema(version))
        return schema

    def _read_schema(self, version: Version) -> Schema:
        compiled = self.form
        if not is_off_loop():
            compiled.count_schema(version)
        parts = make_once(compiled.table, "schema parts", lambda: SharedParts(compiled.count_bytes))
        return schemas.Schema.compile(version.schema, self._preserve, parts)

    def get_openapi(self, version: Version) -> Object:
        return self.get_schema(version).openapi

    def get_expressions(self, version: Version, with_floats: bool = False) -> Expressions:
        """Return the compiled rules (x-kubernetes-validations) of a version. with_floats: for objects with floats."""
        expressions = self.form.expressions.get((version.name, with_floats))
        if expressions is None:
            expressions = make_once(
                self.form.expressions,
                (version.name, with_floats),
                lambda: self._read_expressions(self.get_schema(version).openapi, with_floats),
            )
        return expressions

    def _read_expressions(self, openapi: Object, with_floats: bool) -> Expressions:
        from podless.cel.rules import NodeRules as Expressions  # imported late: slow, and many kinds have no rules

        if not is_off_loop():
            self.form.count_rules(openapi)
        return Expressions.compile(openapi, with_floats=with_floats)

    def compile_rules(self, kind: Kind) -> None:
        for version in kind.by_version.values():
            compiled = self.get_schema(version)
            compiled.complete()
            if compiled.has_rules:
                for with_floats in (False, True):
                    self.get_expressions(version, with_floats).compile_all()
        if (declared := self.get_conversions(kind)) is not None:
            declared.complete()

    def get_conversions(self, kind: Kind) -> DeclaredConversions | None:
        """Return the conversions that the definition declares, None if it declares none.

        Raises Internal if they are invalid, which only definitions stored by older releases of podless can be.
        """
        text = (kind.webhook or {}).get("rules")
        if text is None:
            return None
        conversions, wrong = kind.derive("declared conversions", lambda: self._read_conversions(kind, text))
        if wrong:
            raise Internal(f"declared conversion for Kind={kind.kind} failed: {wrong}")
        return conversions

    def _read_conversions(self, kind: Kind, text: str) -> tuple[DeclaredConversions, str]:
        from podless.kinds.declared.reading import read_conversions

        schemas = {version.name: self.get_schema(version) for version in kind.by_version.values()}
        conversions, errors = read_conversions(text, schemas, f"metadata.annotations[{CONVERSION}]")
        return conversions, str(errors[0]) if errors else ""

    def decode(
        self,
        kind: Kind,
        version: Version,
        obj: Object,
        unknown: list[str],
        stored_metadata: Object | None = None,
        *,
        fill: bool = True,
    ) -> Object:
        """Decode metadata as ObjectMeta; prune and default the rest by the version's schema."""
        compiled = self._decode_head(kind, version, obj, unknown, stored_metadata)
        if compiled is not None:
            if fill:
                compiled.normalize(obj, unknown=unknown, drop=False)
            else:
                compiled.prune(obj, unknown=unknown)
        return obj

    def decode_and_check(
        self, kind: Kind, version: Version, obj: Object, unknown: list[str], stored_metadata: Object | None = None
    ) -> bool:
        compiled = self._decode_head(kind, version, obj, unknown, stored_metadata)
        if compiled is None:
            return False
        if compiled.accepts(obj):
            return bool(obj["apiVersion"] == kind.api_versions[version.name])
        compiled.normalize(obj, unknown=unknown, drop=False)
        return False

    def _decode_head(
        self, kind: Kind, version: Version, obj: Object, unknown: list[str], stored_metadata: Object | None
    ) -> Schema | None:
        """Decode metadata, and return the schema of the version that the object names, None for none."""
        metadata = obj.get("metadata")
        if metadata is None:
            obj["metadata"] = {}
        elif stored_metadata is not None and metadata is stored_metadata:
            obj["metadata"] = dict(stored_metadata)
        else:
            obj["metadata"] = objectmeta.coerce_metadata(metadata, unknown)
        sent_version: Version | None = version
        if (api_version := obj.get("apiVersion")) != kind.api_versions[version.name]:
            group, _, name = (api_version or "").rpartition("/")
            if group != kind.group:
                return None  # a patch changed its group, so no schema applies
            sent_version = kind.by_version.get(name)
        if obj.get("kind") != kind.kind:
            return None  # the same
        if sent_version is None:
            unknown += [name for name in each(obj) if name not in ("apiVersion", "kind", "metadata")]
            return None
        return self.get_schema(sent_version)

    def decode_admitted(
        self, kind: Kind, version: Version, obj: Object, before: Object | None, unknown: list[str]
    ) -> tuple[Object, bool]:
        """Drop malformed metadata. Keep nulls, which validation may reject, and unknown fields, as a real server."""
        changed = obj != before
        metadata = obj.get("metadata")
        obj["metadata"] = objectmeta.salvage_metadata(metadata, unknown) if isinstance(metadata, dict) else {}
        self.get_schema(version).fill(obj)
        return obj, changed

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        self.get_schema(version).default(obj)

    def fill_and_check(self, version: Version, obj: Object) -> bool:
        """Fill in defaults. Return whether the object is valid except for its metadata, and has no unknown fields."""
        compiled = self.get_schema(version)
        if compiled.accepts(obj):
            return True
        compiled.default(obj)
        return False

    def read_stored(self, kind: Kind, version: Version, obj: Object) -> Object:
        """Prune and default an object by the schema of its stored version.

        Another version shows the fields and nulls that its own schema allows, and adds no defaults.
        """
        stored = kind.by_version.get(obj["apiVersion"].rpartition("/")[2])
        if stored is not None:
            self.get_schema(stored).normalize(obj)
        if stored is not version:
            obj = self._convert_object(kind, obj, version.name)
            self.drop_unknown_fields(version, obj)
        return obj

    def make_stored(self, kind: Kind, obj: Object) -> Object:
        """Keep the fields of the storage version's schema; defaults are added on reading."""
        if obj["apiVersion"] != kind.api_versions[kind.storage_version]:
            obj = self._convert_object(kind, obj, kind.storage_version)
            self.drop_unknown_fields(kind.by_version[kind.storage_version], obj)
        return obj

    def convert_object(self, kind: Kind, version: Version, obj: Object) -> Object:
        """Convert an object as its definition declares. Without a declaration, only the apiVersion changes."""
        if self.get_conversions(kind) is None:
            return super().convert_object(kind, version, obj)
        return self._convert_object(kind, obj, version.name)

    def _convert_object(self, kind: Kind, obj: Object, version: str) -> Object:
        """Return an object in another version, not pruned. Raises Internal if that needs a webhook or a hook."""
        declared = self.get_conversions(kind)
        api_version = kind.api_version(version)
        if declared is not None:
            try:
                return declared.convert_object(obj, api_version)
            except ConversionFault as fault:
                problem = f"declared conversion for {obj['apiVersion']}, Kind={kind.kind} failed: {fault}"
                raise Internal(problem) from None
        if kind.webhook is not None and obj["apiVersion"] != api_version:
            # a caller that can wait has asked the webhook before
            raise Internal(f"conversion webhook for {obj['apiVersion']}, Kind={kind.kind} was not asked for {version}")
        obj["apiVersion"] = api_version
        return obj

    def reads_as_stored(self, kind: Kind) -> bool:
        """Return False if the stored JSON may lack defaults: with several versions, or for the status."""
        storage = kind.by_version[kind.storage_version]
        if self._preserve or (len(kind.by_version) == 1 and not storage.status):
            return True
        from podless.schema.definition import walk_nodes

        schema = find_value(self.form.schemas, storage.name)
        openapi = schema.openapi if schema is not None else storage.schema or {}  # read without compiling it
        if len(kind.by_version) > 1 and any("default" in node for node in walk_nodes(openapi)):
            return False
        return not (storage.status and "default" in ((openapi.get("properties") or {}).get("status") or {}))

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Drop the status if it has its own subresource."""
        if version.status:
            obj.pop("status", None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """Keep the status if it has its own subresource."""
        if version.status:
            _keep_status(obj, old)

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Change the status, and of metadata managedFields only."""
        written, metadata = dict(obj), obj["metadata"]
        obj.clear()
        obj.update(old)
        kept_metadata = {name: metadata[name] for name in ("managedFields", "resourceVersion") if name in metadata}
        obj["metadata"] = {
            name: value for name, value in each(old["metadata"]).items() if name != "managedFields"
        } | kept_metadata
        _keep_status(obj, written)

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        """Validate the object. Errors in unchanged values of old are accepted (ratcheting)."""
        return self.get_schema(version).validate(obj, old, validate_scale(obj, version.scale))

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return self.get_schema(version).status(obj, old, validate_scale(obj, version.scale, required=False))

    def drop_unknown_fields(self, version: Version, obj: Object) -> None:
        compiled = self.get_schema(version)
        compiled.prune(obj, drop=True)
        if not compiled.preserve and serializer.has_nulls(obj):
            compiled.drop_nulls(obj)

    def validate_scale(self, version: Version, obj: Object) -> Faults:
        return validate_scale(obj, version.scale)

    def validate_other(self, version: Version, obj: Object, old: Object | None) -> Faults:
        return self.get_schema(version).validate_structure(obj, old)

    def validate_rules(
        self,
        version: Version,
        obj: Object,
        old: Object | None,
        faults: Sequence[FieldError],
        warnings: list[str] | None = None,
        *,
        floats: bool = False,
        ratchet: bool = True,
    ) -> Faults:
        """Evaluate CEL rules on the parts of the object that have the right types."""
        if not self.get_schema(version).has_rules:
            return ()
        if faults and any(error.reason in schemas.BLOCKING for error in each(faults)):
            return () if schemas.UNCHECKED in faults else (schemas.UNCHECKED,)
        return self.get_expressions(version, floats).validate(
            obj, old, warnings=warnings, ratchet=None if ratchet else False
        )

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        """Return whether anything except metadata has changed, and except a status with its own subresource."""
        excluded = NOT_DESIRED if version.status else _METADATA_ONLY
        new, before = {**obj, **excluded}, {**old, **excluded}
        if new != before:
            return True  # values that differ in Python also differ in JSON
        if all(map(is_, new.values(), map(before.get, new))):
            return False
        return serializer.encode_sorted(new) != serializer.encode_sorted(before)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        metadata = obj["metadata"]
        if "finalizers" not in metadata:
            return []
        return objectmeta.list_finalizer_warnings(metadata, old["metadata"] if old is not None else None)

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {path.lstrip("."): _selector_text(_get_value(obj, path)) for path in version.selectable}

    def list_selectable_fields(self, version: Version) -> frozenset[str]:
        return frozenset(path.lstrip(".") for path in version.selectable)

    def explain_unselectable(self, name: str) -> str:
        return f"field label not supported: {name}"


def _keep_status(obj: Object, old: Object) -> None:
    if "status" in old:
        obj["status"] = old["status"]
    else:
        obj.pop("status", None)


def _get_value(obj: Object, path: str) -> Any:
    value: Any = obj
    for name in each(path.strip(".").split(".")):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _selector_text(value: Any) -> str:
    """Return the value of a field as fieldSelectors write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
