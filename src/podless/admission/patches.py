"""Applies patches and apply configurations of admission to an object, and checks and defaults the result.

Source: k8s.io/apiserver pkg/admission/plugin/policy/mutating/patch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podless import schema
from podless.admission.attributes import AdmissionAttributes
from podless.admission.refusals import internal_error
from podless.admission.subject import AdmissionSubject
from podless.codec import gotext, serializer
from podless.fields import combine
from podless.fields.check import check_value
from podless.fields.typed import SchemaMisfit, Shape, schema_shape, struct_shape
from podless.kinds import scheme
from podless.kinds.conversion import ConversionFailed
from podless.kinds.kind import Kind, Version
from podless.meta.errors import APIError, Timeout
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.structs import structs
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from podless.fields import jsonpatch
else:
    jsonpatch = lazy.LateModule("podless.fields.jsonpatch")

SCALE = load_struct("autoscaling/v1", "Scale")


class InvalidChange(Exception):
    """A change cannot be applied. The text says why."""


class KindChanged(Exception):
    """A mutation has changed the kind or the version of the object."""


def apply_json_patch(obj: Object, raw: bytes) -> Object:
    """Return the object after a JSON patch; the unchanged object if a test operation fails.

    Raises InvalidChange and jsonpatch.Rejected.
    """
    try:
        patched = jsonpatch.apply_json_patch(obj, raw, checked=False)
    except (jsonpatch.OperationRejected, Timeout):
        raise
    except APIError as error:
        raise InvalidChange(error.message) from None
    try:
        scheme.read_type_meta(patched)
    except ValueError as error:
        raise InvalidChange(str(error)) from None
    return patched or {}


def apply_configuration(kind: Kind, version: Version, subresource: str, obj: Object, applied: Object) -> Object:
    """Return the object with a configuration applied as in server-side apply, but without managers.

    Raises InvalidChange.
    """
    if kind.custom and obj["kind"] != kind.kind:  # another kind, or a Scale
        text = f"no corresponding type for {obj['apiVersion']}, Kind={obj['kind']}"
        raise InvalidChange(f"failed to convert patch object to typed object: {text}")
    shape = _find_shape(kind, version, subresource)
    applied = {**applied, "apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    try:
        check_value(applied, shape)
    except SchemaMisfit as misfit:
        raise InvalidChange(f"failed to convert patch object to typed object: {misfit}") from None
    atomic = _find_atomic(applied, shape, "")
    if atomic:
        reason = f"may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        raise InvalidChange(f"invalid ApplyConfiguration: {reason}")
    try:
        check_value(obj, shape, repeats=True)
    except SchemaMisfit as misfit:
        raise InvalidChange(f"failed to convert original object to typed object: {misfit}") from None
    merged: Object = combine.merge_values(obj, applied, shape)
    return merged


def _find_shape(kind: Kind, version: Version, subresource: str) -> Shape:
    struct = SCALE if subresource == "scale" else kind.struct_of(version)
    if struct is not None:
        return struct_shape(struct)
    return kind.derive(("shape", version.name), lambda: schema_shape(kind.structural_schema(version)))


def _find_atomic(value: Any, shape: Shape, path: str) -> list[str]:
    """Return the paths of atomic maps and lists in a value: applying them would remove items that the value lacks."""
    texts: list[str] = []
    charge(1)
    if isinstance(value, dict) and shape.map is not None:
        if shape.map.atomic:
            texts.append(path)
        for name, item in each(value).items():
            _, child, declared = shape.map.find_child(name)
            if declared and child is not None:
                texts += _find_atomic(item, child, f"{path}.{name}")
    elif isinstance(value, list) and shape.list is not None:
        if not shape.list.associative:
            texts.append(path)
        for index, item in enumerate(each(value)):
            texts += _find_atomic(item, shape.list.item, f"{path}[{index}]")
    return texts


def _check_type(kind: Kind, version: Version, obj: Object, target: str) -> None:
    """Raise InvalidChange or KindChanged if a changed object does not have the kind's apiVersion and kind.

    target: the version of the write, for the error text.
    """
    noun, api_version, expected = obj.get("kind"), obj.get("apiVersion"), kind.api_version(version.name)
    if not isinstance(noun, str | None) or not isinstance(api_version, str | None):
        try:
            scheme.read_type_meta(obj)
        except ValueError as error:
            raise InvalidChange(str(error)) from None
    if kind.custom:
        if not noun:
            raise InvalidChange(f"Object 'Kind' is missing in '{serializer.encode_sorted(obj).decode()}'")
        if api_version != expected:
            named = f"{api_version or '/'}, Kind={noun} is unstructured"
            raise KindChanged(f"{named} and is not suitable for converting to {gotext.quote(kind.api_version(target))}")
        return
    fault = kind.explain_mismatch(noun or kind.kind, api_version or expected)
    if fault:
        raise InvalidChange(fault) if fault.startswith("no kind") else KindChanged(fault)
    obj["kind"], obj["apiVersion"] = kind.kind, expected


async def settle_object(
    subject: AdmissionSubject, version: Version, obj: Object, *, strict: bool = False, size: int = 0
) -> bool:
    """Store a changed object in the attributes, converted to the version of the write and defaulted.

    Return whether it differs from the object before, as a real server compares them. strict: treat an object that
    cannot be decoded as an internal error, and reject unknown fields of a built-in kind. size: bytes of the changed
    object; large ones are processed off the loop. Raises InvalidChange, KindChanged, and APIError for a failed
    conversion.
    """
    attr, run_by_size = subject.attr, subject.converter.client.run_by_size
    attr.size += size
    kind, unknown, written = attr.kind_in(version), list[str](), attr.is_written_in(version)
    before, timed = await subject.show_object(attr.obj, version), _has_new_times(attr)
    obj = await run_by_size(size, serializer.copy_value, obj)  # a copy, because parts of the object can be shared
    try:
        if attr.subresource == "scale":
            head = {"kind": "Scale", "apiVersion": "autoscaling/v1"}
            attr.obj = head | structs.decode_struct(SCALE, obj)
            return attr.obj != before
        if attr.subresource_kind is not None:
            kind, version = attr.subresource_kind, attr.subresource_kind.versions[0]
        if attr.subresource_kind is None:
            _check_type(kind, version, obj, attr.version.name)
        obj, changed = await run_by_size(size, kind.strategy.decode_admitted, kind, version, obj, before, unknown)
    except (structs.DecodeError, schema.Malformed) as error:
        raise internal_error(str(error)) if strict else InvalidChange(str(error)) from None
    if strict and unknown and not kind.custom:
        fields = (f"unknown field {gotext.quote(path)}" for path in dict.fromkeys(unknown))
        raise internal_error(f"strict decoding error: {', '.join(fields)}")
    if attr.needs_conversion and not written:
        try:
            obj = await subject.converter.convert_object(attr.kind, obj, attr.version.name)
        except ConversionFailed as failed:
            raise InvalidChange(f"failed to convert object: {failed}") from None
    attr.obj, attr.changed = obj, True
    return changed or timed


def _has_new_times(attr: AdmissionAttributes) -> bool:
    """Return whether this write has set times of managers, and admission has not changed the object yet.

    In a real server, such times of built-in kinds have fractions of a second, which a patch cuts off. So it finds that
    the first patch changes the object, even one that does not.
    """
    if attr.kind.custom or attr.changed or attr.obj is None:
        return False
    managed = (attr.obj.get("metadata") or {}).get("managedFields")
    return bool(managed) and managed != ((attr.old or {}).get("metadata") or {}).get("managedFields")
