"""From a call to admission and back; nothing is prepared where no step concerns the write."""

from __future__ import annotations

from typing import Any, Final

from podless.admission import CONNECT, CREATE, DELETE, UPDATE, AdmissionAttributes, chain
from podless.admission.attributes import both
from podless.auth.attributes import Attributes
from podless.fields import managers
from podless.verbs.call import API, Call
from podless.verbs.options import DeleteOptions, WriteOptions
from podless.verbs.runner import Wait, Write

Object = dict[str, Any]

_META = "meta.k8s.io/v1"
_INVALID = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: "
)


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


async def connect(api: API, call: Call, asked: Object) -> Object:
    """Ask admission about a connection. asked: the options in the query. Returns them as admission wants them.

    Raises what refuses it. Source: ConnectResource of k8s.io/apiserver (pkg/endpoints/handlers/rest.go).
    """
    mutating = api.admission.mutating(CONNECT, call.kind, call.subresource, call.namespace)
    validating = api.admission.validating(CONNECT, call.kind, call.subresource)
    if not mutating and not validating:
        return asked
    attr = AdmissionAttributes(
        CONNECT, call.kind, call.version, call.subresource, call.namespace, call.name, asked, None, None, False,
        call.user, call.warnings, call.annotations,
    )  # fmt: skip
    await chain.mutate(mutating, attr)
    await chain.validate(validating, attr)
    assert attr.obj is not None
    return attr.obj


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


def mutates(api: API, write: Write) -> bool:
    """Whether `mutate` has anything to do for such a write."""
    call = write.call
    return bool(api.admission.mutating(_operation(write), call.kind, call.subresource, call.namespace))


async def _mutate(api: API, write: Write) -> None:
    write.obj = await mutate(api, write.call, write.options, write.obj, write.old)


def allocates(api: API, write: Write) -> bool:
    """Whether the object gets from admission what there is but a certain number of."""
    kind = write.call.kind
    return kind.prefix in api.allocators or kind.prefix in api.permits


async def _allocate(api: API, write: Write) -> None:
    call = write.call
    allocator, permit = api.allocators.get(call.kind.prefix), api.permits.get(call.kind.prefix)
    if allocator is not None and not call.subresource:
        write.along = await allocator.allocate(write.obj, write.old, dry_run=write.options.dry_run)
    if permit is not None:
        place = (call.subresource, call.namespace, write.obj["metadata"].get("name") or "")
        asked = Attributes(call.verb, call.kind.group, call.version.name, call.kind.plural, *place)
        call.refused = await permit.refusals(call.user, asked, write.obj, write.old)


def _validates(api: API, write: Write) -> bool:
    return bool(api.admission.validating(_operation(write), write.call.kind, write.call.subresource))


async def _validate(api: API, write: Write) -> None:
    obj, old = write.obj, write.old
    if write.shown is not None:
        obj, old = write.shown(obj), write.shown(old) if old is not None else None
    await validate(api, write.call, write.options, obj, old)
    write.along = both(write.call.along, write.along)


def _operation(write: Write) -> str:
    return CREATE if write.old is None else UPDATE


MUTATE: Final = Wait[Write](_mutate, mutates)
ALLOCATE: Final = Wait[Write](_allocate, allocates)
VALIDATE: Final = Wait[Write](_validate, _validates)
