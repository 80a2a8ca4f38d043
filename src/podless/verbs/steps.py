"""Stages that several verbs share; verbs/runner.py runs them in the order of each verb."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final, NoReturn

from podless.auth.authorizer import AccessDenied, Attributes
from podless.codec import gotext
from podless.fields.compare import find_replaced
from podless.kinds import bodies
from podless.kinds.kind import Kind
from podless.meta import objectmeta
from podless.meta.errors import BadRequest, Conflict, Forbidden, Internal, Invalid
from podless.meta.field import FieldError, forbidden
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.verbs import options as options_
from podless.verbs import storage
from podless.verbs.call import API, Call
from podless.verbs.runner import AwaitedStage, Write, is_short

_SERVER_FIELDS = frozenset({"uid", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"})
_NOT_NAMESPACED = "not allowed on this type"
_GROUPED = ("apiextensions.k8s.io", "apiregistration.k8s.io")  # built-in groups whose keys in etcd contain the group
_ETCD_PATHS = {"services": "services/specs"}


def decode_body(call: Call, options: options_.WriteOptions) -> Object:
    """Return the object in the body with defaults, as `bodies.read_body` does. Raises BadRequest."""
    call.validation = options.validation
    return bodies.read_body(call)


def may_create(api: API, call: Call) -> None:
    """Check the right to create, for an update or apply that creates. Raises AccessDenied (formerly Forbidden)."""
    version = call.version.name
    attributes = Attributes("create", call.kind.group, version, call.kind.plural, "", call.namespace, call.name)
    if not api.authorizer.is_allowed(call.user, attributes):
        reason = api.authorizer.decide(call.user, attributes).reason
        if not has("ReasonsOfCreatingApplies"):
            raise Forbidden(call.kind.plural, call.kind.group, call.name, reason)
        denied = AccessDenied(call.user, attributes, reason)
        denied.headers = ()  # which only denials of the request itself have
        raise denied


def fit_namespace(call: Call, metadata: Object) -> None:
    """Check the namespace against the path; cluster-scoped objects have none. Raises BadRequest or Invalid."""
    if not call.kind.namespaced:
        if metadata.pop("namespace", None) and not call.kind.strategy.metadata.drops_namespace:
            name = metadata.get("name") or ""
            raise Invalid(call.kind.kind, call.kind.group, name, [forbidden("metadata.namespace", _NOT_NAMESPACED)])
        return
    namespace = metadata.setdefault("namespace", call.namespace)
    if namespace != call.namespace:
        if namespace:
            raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
        metadata["namespace"] = call.namespace


def fit_name(call: Call, metadata: Object) -> None:
    """Check that the object has the name of the path. Raises BadRequest."""
    name = metadata.get("name") or ""
    if not name:
        raise BadRequest(f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided")
    if name != call.name:
        raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({call.name})")


def strip_server_fields(metadata: Object) -> None:
    """Remove the fields that only the server sets on a new object."""
    if not _SERVER_FIELDS.isdisjoint(metadata):
        for name in _SERVER_FIELDS.intersection(metadata):
            del metadata[name]
    if not has("OmittedTimestamps"):
        metadata["creationTimestamp"] = None


def set_server_fields(kind: Kind, metadata: Object) -> None:
    """Set the fields that only the server sets on a new object."""
    metadata["uid"] = objectmeta.make_uid()
    metadata["creationTimestamp"] = clock.now()
    if kind.strategy.has_generation:
        metadata["generation"] = 1


def read_revision(metadata: Object) -> int:
    """Return the client's resourceVersion, 0 for none. Raises Internal for an invalid one."""
    resource_version = metadata.get("resourceVersion") or ""
    try:
        return gotext.parse_uint(resource_version) if resource_version else 0
    except ValueError as error:
        raise Internal(str(error)) from None


def check_uid(call: Call, metadata: Object, uid: str, *, dry_run: bool = False) -> None:
    """Check the uid in the body of an update, a precondition. uid: of the object, "" if missing. Raises Conflict."""
    expected, kind = metadata.get("uid") or "", call.kind
    if expected and expected != uid:
        resource = f"{kind.group}/{kind.plural}" if kind.custom or kind.group in _GROUPED else kind.plural
        key = "" if dry_run else "/registry"
        key += f"/{_ETCD_PATHS.get(resource, resource)}/{f'{call.namespace}/' if kind.namespaced else ''}{call.name}"
        reason = f"Precondition failed: UID in precondition: {expected}, UID in object meta: {uid}"
        reason = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {reason}"
        raise Conflict(kind.plural, kind.group, call.name, reason)


def raise_invalid(kind: Kind, obj: Object, errors: Sequence[FieldError]) -> NoReturn:
    """Raise Invalid with the kind, group and name of the object."""
    group = obj["apiVersion"].rpartition("/")[0] if kind.custom else kind.stored_group
    raise Invalid(obj.get("kind") or kind.kind, group, obj["metadata"].get("name") or "", errors)


def read_body(write: Write) -> None:
    """Decode the object in the body. Raises BadRequest."""
    write.base = write.obj = decode_body(write.call, write.options)


def drop_repeated_owners(write: Write, *, by_admission: bool = False) -> None:
    """Drop repeated owner references, and warn the client. by_admission: admission added them."""
    if write.obj["metadata"].get("ownerReferences"):
        write.call.warnings += objectmeta.dedupe_owners(write.obj["metadata"], by_admission)


def drop_owners_repeated_by_admission(write: Write) -> None:
    """Drop owner references that admission repeated."""
    drop_repeated_owners(write, by_admission=True)


def fit_to_path(write: Write) -> None:
    """Check namespace and name of the object against the path. Raises BadRequest or Invalid."""
    fit_namespace(write.call, write.obj["metadata"])
    fit_name(write.call, write.obj["metadata"])


def prune_late(write: Write) -> None:
    """Drop the unknown fields of an object that was validated with them."""
    if not write.call.schema_valid:
        write.call.kind.strategy.drop_unknown_fields(write.call.version, write.obj)


def _needs_stored(write: Write) -> bool:
    return write.call.kind.webhook is not None and not write.options.dry_run and not write.removed


async def _convert_to_storage(api: API, write: Write) -> None:
    write.obj = await api.converter.make_stored(write.call.kind, write.obj)


def _encode_stored(write: Write) -> None:
    """Encode the stored form, unless it is the present one or `encode_early` has. Raises ValueTooLarge."""
    if write.options.dry_run or write.removed:
        return
    if write.shared and _is_unchanged(write):
        write.stored = None
        return
    if write.encoded is not None:
        write.obj, write.stored = write.encoded
        return
    kind = write.call.kind
    if kind.webhook is None:
        write.obj = kind.strategy.make_stored(kind, write.obj)
    write.stored = storage.encode_stored(kind, write.obj)


def _is_unchanged(write: Write) -> bool:
    """Return whether the object has the very values of the old one, except for its revision."""
    obj, old = write.obj, write.old
    if old is None or find_replaced(obj, old) != ["metadata"]:
        return False
    return find_replaced(obj["metadata"], old["metadata"]) == ["resourceVersion"]


def encode_early(write: Write) -> None:
    """Encode the stored form while validating admission waits for an answer.

    The write needs that anyway, because no later stage changes the object. The object stays as it is, because other
    plugins see it, too. Conversions, long objects and errors are left to the stages.
    """
    call, kind = write.call, write.call.kind
    if (
        write.encoded is None
        and not write.prune_late
        and not write.options.dry_run
        and call.version.name == kind.storage_version
        and is_short(write)
    ):
        with contextlib.suppress(Exception):  # the stage raises it again, after the verdict
            obj = kind.strategy.make_stored(kind, {**write.obj})
            write.encoded = obj, storage.encode_stored(kind, obj)


# the stages from the object in the version of the request to its stored form, unless nothing is stored
STORED: Final = (AwaitedStage[Write](_convert_to_storage, _needs_stored, rare=True), _encode_stored)
