"""Prevents that one kind is defined twice: by CustomResourceDefinitions, ThirdPartyResources or built-in kinds.

A definition may replace a ThirdPartyResource if it can serve all of its objects.
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.apis.apiextensions.group import DEFINITIONS
from podless.apis.extensions.group import THIRD_PARTY_RESOURCES
from podless.apis.extensions.thirdparty import Defined, parse_defined_name
from podless.kinds.kind import Kind
from podless.meta import field
from podless.meta.errors import Invalid
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object


class DefinitionConflictCheck(Plugin):
    """Rejects definitions of resources that are already defined."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        if subresource or operation not in (CREATE, UPDATE):
            return False
        return kind.is_same_as(DEFINITIONS) or (operation == CREATE and kind.is_same_as(THIRD_PARTY_RESOURCES))

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        if attr.kind.is_same_as(DEFINITIONS):
            errors = await self._check_definition(attr, attr.obj["spec"])
        else:
            errors = await self._check_third_party(parse_defined_name(attr.obj["metadata"]["name"]))
        if errors:
            raise Invalid(attr.kind.kind, attr.kind.group, attr.obj["metadata"].get("name") or "", errors)

    async def _check_definition(self, attr: AdmissionAttributes, spec: Object) -> list[FieldError]:
        errors = self._check_builtin(spec["group"], spec["names"]["plural"], "spec.names.plural")
        for entry in (await self._state.load_collection(THIRD_PARTY_RESOURCES)).list_entries():
            defined = parse_defined_name(entry.name)
            if defined.group != spec["group"]:
                continue
            definition = entry.decode()
            if defined.kind == spec["names"]["kind"]:
                heir = _check_takeover(spec, definition)
                errors += heir
                if not heir and attr.operation == CREATE:
                    attr.warnings.append(f"takes over the objects of thirdpartyresources.extensions {entry.name}")
            else:
                errors += _check_names(spec, defined, entry.name)
        return errors

    async def _check_third_party(self, defined: Defined) -> list[FieldError]:
        errors = self._check_builtin(defined.group, defined.plural, "metadata.name")
        for entry in (await self._state.load_collection(DEFINITIONS)).list_entries():
            if entry.name.partition(".")[2] != defined.group:
                continue
            names = entry.decode()["spec"]["names"]
            resources = {names["plural"], names.get("singular"), *(names.get("shortNames") or ())}
            if defined.kind in (names["kind"], names.get("listKind")) or resources & defined.resources:
                text = f"{defined.kind} ({defined.plural}) is defined by the CustomResourceDefinition {entry.name}"
                errors.append(field.invalid("metadata.name", defined.kind, text))
        for entry in (await self._state.load_collection(THIRD_PARTY_RESOURCES)).list_entries():
            defined_there = parse_defined_name(entry.name)
            same_name = (defined_there.group, defined_there.plural) == (defined.group, defined.plural)
            if same_name and defined_there.kind != defined.kind:
                text = f"{defined.plural} is defined by the ThirdPartyResource {entry.name}"
                errors.append(field.invalid("metadata.name", defined.kind, text))
        return errors

    def _check_builtin(self, group: str, plural: str, path: str) -> list[FieldError]:
        served = self._state.registry.get(group, plural)
        if served is None or served.custom:
            return []
        return [field.invalid(path, plural, f"{served.resource} is served by the server itself")]


def _check_names(spec: Object, defined: Defined, name: str) -> list[FieldError]:
    """Reject names that a ThirdPartyResource uses."""
    names = spec["names"]
    text = f"is in use by the ThirdPartyResource {name}"
    errors = []
    for key in ("plural", "singular"):
        if names.get(key) in defined.resources:
            errors.append(field.invalid(f"spec.names.{key}", names[key], text))
    for index, short_name in enumerate(names.get("shortNames") or ()):
        if short_name in defined.resources:
            errors.append(field.invalid(f"spec.names.shortNames[{index}]", short_name, text))
    if names.get("listKind") in (defined.kind, f"{defined.kind}List"):
        errors.append(field.invalid("spec.names.listKind", names["listKind"], text))
    return errors


def _check_takeover(spec: Object, resource: Object) -> list[FieldError]:
    """Reject a definition that cannot take over the objects of a ThirdPartyResource."""
    owner = f"the ThirdPartyResource {resource['metadata']['name']}"
    if "deletionTimestamp" in resource["metadata"]:
        return [field.invalid("spec.names.kind", spec["names"]["kind"], f"{owner} is being deleted, with its objects")]
    errors = []
    if spec["scope"] != "Namespaced":
        errors.append(
            field.invalid("spec.scope", spec["scope"], f"must be Namespaced to take over the objects of {owner}")
        )
    old_versions = [version["name"] for version in resource["versions"]]
    new_versions = {version["name"] for version in spec.get("versions") or () if version.get("served")}
    missing = [name for name in old_versions if name not in new_versions]
    if missing:
        text = f"must serve {', '.join(missing)} as well to take over the objects of {owner}"
        errors.append(field.invalid("spec.versions", sorted(new_versions), text))
    return errors
