"""Converts manifests of older generations to CustomResourceDefinitions of apiextensions.k8s.io/v1, offline."""

from __future__ import annotations

from typing import Any, NamedTuple

from podless.apis.apiextensions.definition import beta, fill, shared
from podless.apis.apiextensions.definition.status import APPROVAL, approval_state
from podless.apis.apiextensions.definition.validate import validate_create
from podless.apis.extensions.thirdparty import name_faults, parse_defined_name
from podless.fields.kubectl import LAST_APPLIED
from podless.meta.gvk import guess_plural
from podless.runtime.jsonobject import Object
from podless.schema import Note, restructure, shape, structural
from podless.schema.definition import is_structural
from podless.structs import structs
from podless.structs.structfiles import load_struct

CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
CUSTOM_RESOURCE_DEFINITION_BETA = load_struct("apiextensions/v1beta1", "CustomResourceDefinition")
THIRD_PARTY_RESOURCE = load_struct("extensions/v1beta1", "ThirdPartyResource")


BETA = ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition")
THIRD = ("extensions/v1beta1", "ThirdPartyResource")
_ANY_SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class BadManifest(ValueError):
    """A manifest that a server of its generation would have rejected. The text says why."""


class Converted(NamedTuple):
    """A v1 definition, and notes about its conversion."""

    definition: Object
    notes: list[Note]


def is_older(obj: Any) -> bool:
    """Return whether `convert_definition` applies to a manifest."""
    return isinstance(obj, dict) and (obj.get("apiVersion"), obj.get("kind")) in (BETA, THIRD)


def convert_definition(obj: Object, *, prune: bool = False) -> Converted:
    """Convert a v1beta1 definition or a ThirdPartyResource to v1. Raises BadManifest.

    prune: drop unknown fields even if the manifest preserves them.
    """
    notes: list[Note] = []
    third = obj.get("kind") == THIRD[1]
    read = _decode_object(THIRD_PARTY_RESOURCE if third else CUSTOM_RESOURCE_DEFINITION_BETA, obj, notes)
    converted = _convert_third_party(read) if third else _convert_beta(obj, read, notes, prune)
    converted = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": _keep_metadata(read["metadata"], converted["name"]),
        "spec": converted["spec"],
    }
    _add_approval(converted, notes)
    _reject_invalid(converted, notes)
    return Converted(converted, notes)


def _decode_object(struct: structs.Struct, obj: Object, notes: list[Note]) -> Object:
    unknown: list[str] = []
    try:
        read = structs.decode_struct(struct, obj, unknown)
    except structs.DecodeError as error:
        raise BadManifest(str(error)) from None
    notes += [Note(path, "was dropped: unknown field") for path in unknown]
    return read


def _keep_metadata(metadata_before: Object, name: str) -> Object:
    """Return name, labels and annotations; the server sets all other metadata."""
    annotations = {key: text for key, text in (metadata_before.get("annotations") or {}).items() if key != LAST_APPLIED}
    metadata = {"name": name, "labels": metadata_before.get("labels"), "annotations": annotations}
    return {key: value for key, value in metadata.items() if value}


def _convert_third_party(read: Object) -> Object:
    name = read["metadata"].get("name") or ""
    faults = name_faults(name)
    if faults:
        raise BadManifest(f"metadata.name: {name}: {faults[0]}")
    versions = [version.get("name") or "" for version in read.get("versions") or ()]
    if not all(versions) or not versions:
        raise BadManifest("versions: must name at least one version")
    kind, group = parse_defined_name(name)
    text = {"description": read["description"]} if read.get("description") else {}
    spec = {
        "group": group,
        "names": {"plural": guess_plural(kind), "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
        "scope": "Namespaced",
        "versions": [
            {"name": version, "served": True, "storage": not index, "schema": {"openAPIV3Schema": text | _ANY_SCHEMA}}
            for index, version in enumerate(versions)
        ],
    }
    return {"name": f"{guess_plural(kind)}.{group}", "spec": spec}


def _convert_beta(obj: Object, read: Object, notes: list[Note], prune: bool) -> Object:
    beta_spec = obj.get("spec") or {}
    beta.set_defaults(read)
    errors = beta.check_exclusive(beta.read_layout(read["spec"]))
    if errors:
        raise BadManifest("; ".join(map(str, errors)))
    spec = beta.to_v1(read)["spec"]
    preserve = spec.pop("preserveUnknownFields", False) and not prune
    if prune and read["spec"]["preserveUnknownFields"]:
        notes.append(
            Note("spec.preserveUnknownFields", "is false now: fields that the schema does not know are dropped")
        )
    if "conversion" not in beta_spec:
        spec.pop("conversion", None)
    names = beta_spec.get("names") or {}
    spec["names"] = {key: value for key, value in spec["names"].items() if key in names}
    known_notes: set[Note] = set()
    for version in spec.get("versions") or ():
        at = f"spec.versions[{version['name']}].schema.openAPIV3Schema"
        schema, schema_notes = _convert_schema(version, at, preserve)
        version["schema"] = {"openAPIV3Schema": schema}
        # notes about a schema that versions share are added once
        new_notes = [note for note in schema_notes if note._replace(path=note.path.removeprefix(at)) not in known_notes]
        known_notes |= {note._replace(path=note.path.removeprefix(at)) for note in schema_notes}
        notes += new_notes
    return {"name": read["metadata"].get("name") or "", "spec": spec}


def _convert_schema(version: Object, path: str, preserve: bool) -> tuple[Object, list[Note]]:
    """Return a schema that v1 accepts, and notes about changes. Raises BadManifest if it is nested too deep."""
    source = shared.schema_of_version(version)
    if source is None:
        reason = (
            "the schema is missing: every field is kept"
            if preserve
            else "the schema is missing: every field is dropped"
        )
        schema = dict(_ANY_SCHEMA) if preserve else {"type": "object"}
        return schema, [Note(path, reason, lost=not preserve)]
    malformed = shape.check_shape(source, path)
    if malformed:
        raise BadManifest(str(malformed[0]))
    status = "status" in (version.get("subresources") or {})
    if not preserve and is_structural(source) and not structural(source, path, status=status):
        return source, []
    schema, notes = restructure(source, path, preserve=preserve)
    if status:
        for name in ("allOf", "anyOf", "oneOf", "not", "minProperties", "maxProperties", "enum"):
            if schema.pop(name, None) is not None:
                notes.append(Note(f"{path}.{name}", "was dropped: a status subresource does not allow it"))
    errors = structural(schema, path, status=status)
    if errors:
        notes = [Note(path, f"cannot be made structural: every field is kept and not validated: {errors[0]}")]
        schema = dict(_ANY_SCHEMA)
    return schema, notes


def _add_approval(definition: Object, notes: list[Note]) -> None:
    """Add the approval annotation that v1 requires in groups of the Kubernetes community."""
    if approval_state(definition)[0] != "missing":
        return
    annotations = definition["metadata"].setdefault("annotations", {})
    annotations[APPROVAL] = "unapproved, converted from apiextensions.k8s.io/v1beta1"
    notes.append(Note(f"metadata.annotations[{APPROVAL}]", "was added: v1 requires it in this group", lost=False))


def _reject_invalid(manifest: Object, notes: list[Note]) -> None:
    """Raise BadManifest for a definition that a server would reject."""
    from podless.cel.rules import DefinitionRules

    definition = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, manifest)
    fill.set_defaults(definition)
    fill.prepare_create(definition)
    if errors := validate_create(definition, DefinitionRules()):
        raise BadManifest("; ".join(map(str, errors)))
