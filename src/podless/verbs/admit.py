"""From a call to admission and back; nothing is prepared where no step concerns the write."""

from __future__ import annotations

from typing import Any

from podless.admission import CREATE, DELETE, UPDATE, AdmissionAttributes, Along, chain
from podless.fields import managers
from podless.verbs.call import API, Call
from podless.verbs.options import DeleteOptions, WriteOptions

Object = dict[str, Any]

_META = "meta.k8s.io/v1"
_INVALID = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: "
)


def mutates(api: API, call: Call, operation: str) -> bool:
    """Whether `mutate` has anything to do for such a write: nearly never, and then nothing need be waited for."""
    return bool(api.admission.mutating(operation, call.kind, call.subresource, call.namespace))


def allocates(api: API, call: Call, operation: str) -> bool:
    """Whether `allocate` has anything to do for such a write."""
    return bool(api.admission.allocating(operation, call.kind, call.subresource))


def validates(api: API, call: Call, operation: str) -> bool:
    """Whether `validate` has anything to do for such a write."""
    return bool(api.admission.validating(operation, call.kind, call.subresource))


async def mutate(api: API, call: Call, chosen: WriteOptions, obj: Object, old: Object | None = None) -> Object:
    """The object as admission wants it: with its defaults, not yet checked. old: None for a create.

    Raises what refuses the write.
    """
    operation = CREATE if old is None else UPDATE
    steps = api.admission.mutating(operation, call.kind, call.subresource, call.namespace)
    if not steps:
        return obj
    before = (obj.get("metadata") or {}).get("managedFields")
    attr = _attributes(call, operation, obj, old, chosen)
    await chain.mutate(steps, attr)
    assert attr.obj is not None
    call.added = attr.size
    if attr.obj is not obj:
        _keep_sound(call, attr.obj, before)
    return attr.obj


async def allocate(api: API, call: Call, chosen: WriteOptions, obj: Object, old: Object | None = None) -> Along | None:
    """Complete the object right before it is checked, in place, and set `call.refused`. old: None for a create.

    Returns what must be committed with the object. Raises what refuses the write.
    """
    operation = CREATE if old is None else UPDATE
    steps = api.admission.allocating(operation, call.kind, call.subresource)
    if not steps:
        return None
    attr = _attributes(call, operation, obj, old, chosen)
    await chain.allocate(steps, attr)
    call.refused = attr.refused
    return attr.along


async def validate(api: API, call: Call, chosen: WriteOptions, obj: Object, old: Object | None = None) -> None:
    """Ask admission about an object that obeys all rules of its kind. Raises what refuses the write."""
    operation = CREATE if old is None else UPDATE
    steps = api.admission.validating(operation, call.kind, call.subresource)
    call.along = None
    if steps:
        attr = _attributes(call, operation, obj, old, chosen)
        await chain.validate(steps, attr)
        call.along = attr.along


async def delete(api: API, call: Call, chosen: DeleteOptions, old: Object) -> None:
    """Ask admission about a delete. Raises what refuses it."""
    mutating = api.admission.mutating(DELETE, call.kind, call.subresource, call.namespace)
    validating = api.admission.validating(DELETE, call.kind, call.subresource)
    if not mutating and not validating:
        return
    options = {"kind": "DeleteOptions", "apiVersion": _META, **chosen.given}
    namespace = call.namespace or _own_namespace(call, call.name)
    attr = AdmissionAttributes(
        DELETE, call.kind, call.version, call.subresource, namespace, call.name, None, old, options, chosen.dry_run,
        call.user, call.warnings, call.annotations,
    )  # fmt: skip
    await chain.mutate(mutating, attr)
    await chain.validate(validating, attr)


def _attributes(
    call: Call, operation: str, obj: Object, old: Object | None, chosen: WriteOptions
) -> AdmissionAttributes:
    name = call.name or (obj.get("metadata") or {}).get("name") or ""
    options: Object = {"kind": "CreateOptions" if operation == CREATE else "UpdateOptions", "apiVersion": _META}
    if chosen.dry_run:
        options["dryRun"] = ["All"]
    if chosen.manager:
        options["fieldManager"] = chosen.manager
    if "fieldValidation" in call.query:
        options["fieldValidation"] = chosen.validation
    namespace = call.namespace or _own_namespace(call, name)
    return AdmissionAttributes(
        operation, call.kind, call.version, call.subresource, namespace, name, obj, old, options, chosen.dry_run,
        call.user, call.warnings, call.annotations, floats=call.floats if call.kind.custom else [],
        verb=call.verb,
    )  # fmt: skip


def _own_namespace(call: Call, name: str) -> str:
    """A namespace is in itself."""
    return name if call.kind.plural == "namespaces" and not call.kind.group else ""


def _keep_sound(call: Call, obj: Object, before: Any) -> None:
    """Who owns which field is what it was, where admission made something else of it that is not sound."""
    metadata = obj.get("metadata") or {}
    try:
        managers.decode(metadata.get("managedFields"))
    except ValueError as error:
        call.warnings.append(_INVALID + str(error))
        managers.put(metadata, before)
