"""create: stores a new object."""

from __future__ import annotations

import secrets
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

from podless.admission.attributes import AllocationConflict
from podless.cache.entry import Entry
from podless.codec import gotext
from podless.kinds import validation, view
from podless.kinds.conversion import ConversionFailed
from podless.meta.errors import AlreadyExists, Forbidden, Internal, MethodNotAllowed
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.store import Record, RevisionConflict
from podless.structs.gated import drop_gated
from podless.verbs import admit, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.runner import PARSE, AwaitedStage, Stages, ValidationStage, Write

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # rand.String of k8s.io/apimachinery: no vowels, no characters that look alike
_MAX_PREFIX = 58  # characters of generateName that are kept; MaxGeneratedNameLength of k8s.io/apiserver storage/names
_SUFFIX_LENGTH = 5
_MAX_NAMES = 8  # attempts with a generated name; maxNameGenerationCreateAttempts of k8s.io/apiserver


def create_object(api: API, call: Call) -> Coroutine[Any, Any, Single]:
    """Create the object in the body. Raises BadRequest, NotFound, Forbidden, Invalid or AlreadyExists."""
    return insert_object(api, Write(call, options.read_write_options(call, "CreateOptions")), CREATE)


async def insert_object(api: API, write: Write, stages: Stages[Write]) -> Single:
    """Run the stages and store the object; again while a name or an allocation is taken. Raises as `create_object`."""
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
                raise await _make_name_error(api, call, write.obj["metadata"], existing) from None
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


def _keep_copy(write: Write) -> None:
    """Keep the object as admission left it, in case a name or an allocation must be chosen again."""
    write.base, write.warned = view.copy_object(write.obj), len(write.call.warnings)
    if _generates_name(write.obj["metadata"]):
        write.tries = _MAX_NAMES


def begin_again(write: Write) -> None:
    """Restore the object as admission left it, for the next attempt."""
    write.obj, write.encoded = view.copy_object(write.base), None


def identify_object(write: Write) -> None:
    """Set a generated name and the fields that only the server sets, and reset those that a client may not set."""
    call, obj = write.call, write.obj
    kind, metadata = call.kind, obj["metadata"]
    strategy = kind.strategy
    if not metadata.get("name") and (prefix := metadata.get("generateName")):
        metadata["name"] = prefix[:_MAX_PREFIX] + "".join(secrets.choice(_SUFFIX) for _ in range(_SUFFIX_LENGTH))
    steps.set_server_fields(kind, metadata)
    if not kind.custom:
        call.warnings += strategy.early_warnings(obj)
        drop_gated(kind.struct_of(call.version), obj)
    if call.subresource:
        strategy = strategy.for_subresource(call.subresource)
    status = obj.get("status")
    strategy.prepare_create(call.version, obj)
    if obj.get("status") is not status:
        call.schema_valid = False  # the schema can require it


def validate_new(write: Write) -> None:
    """Validate the new object, prune it if nothing else needs its unknown fields, and add warnings. Raises Invalid."""
    call, obj = write.call, write.obj
    kind, version = call.kind, call.version
    if kind.custom and not call.schema_valid and (errors := validation.validate_type(kind, version, obj)):
        steps.raise_invalid(kind, obj, errors)
    errors = validation.validate_new(kind, version, obj, call.floats, schema_valid=call.schema_valid)
    if errors or write.refused:
        steps.raise_invalid(kind, obj, [*write.refused, *errors])
    if write.prune_late and not write.validating:
        steps.prune_late(write)
    call.warnings += kind.strategy.list_warnings(version, obj, None)


def check_new_revision(write: Write) -> None:
    """Check that a new object has no resourceVersion except 0. Raises Internal, as a real server does."""
    if write.options.dry_run:
        return
    text = write.obj["metadata"].pop("resourceVersion", None)
    if not text:
        return
    try:
        revision = gotext.parse_uint(text)
    except ValueError:
        return
    if revision:
        raise Internal("resourceVersion should not be set on objects to be created")


READ: Final = (PARSE, read_new)
ADMITTED: Final = (claim_fields, admit.MUTATE, fit_mutated, AwaitedStage(Stages[Write](_keep_copy).run, _may_repeat))
PREPARED: Final = (identify_object, admit.ALLOCATE, ValidationStage[Write](validate_new), admit.VALIDATE)
INSERTED: Final = (*PREPARED, check_new_revision, *steps.STORED)
CREATE: Final = Stages[Write](*READ, *ADMITTED, *INSERTED)
MAKE: Final = Stages[Write](begin_again, *ADMITTED, *INSERTED)
REPEAT: Final = Stages[Write](begin_again, *INSERTED)


async def _make_name_error(api: API, call: Call, metadata: Object, existing: Entry | None) -> AlreadyExists:
    """Return the error that the name is in use; its text differs if the other object is being deleted and readable."""
    generated = bool(metadata.get("generateName"))
    refusal = AlreadyExists(call.kind.plural, call.kind.group, metadata["name"], generated=generated)
    if existing is not None and existing.terminating:
        with suppress(ConversionFailed):
            await api.converter.prepare_entries(call.kind, call.version, [existing])
            refusal.message = f"object is being deleted: {refusal.message}"
    return refusal
