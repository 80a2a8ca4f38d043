"""apply: server-side apply, which merges the applied object into the stored one by field managers.

Source: k8s.io/apiserver pkg/endpoints/handlers (patch), and the recorded answers.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from podless.cache.entry import Entry
from podless.codec import serializer
from podless.fields import managers
from podless.fields.compare import equal_values
from podless.kinds import view
from podless.kinds.custom import CustomStrategy
from podless.meta import objectmeta
from podless.meta.errors import BadRequest, Conflict, Internal
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import gotypes, restore, structs
from podless.verbs import admit, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.create import INSERTED, fit_namespace, refuse_while_terminating
from podless.verbs.runner import PARSE, Stages, Write
from podless.verbs.storage import AttemptOutcome, NewState
from podless.verbs.update import attempt_update, change_stages, load_object

_TIMES = ("creationTimestamp", "deletionTimestamp")  # the server sets these

_CREATED = 201


class ApplyWrite(Write):
    """A server-side apply.

    api_version, kind: required in the body, "" for those of the call. force: take fields of other managers. body: the
    applied object. repeated: its repeated fields. nulls: whether it has nulls. Raises Invalid for invalid options.
    """

    body: Object
    repeated: list[str]
    nulls = False

    def __init__(self, call: Call, api_version: str = "", kind: str = "") -> None:
        super().__init__(call, options.read_write_options(call, "PatchOptions", apply=True))
        self.type = api_version or call.api_version, kind or call.kind.kind
        self.force = bool(options.read_boolean(call, "force"))


async def apply_object(api: API, call: Call) -> Single:
    """Create the object or apply to it. An apply to a status needs an existing object, except for kinds that allow it.

    Raises BadRequest, NotFound, ApplyConflict, Conflict, Invalid, Forbidden, or Internal (as a real server does if the
    applied object does not fit the schema).
    """
    write = ApplyWrite(call)
    write.warned = len(call.warnings)
    written = await storage.update_stored(api, call.kind, call.key, partial(_attempt_apply, api, write))
    answer = write.answer
    if answer is None or (answer.code == _CREATED and written.entry is not None):
        return Single(written.entry, None, answer.code if answer is not None else 200)
    return answer


async def _attempt_apply(api: API, write: ApplyWrite, entry: Entry | None) -> NewState | AttemptOutcome:
    call = write.call
    if entry is not None or not _creates_missing(call):
        return await attempt_update(api, write, APPLY, entry)
    write.entry, write.old, write.along, write.encoded = None, None, None, None
    del call.warnings[write.warned :]
    await READ.run(api, write)
    steps.may_create(api, call)
    await CREATE.run(api, write)
    if write.options.dry_run:
        converted = await api.converter.round_trip(call.kind, call.version, write.obj)
        write.answer = Single(None, converted, _CREATED)
        return AttemptOutcome.KEEP
    write.answer = Single(None, write.obj, _CREATED)
    return NewState(write.obj, write.along, write.stored)


def _creates_missing(call: Call) -> bool:
    below = call.subresource
    return not below or (below == "status" and call.kind.strategy.allow_create_on_status("apply"))


def read_applied(write: ApplyWrite) -> None:
    """Decode the applied object, for each attempt again: parts of it become parts of the new one. Raises BadRequest."""
    raw, write.repeated = write.call.body, []
    value = None if isinstance(raw, serializer.ParsedYAML) else serializer.decode_yaml_as_json(raw)
    may_have_nulls = value is None or raw.find(b"null") >= 0  # YAML has other words for null
    write.body = value if value is not None else _decode_yaml(raw, write.repeated)
    write.nulls = may_have_nulls and serializer.has_nulls(write.body)


def merge_applied(write: ApplyWrite) -> None:
    """Merge the applied object into the present one. Raises BadRequest, ApplyConflict, Internal, Unconverted.

    The result shares unchanged parts with the old object if that has the right form already, as for a patch.
    """
    assert write.entry is not None
    assert write.old is not None
    write.shared = write.call.kind.custom and view.is_direct(write.call.kind, write.call.version, write.entry)
    live = write.old if write.shared else load_object(write)
    into = merge_into(write, live, owned=True)
    if not has("EmptiedFields"):
        write.nulls = serializer.has_nulls(into)
    _complete_merged(write, into, live)


def merge_new(write: ApplyWrite) -> None:
    """Make a new object from the applied one. Raises BadRequest, Internal, and Conflict if it has a uid."""
    into, kind = merge_into(write, None), write.call.kind
    if into["metadata"].get("uid"):
        text = f"uid mismatch: the provided object specified uid {into['metadata']['uid']}, and no existing object was"
        raise Conflict(kind.plural, kind.group, write.call.name, f"{text} found")
    _complete_merged(write, into, None)


def check_type(write: ApplyWrite) -> None:
    """Check that the applied object has the kind and version of the path. Raises BadRequest."""
    body = write.body
    if (body.get("apiVersion"), body.get("kind")) == write.type:
        return
    type_ = _read_type(body)
    if type_ != write.type:
        group, _, version = type_[0].rpartition("/")
        raise BadRequest(f"invalid object type: {group}/{version}, Kind={type_[1]}")


def merge_into(write: ApplyWrite, live: Object | None, *, owned: bool = False) -> Object:
    """Return the live object (None for none) with the applied one merged in, and its managedFields.

    The result shares nothing with the live and the applied object. owned: the result may share parts of both. Raises
    BadRequest, ApplyConflict, Internal or Unconverted.
    """
    check_type(write)
    call, chosen = write.call, write.options
    del call.warnings[write.warned :]
    settled = live is not None and fieldmanager.is_settled(call, live)
    target, now = fieldmanager.find_target(call), clock.now()
    obj = managers.apply_object(target, live, write.body, chosen.manager, write.force, now, settled=settled)
    if write.repeated and chosen.validation == "Strict":
        findings = serializer.format_strict_error(write.repeated)
        raise BadRequest(f"error strict decoding YAML: error converting YAML to JSON: {findings}")
    if chosen.validation != "Ignore":
        call.warnings += write.repeated
    if not owned:
        entries = obj["metadata"].pop("managedFields", [])
        obj = view.copy_object(obj)  # callers still need live and body unchanged
        managers.put_managed_fields(obj["metadata"], entries)
    return obj


def _complete_merged(write: ApplyWrite, merged: Object, live: Object | None) -> None:
    """Decode, default and fit the merged object to the path. live: the one before. Raises BadRequest and Internal."""
    call = write.call
    entries = merged["metadata"].pop("managedFields", [])
    write.obj = (
        _decode_builtin(write, merged)
        if call.kind.struct_of(call.version) is not None
        else _decode_custom(write, merged, live)
    )
    # parts that an apply does not change stay as they were converted, without defaults of the request's version
    is_unchanged = (
        live is not None
        and write.prune_late
        and not write.shared
        and equal_values(write.obj, managers.drop_managed_fields(live))
    )
    steps.fit_to_path(write)
    call.schema_valid = False
    if not is_unchanged:
        _fill_defaults(write)
    managers.put_managed_fields(write.obj["metadata"], entries)


def _decode_builtin(write: ApplyWrite, merged: Object) -> Object:
    """Decode a built-in object. Raises Internal."""
    call, struct = write.call, write.call.kind.struct_of(write.call.version)
    assert struct is not None
    # Go cannot read these, and typing reports them; an apply with readable ones was rejected
    if unread := (write.body.get("metadata") or {}).get("managedFields"):
        merged["metadata"]["managedFields"] = unread
    try:
        return call.kind.strategy.decode(call.kind, call.version, restore.restore_value(struct, merged), [], fill=False)
    except (restore.Misfit, structs.DecodeError) as error:
        reason = f"unable to convert unstructured object to {managers.describe_type(write.body)}: {error}"
        raise _make_unconverted_error(write, reason) from None


def _fill_defaults(write: ApplyWrite) -> None:
    """Fill in defaults. Unlike in other writes, nulls that the schema does not allow stay and are rejected."""
    call, strategy = write.call, write.call.kind.strategy
    if not isinstance(strategy, CustomStrategy):
        strategy.fill_defaults(call.kind, call.version, write.obj)
    elif write.nulls:
        strategy.get_schema(call.version).fill(write.obj)
    else:
        call.schema_valid = strategy.fill_and_check(call.version, write.obj)


def _decode_custom(write: ApplyWrite, merged: Object, live: Object | None) -> Object:
    """Decode a custom object, which is pruned after validation. Raises Internal."""
    write.prune_late = True
    metadata = merged.get("metadata") or {}
    if live is not None and equal_values(metadata, managers.drop_managed_fields(live)["metadata"]):
        return merged
    try:
        merged["metadata"] = _decode_metadata(metadata)
    except structs.DecodeError as error:
        raise _make_unconverted_error(write, str(error)) from None
    return merged


def _make_unconverted_error(write: ApplyWrite, reason: str) -> Internal:
    description = managers.describe_object(write.body)
    return Internal(f"failed to convert new object ({description}) to proper version: {reason}")


def _decode_metadata(metadata: Object) -> Object:
    """Decode the metadata of a custom object. An invalid time drops both, as in Go's unstructured objects."""
    try:
        return objectmeta.coerce_metadata(metadata, [])
    except structs.DecodeError:
        return objectmeta.coerce_metadata({name: value for name, value in metadata.items() if name not in _TIMES}, [])


def _decode_yaml(raw: bytes, repeated: list[str]) -> Object:
    """Decode an applied object in YAML. Raises BadRequest."""
    try:
        value = serializer.decode_yaml(raw, repeated)
    except serializer.YAMLError as error:
        is_yaml = has("YAMLDecodeErrors")
        reason = "error decoding YAML: error converting YAML to JSON" if is_yaml else "error encoding patch"
        raise BadRequest(f"{reason}: {error.message}") from None
    if value is not None and not isinstance(value, dict):
        reason = gotypes.explain_unmarshal(value)
        subject = "YAML" if has("YAMLDecodeErrors") else "patch"
        raise BadRequest(f"error decoding {subject}: error unmarshaling JSON: while decoding JSON: {reason}")
    return value or {}


def _read_type(obj: Object) -> tuple[str, str]:
    """Return apiVersion and kind; both "" if the apiVersion is invalid."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    version = version if isinstance(version, str) else ""
    if version.count("/") > 1:
        return "", ""
    return "" if version == "/" else version, kind if isinstance(kind, str) else ""


def check_revision(write: ApplyWrite) -> None:
    """Accept a numeric resourceVersion, without effect; a dry run's answer shows it. Raises Internal for others."""
    steps.read_revision(write.obj["metadata"])
    if not write.options.dry_run:
        write.obj["metadata"].pop("resourceVersion", None)


READ: Final = Stages[ApplyWrite](PARSE, read_applied)
APPLY: Final = change_stages(read_applied, merge_applied, admit.MUTATE, first=(PARSE,))
CREATE: Final = Stages[ApplyWrite](
    merge_new,
    refuse_while_terminating,
    admit.MUTATE,
    steps.drop_owners_repeated_by_admission,
    fit_namespace,
    check_revision,
    *INSERTED,
)
