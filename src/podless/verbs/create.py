"""create: stores a new object."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

from podless.admission.attributes import AllocationConflict
from podless.cache.entry import Entry
from podless.kinds import view
from podless.kinds.conversion import ConversionFailed
from podless.meta.errors import AlreadyExists, Forbidden, MethodNotAllowed
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.store import Record, RevisionConflict
from podless.structs.gated import drop_gated
from podless.verbs import admit, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.runner import PARSE, AwaitedStage, Stages, ValidationStage, Write

_MAX_NAMES = 8  # attempts with a generated name; maxNameGenerationCreateAttempts of k8s.io/apiserver


def create_object(api: API, call: Call) -> Coroutine[Any, Any, Single]:
    """Create the object in the body. Raises BadRequest, NotFound, Forbidden, Invalid or AlreadyExists."""
    return insert_object(api, Write(call, options.read_write_options(call, "CreateOptions")), CREATE)


async def insert_object(api: API, write: Write, stages: Stages[Write]) -> Single:
    """Run the stages and store the object. Try again while a generated name or an allocation is taken.

    Raises as `create_object` does.
    """
    call = write.call
    while True:
        try:
            await stages.run(api, write)
            if write.options.dry_run:
                return await _answer_dry_run(api, write)
            assert write.stored is not None
            entry = await storage.put_object(api, call.kind, _make_key(write), write.stored, write.along, write.obj)
            return Single(entry, None, 201)
        except AllocationConflict:
            pass
        except RevisionConflict as conflict:
            write.tries -= 1
            if not write.tries:
                existing = api.find_written(call.kind, conflict.current) if conflict.current is not None else None
                raise await _name_in_use(api, call, write.obj["metadata"], existing) from None
        stages = REPEAT
        del call.warnings[write.warned :]


async def _answer_dry_run(api: API, write: Write) -> Single:
    """Return the answer of a dry run. Raises RevisionConflict if the name is in use."""
    kind, version, key = write.call.kind, write.call.version, _make_key(write)
    if (existing := (await api.load_collection(kind)).get(key)) is not None:
        with suppress(ConversionFailed):
            await api.converter.prepare_entries(kind, version, [existing])
            raise RevisionConflict(key, Record(key, existing.stored, existing.revision, existing.created))
    return Single(None, await api.converter.round_trip(kind, version, write.obj), 201)


def _make_key(write: Write) -> str:
    metadata = write.obj["metadata"]
    return write.call.kind.key(metadata.get("namespace", ""), metadata["name"])


def read_new(write: Write) -> None:
    """Decode the object in the body, without fields that only the server sets. Raises BadRequest."""
    steps.read_body(write)
    metadata = write.obj["metadata"]
    steps.strip_server_fields(metadata)
    if "ownerReferences" in metadata:
        steps.drop_repeated_owners(write)


def fit_namespace(write: Write) -> None:
    """Check that the object is in the namespace of the path. Raises BadRequest or Invalid."""
    steps.fit_namespace(write.call, write.obj["metadata"])


def fit_mutated(write: Write) -> None:
    """Check the object again if a plugin can have changed it. Raises BadRequest or Invalid."""
    if write.mutating:
        steps.drop_owners_repeated_by_admission(write)
        fit_namespace(write)


def refuse_while_terminating(write: Write) -> None:
    """Raise Forbidden (MethodNotAllowed in older releases) while the definition of the kind is being deleted."""
    if (kind := write.call.kind).terminating:
        reason = "create not allowed while custom resource definition is terminating"
        if not has("ForbiddenWhileTerminating"):
            raise MethodNotAllowed(reason, {"group": kind.group, "kind": kind.plural})
        raise Forbidden(kind.plural, kind.group, write.obj["metadata"].get("name") or "", reason)


def claim_fields(write: Write) -> None:
    """Check that the kind takes new objects, and set managedFields: the client owns the fields that it sent."""
    steps.fit_namespace(write.call, write.obj["metadata"])
    refuse_while_terminating(write)
    fieldmanager.set_fields_of_created(write.call, write.obj, write.options.manager)


def _may_repeat(write: Write) -> bool:
    """Return whether a name or an allocation is chosen for the object, which another write can take first."""
    return _generates_name(write.obj["metadata"]) or bool(write.allocating)


def _generates_name(metadata: Object) -> bool:
    return "generateName" in metadata and not metadata.get("name")


def _copy_object(write: Write) -> None:
    write.base, write.warned = view.copy_object(write.obj), len(write.call.warnings)
    if _generates_name(write.obj["metadata"]):
        write.tries = _MAX_NAMES


_COPY: Final = Stages[Write](_copy_object)


async def _keep_copy(api: API, write: Write) -> None:
    """Keep the object as admission left it, in case a name or an allocation must be chosen again."""
    await _COPY.run(api, write)


def begin_again(write: Write) -> None:
    """Restore the object as admission left it, for the next attempt."""
    write.obj, write.encoded = view.copy_object(write.base), None


def identify_object(write: Write) -> None:
    """Set a generated name and the fields that only the server sets, and reset those that a client may not set."""
    call, obj = write.call, write.obj
    kind, metadata = call.kind, obj["metadata"]
    strategy = kind.strategy
    if not metadata.get("name"):
        steps.generate_name(metadata)
    steps.identify_object(kind, metadata)
    if not kind.custom:
        call.warnings += strategy.early_warnings(obj)
        drop_gated(kind.struct_of(call.version), obj)
    if call.subresource:
        strategy = strategy.for_subresource(call.subresource)
    status = obj.get("status")
    strategy.prepare_create(call.version, obj)
    if obj.get("status") is not status:
        call.schema_valid = False  # the schema can require it


READ: Final = (PARSE, read_new)
ADMITTED: Final = (claim_fields, admit.MUTATE, fit_mutated, AwaitedStage[Write](_keep_copy, _may_repeat))
PREPARED: Final = (identify_object, admit.ALLOCATE, ValidationStage[Write](steps.validate_new), admit.VALIDATE)
INSERTED: Final = (*PREPARED, steps.check_new_revision, *steps.STORED)
CREATE: Final = Stages[Write](*READ, *ADMITTED, *INSERTED)
MAKE: Final = Stages[Write](begin_again, *ADMITTED, *INSERTED)
REPEAT: Final = Stages[Write](begin_again, *INSERTED)


async def _name_in_use(api: API, call: Call, metadata: Object, existing: Entry | None) -> AlreadyExists:
    """Return the error that the name is in use; its text differs if the other object is being deleted and readable."""
    generated = bool(metadata.get("generateName"))
    refusal = AlreadyExists(call.kind.plural, call.kind.group, metadata["name"], generated=generated)
    if existing is not None and existing.terminating:
        with suppress(ConversionFailed):
            await api.converter.prepare_entries(call.kind, call.version, [existing])
            refusal.message = f"object is being deleted: {refusal.message}"
    return refusal
