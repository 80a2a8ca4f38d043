"""update: replaces an object; also the stages that all changes of an existing object share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, TypeVar

from podless.cache.entry import Entry
from podless.codec import gotext, sentfloats
from podless.codec.gotext import Literal
from podless.fields import managers
from podless.kinds import validation, view
from podless.kinds.strategy import Strategy
from podless.meta import errors
from podless.meta.errors import Conflict, Invalid
from podless.meta.field import invalid
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import protobuf
from podless.structs.gated import drop_gated
from podless.verbs import admit, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.create import MAKE, insert_object
from podless.verbs.runner import PARSE, AwaitedStage, Stages, ValidationStage, Work, Write
from podless.verbs.storage import AttemptOutcome, NewState

W = TypeVar("W", bound=Write)


async def update_object(api: API, call: Call) -> Single:
    """Replace the object or its status by the body. Raises BadRequest, and as `rewrite_object` and `may_create` do."""
    write = Write(call, options.read_write_options(call, "UpdateOptions"))
    await READ.run(api, write)
    if not await _creates_object(api, call):
        if not has("MissingBeforePreconditions") and (await api.load_collection(call.kind)).get(call.key) is None:
            steps.check_uid(call, write.obj["metadata"], "", dry_run=write.options.dry_run)
        return await rewrite_object(api, write, UPDATE)
    metadata = write.obj["metadata"]
    steps.may_create(api, call)
    steps.read_revision(metadata)
    steps.check_uid(call, metadata, "", dry_run=write.options.dry_run)
    if not write.options.dry_run:
        metadata.pop("resourceVersion", None)
    write.base = write.obj
    return await insert_object(api, write, MAKE)


async def finalize_object(api: API, call: Call) -> Single:
    """Replace the metadata and spec.finalizers of a namespace; it is removed if it is deleted and keeps none.

    Raises as `update_object` does.
    """
    write = Write(call, options.read_write_options(call, "UpdateOptions"))
    await READ_FINALIZED.run(api, write)
    return await rewrite_object(api, write, UPDATE)


async def _creates_object(api: API, call: Call) -> bool:
    """Return whether the update creates the object, which some built-in kinds allow."""
    strategy = call.kind.strategy
    if call.subresource:
        allowed = call.subresource == "status" and strategy.allow_create_on_status("update")
    else:
        allowed = strategy.allow_create_on_update
    return allowed and (await api.load_collection(call.kind)).get(call.key) is None


async def rewrite_object(api: API, write: W, change: Stages[W]) -> Single:
    """Run the stages of a change and store the object, again after a conflict. Raises NotFound, or a stage's error."""
    write.warned = len(write.call.warnings)
    written = await storage.update_stored(
        api, write.call.kind, write.call.key, partial(attempt_update, api, write, change)
    )
    return write.answer or Single(written.entry)


async def attempt_update(api: API, write: W, change: Stages[W], entry: Entry | None) -> NewState | AttemptOutcome:
    """Return the outcome of the change for the present state. Raises as `rewrite_object` does."""
    call = write.call
    if entry is None:
        raise call.not_found()
    write.entry, write.answer, write.along, write.encoded = entry, None, None, None
    del call.warnings[write.warned :]
    await change.run(api, write)
    if write.options.dry_run:
        write.answer = Single(None, await api.converter.round_trip(call.kind, call.version, write.obj))
        return AttemptOutcome.KEEP
    if write.removed:
        write.answer = Single(None, write.obj)  # the answer shows the update at the former revision
        return AttemptOutcome.DELETE
    return NewState(write.obj, write.along, write.stored) if write.stored is not None else AttemptOutcome.KEEP


async def _convert_stored(api: API, write: Write) -> None:
    if write.entry is not None:
        await api.converter.prepare_entries(write.call.kind, write.call.version, [write.entry])


def load_object(write: Write) -> Object:
    """Decode the present object. Raises as `view.load_object` does."""
    assert write.entry is not None
    return view.load_object(write.call.kind, write.call.version, write.entry)


def load_old(write: Write) -> None:
    """Decode the present object into `old`, for comparisons."""
    write.old = load_object(write)


def replace_object(write: Write) -> None:
    """Replace the object by the client's. Raises Conflict for another uid, and Unconverted."""
    call, old = write.call, write.old
    assert old is not None
    obj = view.copy_object(write.base)
    if not call.content_type.startswith((protobuf.MEDIA, "application/yaml")):
        call.kind.strategy.note_raw_json(obj, call.body)
    steps.check_uid(call, obj["metadata"], old["metadata"].get("uid", ""), dry_run=write.options.dry_run)
    fieldmanager.set_fields_of_changed(call, old, obj, write.options.manager)
    write.obj = obj


def check_revision(write: Write) -> None:
    """Check that the client's resourceVersion equals the object's. Raises Invalid, Conflict or Internal."""
    assert write.entry is not None
    call, kind = write.call, write.call.kind
    requested = steps.read_revision(write.obj["metadata"])
    if not requested:
        if kind.strategy.allow_unconditional_update:
            return
        missing = invalid(
            "metadata.resourceVersion", 0 if has("ValuesAsJSON") else Literal("0x0"), "must be specified for an update"
        )
        raise Invalid(kind.plural, kind.group, call.name, [missing])
    if requested != write.entry.revision:
        raise Conflict(kind.plural, kind.group, call.name, errors.MODIFIED)


def keep_server_fields(write: Write) -> None:
    """Restore fields that the client may not change."""
    call, obj, old = write.call, write.obj, write.old
    assert old is not None
    kind, version, subresource = call.kind, call.version, call.subresource
    strategy = kind.strategy.for_subresource(subresource) if subresource else kind.strategy
    _keep_metadata(obj["metadata"], old["metadata"])
    if not kind.custom:
        drop_gated(kind.struct_of(version), obj, old)
    status = obj.get("status")
    if subresource == "status":
        strategy.prepare_status(version, obj, old)
    elif subresource == "finalize":
        strategy.prepare_finalize(version, obj, old)
    else:
        strategy.prepare_update(version, obj, old)
    if subresource or obj.get("status") is not status:
        call.schema_valid = False  # another status has not been validated


def _keep_metadata(metadata: Object, old: Object) -> None:
    """Restore metadata that an update may omit or may not change."""
    metadata["resourceVersion"] = old["resourceVersion"]
    metadata["creationTimestamp"] = old.get("creationTimestamp")  # null if another program wrote the object to etcd
    if "uid" in old and not metadata.get("uid"):
        metadata["uid"] = old["uid"]
    if "deletionTimestamp" in old:  # an omitted or invalid deletionTimestamp; another time stays and is rejected later
        metadata["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old and metadata.get("deletionGracePeriodSeconds") is None:
        metadata["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]
    if "generation" in old:
        metadata["generation"] = old["generation"]
    else:
        metadata.pop("generation", None)


def validate_changed(write: Write) -> None:
    """Update the generation, set managedFields and validate. Raises Invalid."""
    call, obj, old = write.call, write.obj, write.old
    assert old is not None
    kind, version, subresource = call.kind, call.version, call.subresource
    strategy, metadata = kind.strategy.for_subresource(subresource) if subresource else kind.strategy, obj["metadata"]
    if strategy.has_generation and subresource != "status" and _is_changed(call, strategy, obj, old):
        metadata["generation"] = metadata.get("generation", 0) + 1
    else:
        managers.restore_times(obj, old)
    if kind.custom and not call.schema_valid and (errors := validation.validate_type(kind, version, obj, old)):
        steps.raise_invalid(kind, obj, errors)
    errors = validation.validate_change(
        kind, version, obj, old, call.warnings, call.floats, subresource=subresource, schema_valid=call.schema_valid
    )
    if errors or write.refused:
        steps.raise_invalid(kind, obj, [*write.refused, *errors])
    if write.prune_late and not write.validating:
        steps.prune_late(write)
    if subresource in ("", "scale"):
        call.warnings += kind.strategy.list_warnings(version, obj, old)
    elif subresource == "status":
        call.warnings += strategy.list_status_warnings(obj)


def _is_changed(call: Call, strategy: Strategy[Any], obj: Object, old: Object) -> bool:
    # 1.0 in place of 1 is a change, but a number past int64 is a float for Go in the store, too. The decoder reads
    # those below 2**64 as integers, and larger ones as floats
    floats = [sent for sent in call.floats if not gotext.MAX_INT64 < sent[1] <= gotext.MAX_UINT64]
    if not floats:
        return strategy.increases_generation(call.version, obj, old)
    with sentfloats.as_sent(obj, floats):
        return strategy.increases_generation(call.version, obj, old)


def note_result(write: Write) -> None:
    """Set the present resourceVersion, and note whether the write removes the object."""
    assert write.entry is not None
    metadata = write.obj["metadata"]
    metadata["resourceVersion"] = str(write.entry.revision)
    write.removed = "deletionTimestamp" in metadata and _completes_delete(write.call.kind.strategy.ordered, write.obj)


def change_stages(*change: Work[W] | AwaitedStage[W], first: Sequence[AwaitedStage[Write]] = ()) -> Stages[W]:
    """Return the stages of a change of an existing object. change: stages of the verb. first: those before all."""
    return Stages[W](
        *first,
        AwaitedStage(_convert_stored, lambda write: write.call.kind.webhook is not None, rare=True),
        load_old,
        *change,
        steps.drop_owners_repeated_by_admission,
        check_revision,
        keep_server_fields,
        admit.ALLOCATE,
        ValidationStage(validate_changed),
        admit.VALIDATE,
        note_result,
        *steps.STORED,
    )


READ: Final = Stages[Write](PARSE, steps.read_body, steps.fit_to_path, steps.drop_repeated_owners)
READ_FINALIZED: Final = Stages[Write](
    PARSE, steps.read_body, lambda write: steps.fit_name(write.call, write.obj["metadata"])
)
UPDATE: Final = change_stages(replace_object, admit.MUTATE)


def _completes_delete(builtin: bool, obj: Object) -> bool:
    """Return whether a deleted object has no finalizer any more. builtin: spec.finalizers count too."""
    metadata = obj["metadata"]
    if metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds"):
        return False
    return not (builtin and (obj.get("spec") or {}).get("finalizers"))
