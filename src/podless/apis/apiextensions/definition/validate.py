"""Validates CustomResourceDefinitions, which must be decoded and defaulted, except their metadata.

Source: apiextensions-apiserver's apis/apiextensions/validation at 1.36. It validates the internal version, whose paths
errors have: `shared` lists the fields that move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podless.apis.apiextensions.definition import schemas, shared, versions, webhook
from podless.apis.apiextensions.definition.columns import (
    check_columns,
    check_selectable,
    check_subresources,
    kept_selectable,
)
from podless.apis.apiextensions.definition.conversions import check_declared
from podless.apis.apiextensions.definition.schemas import Checker
from podless.apis.apiextensions.definition.shared import Layout
from podless.apis.apiextensions.definition.status import APPROVAL, approval_state, read_approval
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.meta.validation import is_condition_true
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.schema import Expressions

if TYPE_CHECKING:
    from podless.apis.apiextensions.definition import beta
else:
    beta = lazy.LateModule("podless.apis.apiextensions.definition.beta")

_MIXED = "may have mixed case, but should otherwise match: "
_SCOPES = ("Cluster", "Namespaced")
_IMMUTABLE = "field is immutable"
_PRESERVE = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"


def validate_create(crd: Object, rules: Expressions | None = None, *, legacy: bool = False) -> list[FieldError]:
    """Validate a new definition. rules: compiles x-kubernetes-validations. legacy: the definition is a v1beta1 one."""
    errors = _validate_object_name(crd)
    errors += _validate_spec(_read_layout(crd, legacy), None, rules, any_bundle=True)
    errors += _validate_metadata_and_status(crd, None, legacy)
    return errors or check_declared(crd, None)


def validate_update(
    new: Object, old: Object, rules: Expressions | None = None, *, legacy: bool = False
) -> list[FieldError]:
    """Validate a changed definition. Some faults are accepted if the old definition has them."""
    established = is_condition_true(old, "Established")
    layout, before = _read_layout(new, legacy), _read_layout(old, legacy)
    any_bundle = not established or bool(webhook.bundle_fault(before.spec.get("conversion")))
    errors = _validate_spec(layout, before, rules, any_bundle=any_bundle)
    errors += _validate_unchanged(new["spec"], old["spec"], established)
    errors += _validate_metadata_and_status(new, old, legacy)
    return errors or check_declared(new, old)


def validate_status(crd: Object) -> field.Errors:
    """Validate a status update: only the syntax of its names."""
    return _validate_names(crd["status"]["acceptedNames"], "status.acceptedNames")


def _read_layout(crd: Object, legacy: bool) -> Layout:
    return beta.read_layout(crd["spec"]) if legacy else Layout.read_layout(crd["spec"])


def _validate_metadata_and_status(crd: Object, old: Object | None, legacy: bool) -> field.Errors:
    status = crd["status"]
    yield from _validate_names(status["acceptedNames"], "status.acceptedNames")
    yield from _validate_stored_versions(
        status["storedVersions"], crd["spec"].get("versions") or [], "status.storedVersions"
    )
    if legacy:
        return
    yield from _validate_approval(crd, old)
    before = old is not None and old["spec"].get("preserveUnknownFields")
    if crd["spec"].get("preserveUnknownFields") and not before:
        yield field.invalid("spec.preserveUnknownFields", True, _PRESERVE)


def _validate_spec(
    layout: Layout, before: Layout | None, rules: Expressions | None, *, any_bundle: bool
) -> list[FieldError]:
    """Validate the spec, with errors in kube-apiserver's order. before: the spec before an update."""
    spec = layout.spec
    errors = _validate_group(spec["group"])
    scope = spec["scope"]
    errors += field.one_of("spec.scope", scope, _SCOPES, named=False) if scope else [field.required("spec.scope")]
    errors += schemas.check_given(layout, before)
    errors += schemas.check_defaults(layout, before)
    checker = Checker(rules, schemas.keyword_options(layout, before), new=before is None)
    for index, version in enumerate(layout.versions):
        errors += _validate_version(layout, before, version, checker, f"spec.versions[{index}]")
    errors += beta.check_exclusive(layout) if layout.legacy else []
    errors += _validate_storage(layout, spec.get("versions"))
    errors += checks.require_fields(spec["names"], "spec.names", "plural", "singular", "kind", "listKind")
    errors += _validate_names(spec["names"], "spec.names")
    errors += _validate_common(layout, before, checker)
    conversion = spec.get("conversion")
    if conversion and conversion["strategy"] != "None" and spec.get("preserveUnknownFields"):
        text = "must be None if spec.preserveUnknownFields is true"
        errors.append(field.invalid("spec.conversion.strategy", conversion["strategy"], text))
    earlier = None if before is None else before.spec.get("conversion")
    return errors + webhook.check_conversion(conversion, "spec.conversion", old=earlier, any_bundle=any_bundle)


def _validate_object_name(crd: Object) -> list[FieldError]:
    """Require the object's name to be PLURAL.GROUP."""
    spec, metadata = crd["spec"], crd["metadata"]
    expected = f"{spec['names']['plural']}.{spec['group']}"
    text = 'must be spec.names.plural+"."+spec.group'
    return [
        field.invalid(f"metadata.{key}", metadata[key], text)
        for key in ("generateName", "name")
        if metadata.get(key) and metadata[key] != expected
    ]


def _validate_names(given: Object, path: str) -> field.Errors:
    """Validate the syntax of names, which may be missing."""
    for name in ("plural", "singular"):
        yield from _validate_label(f"{path}.{name}", given.get(name, ""))
    for name in ("kind", "listKind"):
        yield from _validate_label(f"{path}.{name}", given.get(name, ""), mixed=True)
    for index, short_name in enumerate(each(given.get("shortNames") or [])):
        yield from _validate_label(f"{path}.shortNames[{index}]", short_name, required=True)
    if given.get("kind") and given["kind"] == given.get("listKind"):
        yield field.invalid(f"{path}.listKind", given["listKind"], "kind and listKind may not be the same")
    for index, category in enumerate(each(given.get("categories") or [])):
        yield from _validate_label(f"{path}.categories[{index}]", category, required=True)


def _validate_label(path: str, value: str, *, mixed: bool = False, required: bool = False) -> field.Errors:
    """Yield one error with all faults of a label. mixed: allow upper case. required: report an empty label."""
    faults = names.check_label_1035(value.lower() if mixed else value) if value or required else []
    if faults:
        yield field.invalid(path, value, (_MIXED if mixed else "") + ",".join(faults))


def _validate_group(group: str) -> list[FieldError]:
    if not group:
        return [field.required("spec.group")]
    faults = names.check_subdomain(group)
    if not faults and "." not in group:
        faults = ["should be a domain with at least one dot"]
    return [field.invalid("spec.group", group, ",".join(faults))] if faults else []


def _validate_version(
    layout: Layout, before: Layout | None, version: Object, checker: Checker, path: str
) -> list[FieldError]:
    """Validate a version, except the fields that all versions share."""
    faults = names.check_label_1035(version["name"])
    errors = [field.invalid(f"{path}.name", version["name"], ",".join(faults))] if faults else []
    errors += _validate_deprecation(version, f"{path}.deprecationWarning")
    status = "status" in (layout.find_subresources(version) or {})
    schema = shared.schema_of_version(version)
    errors += checker.validate_schema(schema, f"{path}.schema.openAPIV3Schema", status=status)
    errors += check_subresources(version.get("subresources"), f"{path}.subresources")
    errors += check_columns(version.get("additionalPrinterColumns") or [], f"{path}.additionalPrinterColumns")
    fields, at = version.get("selectableFields") or [], f"{path}.selectableFields"
    if fields and schema is None:
        text = "may only be set when `version.schema.openAPIV3Schema` is not included"
        return [*errors, field.invalid(at, "", text)]
    return errors + check_selectable(fields, schema, at, too_many=kept_selectable(layout, before, version))


def _validate_common(layout: Layout, before: Layout | None, checker: Checker) -> list[FieldError]:
    """Validate the fields that all versions share."""
    common = layout.common
    schema = shared.schema_of_version(common)
    errors = checker.validate_schema(schema, "spec.validation.openAPIV3Schema", status=layout.any_status)
    errors += check_subresources(common.get("subresources"), "spec.subresources")
    errors += check_columns(common.get("additionalPrinterColumns") or [], "spec.additionalPrinterColumns")
    fields, at = common.get("selectableFields") or [], "spec.selectableFields"
    if fields and "schema" not in common:
        return [*errors, field.invalid(at, "", "may only be set when validations.schema is included")]
    return errors + check_selectable(fields, schema, at, too_many=kept_selectable(layout, before, None))


def _validate_deprecation(version: Object, path: str) -> list[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    if not version.get("deprecated"):
        return [field.invalid(path, Named(warning), "can only be set for deprecated versions")]
    faults = ["must be <= 256 characters long"] if len(warning.encode()) > 256 else []
    if not warning:
        faults.append("must not be an empty string")
    offset = next((index for index, char in enumerate(each(warning)) if not char.isprintable()), None)
    if offset is not None:
        offset = len(warning[:offset].encode())
        text = "must only contain printable UTF-8 characters; non-printable character found at index"
        faults.append(f"{text} {offset}")
    return field.invalid_details(path, Named(warning), faults)


def _validate_storage(layout: Layout, raw_versions: Sequence[Object] | None) -> list[FieldError]:
    """Require unique version names and exactly one storage version."""
    called = [version["name"] for version in layout.versions]
    faults = []
    if len(set(called)) < len(called):
        faults.append("must contain unique version names")
    if sum(version["storage"] for version in layout.versions) != 1:
        faults.append("must have exactly one version marked as storage version")
    errors = []
    if faults:  # formatting is expensive, so only for errors
        text = versions.show_versions(None if raw_versions is None else layout.versions)
        errors = [field.invalid("spec.versions", text, fault) for fault in faults]
    first = layout.spec.get("version", called[0] if called else "")
    if first:
        faults = names.check_label_1035(first)
        errors += [field.invalid("spec.version", first, ",".join(faults))] if faults else []
        if called and called[0] != first:
            errors.append(field.invalid("spec.version", first, "must match the first version in spec.versions"))
    return errors


def _validate_unchanged(new: Object, old: Object, established: bool) -> field.Errors:
    for path, frozen in (("scope", established), ("names.kind", established), ("group", True), ("names.plural", True)):
        now, before = ((spec["names"] if "." in path else spec)[path.rpartition(".")[2]] for spec in (new, old))
        if frozen and now != before:
            yield field.invalid(f"spec.{path}", now, _IMMUTABLE)


def _validate_stored_versions(stored: list[str] | None, versions: list[Object], path: str) -> field.Errors:
    """Validate status.storedVersions: it has the storage version, and only versions that exist."""
    if not stored:
        yield field.invalid(path, stored, "must have at least one stored version")
        return
    indexes = {name: index for index, name in enumerate(each(stored))}
    for version in each(versions):  # of versions with one name, the first counts
        if indexes.pop(version["name"], None) is None and version["storage"]:
            yield field.invalid(path, stored, f"must have the storage version {version['name']}")
    for name, stored_index in each(indexes).items():
        text = (
            f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions"
            f" until a storage migration ensures no data remains persisted in {name}"
            f" and removes {name} from status.storedVersions"
        )
        yield field.invalid(f"{path}[{stored_index}]", name, text)


def _validate_approval(crd: Object, old: Object | None) -> list[FieldError]:
    """Require approval of definitions in groups of the Kubernetes community, unless the old one lacked it."""
    state, text = approval_state(crd)
    # even if the old definition was in another group
    if not state or (old is not None and state == read_approval(old)):
        return []
    path = f"metadata.annotations[{APPROVAL}]"
    if state == "missing":
        return [field.required(path, text)]
    if state == "invalid":
        return [field.invalid(path, crd["metadata"]["annotations"][APPROVAL], text)]
    return []
