"""Calls admission for the verbs; prepares no attributes if no plugin handles the write."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from podless.admission import CONNECT, CREATE, DELETE, UPDATE, AdmissionAttributes, chain
from podless.admission.attributes import combine_commits
from podless.fields import managers
from podless.kinds import view
from podless.runtime.jsonobject import Object
from podless.verbs import steps
from podless.verbs.call import API, Call
from podless.verbs.options import DeleteOptions
from podless.verbs.runner import AwaitedStage, Write

_META = "meta.k8s.io/v1"
_INVALID = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: "
)


def _find_plugins(write: Write) -> None:
    """Set the plugins of each phase that apply to this write."""
    call, operation = write.call, CREATE if write.old is None else UPDATE
    write.mutating, write.allocating, write.validating = write.api.admission.find_plugins(
        operation, call.kind, call.subresource, call.namespace
    )


def mutates_object(write: Write) -> bool:
    """Find the plugins that apply to this write, and return whether one handles `mutate_object`."""
    _find_plugins(write)
    return bool(write.mutating)


async def mutate_object(api: API, write: Write, obj: Object, old: Object | None) -> Object:
    """Return the object after mutating admission, with defaults, not yet validated. Call it only if `mutates_object`.

    Then the plugins of the later phases are found again. old: None for a create. Raises the error of a plugin that
    rejects the write.
    """
    call = write.call
    before = (obj.get("metadata") or {}).get("managedFields")
    attr = _make_attributes(write, obj, old)
    await chain.run_mutating(write.mutating, attr)
    assert attr.obj is not None
    _find_plugins(write)  # again, because configurations can have changed while webhooks were called
    write.added = attr.size
    if attr.obj is not obj:
        write.prune_late = call.kind.custom
        _restore_managed_fields(call, attr.obj, before)
    return attr.obj


async def _run_mutating(api: API, write: Write) -> None:
    # plugins change the object in place, so it must not share parts with old
    if write.shared and write.entry is not None:
        write.old = view.load_object(write.call.kind, write.call.version, write.entry)
    write.call.schema_valid = False
    write.obj = await mutate_object(api, write, write.obj, write.old)


async def _run_allocating(api: API, write: Write) -> None:
    write.call.schema_valid = False
    attr = _make_attributes(write, write.obj, write.old)
    await chain.run_allocating(write.allocating, attr)
    write.refused, write.along = attr.refused, attr.along


async def _run_validating(api: API, write: Write) -> None:
    obj, old = write.obj, write.old
    if write.admission_form is not None:
        obj, old = write.admission_form(obj), write.admission_form(old) if old is not None else None
    attr = _make_attributes(write, obj, old)
    attr.meanwhile = partial(steps.encode_early, write)
    await chain.run_validating(write.validating, attr)
    if write.prune_late:
        steps.prune_late(write)
    write.along = combine_commits(attr.along, write.along)


# the three admission phases of a write; each raises the error of a plugin that rejects it
MUTATE: Final = AwaitedStage[Write](_run_mutating, mutates_object, sliced=True)
ALLOCATE: Final = AwaitedStage[Write](_run_allocating, lambda write: bool(write.allocating), sliced=True)
VALIDATE: Final = AwaitedStage[Write](_run_validating, lambda write: bool(write.validating), sliced=True)


async def admit_delete(api: API, call: Call, chosen: DeleteOptions, old: Object) -> None:
    """Run admission for a delete. Raises the error of a plugin that rejects it."""
    options = {**chosen.document, "kind": "DeleteOptions", "apiVersion": _META}
    await _run_admission(api, call, DELETE, None, old, options, chosen.dry_run)


async def admit_connect(api: API, call: Call, query_options: Object) -> Object:
    """Run admission for a connection, and return its options. query_options: the options in the query.

    Raises the error of a plugin that rejects it. Source: ConnectResource of k8s.io/apiserver
    (pkg/endpoints/handlers/rest.go).
    """
    return await _run_admission(api, call, CONNECT, query_options, None, None, False) or {}


async def _run_admission(
    api: API, call: Call, operation: str, obj: Object | None, old: Object | None, options: Object | None, dry_run: bool
) -> Object | None:
    """Run mutating and validating admission, and return the object."""
    mutating, _, validating = api.admission.find_plugins(operation, call.kind, call.subresource, call.namespace)
    if not mutating and not validating:
        return obj
    namespace = call.namespace or _find_own_namespace(call, call.name)
    attr = AdmissionAttributes(
        operation, call.kind, call.version, call.subresource, namespace, call.name, obj, old, options, dry_run,
        call.user, call.warnings, call.annotations,
    )  # fmt: skip
    await api.off_loop.slices.slice_coroutine(chain.run_mutating(mutating, attr))
    await api.off_loop.slices.slice_coroutine(chain.run_validating(validating, attr))
    return attr.obj


def _make_attributes(write: Write, obj: Object, old: Object | None) -> AdmissionAttributes:
    call, chosen, operation = write.call, write.options, CREATE if write.old is None else UPDATE
    name = call.name or (obj.get("metadata") or {}).get("name") or ""
    options: Object = {"kind": "CreateOptions" if operation == CREATE else "UpdateOptions", "apiVersion": _META}
    if chosen.dry_run:
        options["dryRun"] = ["All"]
    if chosen.manager:
        options["fieldManager"] = chosen.manager
    if "fieldValidation" in call.query:
        options["fieldValidation"] = chosen.validation
    namespace = call.namespace or _find_own_namespace(call, name)
    return AdmissionAttributes(
        operation, call.kind, call.version, call.subresource, namespace, name, obj, old, options, chosen.dry_run,
        call.user, call.warnings, call.annotations, floats=call.floats if call.kind.custom else [],
        verb=call.verb,
    )  # fmt: skip


def _find_own_namespace(call: Call, name: str) -> str:
    """Return the name of a Namespace, which is also its own namespace in admission; "" for other kinds."""
    return name if call.kind.plural == "namespaces" and not call.kind.group else ""


def _restore_managed_fields(call: Call, obj: Object, before: Any) -> None:
    """Restore the managedFields that the object had before admission if they are invalid now, and warn the client."""
    metadata = obj.get("metadata") or {}
    try:
        managers.decode_managed_fields(metadata.get("managedFields"))
    except ValueError as error:
        call.warnings.append(_INVALID + str(error))
        managers.put_managed_fields(metadata, before)
