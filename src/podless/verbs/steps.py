"""Stages that several verbs share; verbs/runner.py runs them in the order of each verb."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from podless.auth.attributes import AccessDenied, Attributes
from podless.codec import gotext, sentfloats
from podless.codec.gotext import Literal
from podless.fields import managers
from podless.fields.compare import find_replaced
from podless.kinds import bodies, validation
from podless.kinds.kind import Kind
from podless.kinds.strategy import Strategy
from podless.meta import errors, objectmeta
from podless.meta.errors import BadRequest, Conflict, Forbidden, Internal, Invalid
from podless.meta.field import FieldError, forbidden, invalid
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.verbs import options as options_
from podless.verbs import storage
from podless.verbs.call import API, Call
from podless.verbs.runner import AwaitedStage, Write, is_short

_SERVER_FIELDS = frozenset({"uid", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"})
_NOT_NAMESPACED = "not allowed on this type"
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # rand.String of k8s.io/apimachinery: no vowels, no characters that look alike
_MAX_PREFIX = 58  # characters of generateName that are kept; MaxGeneratedNameLength of k8s.io/apiserver storage/names


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
    """Check that the object is in the namespace of the path, or in none if cluster-scoped.

    Raises BadRequest or Invalid.
    """
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


def generate_name(metadata: Object) -> None:
    """Set a name from generateName if there is none."""
    prefix = metadata.get("generateName") or ""
    if not metadata.get("name") and prefix:
        metadata["name"] = prefix[:_MAX_PREFIX] + "".join(secrets.choice(_SUFFIX) for _ in range(5))


def strip_server_fields(metadata: Object) -> None:
    """Remove the fields that only the server sets on a new object."""
    if not _SERVER_FIELDS.isdisjoint(metadata):
        for name in _SERVER_FIELDS.intersection(metadata):
            del metadata[name]
    if not has("OmittedTimestamps"):
        metadata["creationTimestamp"] = None


def identify_object(kind: Kind, metadata: Object) -> None:
    """Set the fields that only the server sets on a new object."""
    metadata["uid"] = objectmeta.make_uid()
    metadata["creationTimestamp"] = clock.now()
    if kind.strategy.has_generation:
        metadata["generation"] = 1


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


def keep_metadata(metadata: Object, old: Object) -> None:
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


def read_revision(metadata: Object) -> int:
    """Return the client's resourceVersion, 0 for none. Raises Internal for an invalid one."""
    resource_version = metadata.get("resourceVersion") or ""
    try:
        return gotext.parse_uint(resource_version) if resource_version else 0
    except ValueError as error:
        raise Internal(str(error)) from None


def check_revision(call: Call, metadata: Object, revision: int) -> None:
    """Check that the client's resourceVersion is the object's. Raises Invalid, Conflict or Internal."""
    requested = read_revision(metadata)
    kind = call.kind
    if not requested:
        if kind.strategy.allow_unconditional_update:
            return
        missing = invalid(
            "metadata.resourceVersion", 0 if has("ValuesAsJSON") else Literal("0x0"), "must be specified for an update"
        )
        raise Invalid(kind.plural, kind.group, call.name, [missing])
    if requested != revision:
        raise Conflict(kind.plural, kind.group, call.name, errors.MODIFIED)


_GROUPED = ("apiextensions.k8s.io", "apiregistration.k8s.io")  # built-in groups whose keys in etcd contain the group
_ETCD_PATHS = {"services": "services/specs"}


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


def validate_new(write: Write) -> None:
    """Validate the new object, prune it if nothing else needs its unknown fields, and add warnings. Raises Invalid."""
    call, obj = write.call, write.obj
    kind, version = call.kind, call.version
    if kind.custom and not call.schema_valid and (errors := validation.validate_type(kind, version, obj)):
        raise_invalid(kind, obj, errors)
    errors = validation.validate_new(kind, version, obj, call.floats, schema_valid=call.schema_valid)
    if errors or write.refused:
        raise_invalid(kind, obj, [*write.refused, *errors])
    if write.prune_late and not write.validating:
        prune_late(write)
    call.warnings += kind.strategy.list_warnings(version, obj, None)


def prune_late(write: Write) -> None:
    """Drop the unknown fields of an object that was validated with them."""
    if not write.call.schema_valid:
        write.call.kind.strategy.drop_unknown_fields(write.call.version, write.obj)


def validate_changed(write: Write) -> None:
    """Update the generation, set managedFields and validate. Raises Invalid."""
    call, obj, old = write.call, write.obj, write.old
    assert old is not None
    kind, version, subresource = call.kind, call.version, call.subresource
    strategy, metadata = kind.strategy.for_subresource(subresource) if subresource else kind.strategy, obj["metadata"]
    if strategy.has_generation and subresource != "status" and _is_changed(call, strategy, obj, old):
        metadata["generation"] = metadata.get("generation", 0) + 1
    else:
        managers.settle_times(obj, old)
    if kind.custom and not call.schema_valid and (errors := validation.validate_type(kind, version, obj, old)):
        raise_invalid(kind, obj, errors)
    errors = validation.validate_change(
        kind, version, obj, old, call.warnings, call.floats, subresource=subresource, schema_valid=call.schema_valid
    )
    if errors or write.refused:
        raise_invalid(kind, obj, [*write.refused, *errors])
    if write.prune_late and not write.validating:
        prune_late(write)
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


def needs_webhook(write: Write) -> bool:
    """Return whether only a webhook can convert objects of the kind."""
    return write.call.kind.webhook is not None


def _needs_stored(write: Write) -> bool:
    """Return whether a webhook makes the stored form."""
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
