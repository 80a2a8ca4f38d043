"""The steps of the write path, which the verbs call in the order that a real server takes them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from podless.auth.attributes import Attributes
from podless.auth.denied import Denied
from podless.kinds import judgement
from podless.kinds.kind import Kind
from podless.meta import clock, errors, objectmeta, uids
from podless.meta.errors import BadRequest, Conflict, Internal, Invalid
from podless.meta.field import FieldError, forbidden, invalid
from podless.verbs import options as options_
from podless.verbs.call import API, Call

Object = dict[str, Any]

_NOT_PLACED = "not allowed on this type"
_OWNER = 64  # bytes of an owner, about
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # letters of generated names: no vowels, nothing that looks like another
_PREFIX_MOST = 58  # bytes of generateName that are kept


def may_create(api: API, call: Call) -> None:
    """Who makes an object with a verb that also changes one needs the right to create. Raises Denied."""
    version = call.version.name
    asked = Attributes("create", call.kind.group, version, call.kind.plural, "", call.namespace, call.name)
    if not api.authorizer.allowed(call.user, asked):
        raise Denied(call.user, asked, api.authorizer.decide(call.user, asked).reason)


def fit_namespace(call: Call, metadata: Object) -> None:
    """The object is in the namespace of the path; a cluster-scoped one in none. Raises BadRequest, or Invalid."""
    if not call.kind.namespaced:
        if metadata.pop("namespace", None) and not call.kind.strategy.placed:
            name = metadata.get("name") or ""
            raise Invalid(call.kind.kind, call.kind.group, name, [forbidden("metadata.namespace", _NOT_PLACED)])
        return
    given = metadata.get("namespace") or ""
    if given and given != call.namespace:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    metadata["namespace"] = call.namespace


def fit_name(call: Call, metadata: Object) -> None:
    """The object has the name of the path. Raises BadRequest."""
    given = metadata.get("name") or ""
    if not given:
        raise BadRequest(f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided")
    if given != call.name:
        raise BadRequest(f"the name of the object ({given}) does not match the name on the URL ({call.name})")


def generate_name(metadata: Object) -> None:
    """Make a name from generateName where there is none."""
    prefix = metadata.get("generateName") or ""
    if not metadata.get("name") and prefix:
        metadata["name"] = prefix[:_PREFIX_MOST] + "".join(secrets.choice(_SUFFIX) for _ in range(5))


def wipe(metadata: Object) -> None:
    """Take away what the server alone says about a new object."""
    for name in ("uid", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"):
        metadata.pop(name, None)


def identify(kind: Kind, metadata: Object) -> None:
    """Set what the server alone says about a new object."""
    metadata["uid"] = uids.make()
    metadata["creationTimestamp"] = clock.now()
    if kind.strategy.generation:
        metadata["generation"] = 1


def check_new_revision(metadata: Object) -> None:
    """A new object names no resourceVersion but 0. Raises Internal, as a real server does."""
    given = metadata.pop("resourceVersion", "") or ""
    try:
        revision = options_.parse_revision(given) if given else 0
    except ValueError:
        return
    if revision:
        raise Internal("resourceVersion should not be set on objects to be created")


def keep(metadata: Object, old: Object) -> None:
    """Restore what an update may leave out or may not change."""
    metadata["resourceVersion"] = old["resourceVersion"]
    metadata["creationTimestamp"] = old.get("creationTimestamp")  # null where others than servers wrote it to etcd
    if "uid" in old and not metadata.get("uid"):
        metadata["uid"] = old["uid"]
    if "deletionTimestamp" in old:  # whatever a client says of it, while it may say other seconds, and is refused
        metadata["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old and metadata.get("deletionGracePeriodSeconds") is None:
        metadata["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]
    if "generation" in old:
        metadata["generation"] = old["generation"]
    else:
        metadata.pop("generation", None)


def read_revision(metadata: Object) -> int:
    """The resourceVersion that a client names, 0 for none. Raises Internal for one that is no number."""
    given = metadata.get("resourceVersion") or ""
    try:
        return options_.parse_revision(given) if given else 0
    except ValueError as error:
        raise Internal(str(error)) from None


def check_revision(call: Call, metadata: Object, revision: int) -> None:
    """The client's resourceVersion is the object's. Raises Invalid, Conflict or Internal."""
    wanted = read_revision(metadata)
    kind = call.kind
    if not wanted:
        if kind.strategy.unconditional:
            return
        missing = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise Invalid(kind.plural, kind.group, call.name, [missing])
    if wanted != revision:
        raise Conflict(kind.plural, kind.group, call.name, errors.MODIFIED)


_GROUPED = ("apiextensions.k8s.io", "apiregistration.k8s.io")  # built-in groups that are part of keys
_PLACES = {"services": "services/specs"}


def check_uid(call: Call, metadata: Object, uid: str, *, dry_run: bool = False) -> None:
    """A uid in the body of an update is a precondition; uid: of the object, "" where there is none. Raises Conflict."""
    given, kind = metadata.get("uid") or "", call.kind
    if given and given != uid:
        place = f"{kind.group}/{kind.plural}" if kind.custom or kind.group in _GROUPED else kind.plural
        key = "" if dry_run else "/registry"
        key += f"/{_PLACES.get(place, place)}/{f'{call.namespace}/' if kind.namespaced else ''}{call.name}"
        why = f"Precondition failed: UID in precondition: {given}, UID in object meta: {uid}"
        why = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
        raise Conflict(kind.plural, kind.group, call.name, why)


def refuse(kind: Kind, obj: Object, found: Sequence[FieldError]) -> None:
    """Raises Invalid where there are errors, in the name of the kind and group that the object says it is of."""
    if found:
        group = obj["apiVersion"].rpartition("/")[0] if kind.custom else kind.named
        raise Invalid(obj.get("kind") or kind.kind, group, obj["metadata"].get("name") or "", found)


def check_type(call: Call, obj: Object, old: Object | None = None) -> None:
    """A custom object is of the kind and version of the path. Raises Invalid."""
    refuse(call.kind, obj, judgement.of_type(call.kind, call.version, obj, old))


def check_create(call: Call, obj: Object) -> None:
    """The new object obeys all rules. Raises Invalid."""
    check_type(call, obj)
    refuse(call.kind, obj, [*call.refused, *judgement.of_new(call.kind, call.version, obj, call.floats)])


def check_update(call: Call, obj: Object, old: Object) -> None:
    """The changed object obeys all rules. Raises Invalid."""
    check_type(call, obj, old)
    below = call.subresource
    found = judgement.of_change(call.kind, call.version, obj, old, call.warnings, call.floats, subresource=below)
    refuse(call.kind, obj, [*call.refused, *found])


async def dedupe_owners(api: API, call: Call, metadata: Object, *, after_admission: bool = False) -> None:
    """Drop owners that are there twice, and tell the client."""
    owners = metadata.get("ownerReferences")
    if owners:
        size = len(owners) * _OWNER
        call.warnings += await api.aside.run(size, objectmeta.dedupe_owners, metadata, after_admission)


def warn(call: Call, obj: Object, old: Object | None = None) -> None:
    """Tell the client what is odd about a write that obeys all rules."""
    metadata = obj["metadata"]
    before = old["metadata"] if old is not None else None
    call.warnings += call.kind.strategy.warnings(call.version, obj, old)
    if call.kind.custom and metadata.get("finalizers"):
        call.warnings += objectmeta.finalizer_warnings(metadata, before)
