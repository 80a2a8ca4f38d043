"""create: stores a new object."""

from __future__ import annotations

from typing import Final

from podless.admission.attributes import AllocationConflict
from podless.cache.entry import Entry
from podless.kinds import view
from podless.meta.errors import AlreadyExists, Forbidden, MethodNotAllowed
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.store import Conflicted, Record
from podless.structs.gated import drop_gated
from podless.verbs import admit, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.runner import PARSE, Checks, Stages, Write

_NAMES_TRIED = 8  # attempts with a generated name; maxNameGenerationCreateAttempts of k8s.io/apiserver


async def create_object(api: API, call: Call) -> Single:
    """Create the object in the body. Raises BadRequest, NotFound, Forbidden, Invalid or AlreadyExists."""
    write = Write(call, options.read_write_options(call, "CreateOptions"))
    await READ.run(api, write)
    return await insert_object(api, write)


async def make_object(api: API, write: Write) -> Single:
    """Create an object that another verb has decoded. Raises as `create_object` does."""
    await ADMIT.run(api, write)
    return await insert_object(api, write)


async def insert_object(api: API, write: Write) -> Single:
    """Store a new object after admission. Raises as `create_object` does."""
    call, kind = write.call, write.call.kind
    metadata, told = write.obj["metadata"], len(call.warnings)
    attempts = _NAMES_TRIED if metadata.get("generateName") and not metadata.get("name") else 1
    if attempts > 1 or admit.allocates_resources(api, write):
        await KEPT.run(api, write)
    while True:
        try:
            return await _insert(api, write)
        except AllocationConflict:
            pass
        except Conflicted as conflict:
            attempts -= 1
            if not attempts:
                existing = api.find_written(kind, conflict.current) if conflict.current is not None else None
                raise _name_in_use(call, write.obj["metadata"], existing) from None
        await AGAIN.run(api, write)
        del call.warnings[told:]


async def _insert(api: API, write: Write) -> Single:
    """Run the stages after admission and store the object. Raises Conflicted if the name is in use."""
    kind = write.call.kind
    dry_run = write.options.dry_run
    await (PREPARE if dry_run else STORE).run(api, write)
    key = kind.key(write.obj["metadata"].get("namespace", ""), write.obj["metadata"]["name"])
    if not dry_run:
        assert write.stored is not None
        return Single(await storage.put_object(api, kind, key, write.stored, write.along, write.obj), None, 201)
    shown = await api.converter.round_trip(kind, write.call.version, write.obj)
    if (existing := (await api.load_collection(kind)).get(key)) is not None:
        raise Conflicted(key, Record(key, existing.stored, existing.revision, existing.created))
    return Single(None, shown, 201)


def strip_server_fields(write: Write) -> None:
    """Remove the fields that only the server sets on a new object."""
    steps.strip_server_fields(write.obj["metadata"])


def fit_namespace(write: Write) -> None:
    """Check that the object is in the namespace of the path. Raises BadRequest or Invalid."""
    steps.fit_namespace(write.call, write.obj["metadata"])


def refuse_while_terminating(write: Write) -> None:
    """Raise Forbidden (MethodNotAllowed in older releases) while the definition of the kind is being deleted."""
    if (kind := write.call.kind).terminating:
        why = "create not allowed while custom resource definition is terminating"
        if not has("ForbiddenWhileTerminating"):
            raise MethodNotAllowed(why, {"group": kind.group, "kind": kind.plural})
        raise Forbidden(kind.plural, kind.group, write.obj["metadata"].get("name") or "", why)


def own_fields(write: Write) -> None:
    """Set managedFields: the client owns the fields that it sent."""
    fieldmanager.fields_of_created(write.call, write.obj, write.options.manager)


def keep_copy(write: Write) -> None:
    """Keep the object as admission left it, in case a name or an allocation must be chosen again."""
    write.given = view.copy_object(write.obj)


def begin_again(write: Write) -> None:
    """Restore the object as admission left it, for the next attempt."""
    write.obj, write.encoded = view.copy_object(write.given), None


def identify_object(write: Write) -> None:
    """Set a generated name and the fields that only the server sets."""
    steps.generate_name(write.obj["metadata"])
    steps.identify_object(write.call.kind, write.obj["metadata"])


def reset_fields(write: Write) -> None:
    """Reset fields that a client may not set on a new object."""
    call = write.call
    call.warnings += call.kind.strategy.early_warnings(write.obj)
    strategy = call.kind.strategy.for_subresource(call.subresource) if call.subresource else call.kind.strategy
    drop_gated(call.kind.struct_of(call.version), write.obj)
    strategy.prepare_create(call.version, write.obj)


# the stages of a create: READ, then STORE; other verbs share the tuples between them
ADMITTED: Final = (
    fit_namespace,
    refuse_while_terminating,
    own_fields,
    admit.MUTATE,
    steps.drop_owners_repeated_by_admission,
    fit_namespace,
)
READ: Final = Stages[Write](PARSE, steps.read_body, strip_server_fields, steps.drop_repeated_owners, *ADMITTED)
ADMIT: Final = Stages[Write](*ADMITTED)
KEPT: Final = Stages[Write](keep_copy)
AGAIN: Final = Stages[Write](begin_again)
PREPARED: Final = (
    identify_object,
    reset_fields,
    admit.ALLOCATE,
    Checks[Write](steps.validate_new),
    admit.VALIDATE,
)
PREPARE: Final = Stages[Write](*PREPARED)
INSERTED: Final = (steps.check_new_revision, *steps.STORED)
STORE: Final = Stages[Write](*PREPARED, *INSERTED)


def _name_in_use(call: Call, metadata: Object, existing: Entry | None) -> AlreadyExists:
    """Return the error that the name is in use; its text differs if the other object is being deleted."""
    generated = bool(metadata.get("generateName"))
    refusal = AlreadyExists(call.kind.plural, call.kind.group, metadata["name"], generated=generated)
    if existing is not None and existing.terminating:
        refusal.message = f"object is being deleted: {refusal.message}"
    return refusal
