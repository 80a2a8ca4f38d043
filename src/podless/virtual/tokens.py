"""A token for a service account: the subresource token. Source: the TokenRequest API, and the recorded answers."""

from __future__ import annotations

from typing import Any

from podless.auth.accounts import Bound
from podless.auth.authenticate import AUDIENCE
from podless.cache.entry import Entry
from podless.kinds.builtin import SECRETS, reviews
from podless.meta import clock, field
from podless.meta.errors import BadRequest, Conflict, Invalid, NotFound, NotServed
from podless.verbs.call import API, Call

Object = dict[str, Any]

_LEAST, _MOST = 600, 1 << 32  # seconds
_UNDER_LEAST = "may not specify a duration less than 10 minutes"
_OVER_MOST = "may not specify a duration larger than 2^32 seconds"
_NOT_HERE = {"Node": "nodes", "Pod": "pods"}  # what tokens can be bound to, and is not served here
_OTHER = "must match the service account name if specified"


async def request(api: API, call: Call, obj: Object) -> Object:
    """The request with the token in its status. Raises NotFound, Invalid, BadRequest or Conflict."""
    account = (await api.loaded(call.kind)).get(call.key)
    if account is None:
        raise call.not_found()
    _check(call, obj, account)
    spec, metadata = obj["spec"], obj["metadata"]
    bound = await _bound(api, call, spec.get("boundObjectRef"))
    audiences = spec.get("audiences") or [AUDIENCE]
    seconds = spec["expirationSeconds"]
    uid = account.decode()["metadata"].get("uid", "")
    now = int(clock.time())
    if (accounts := api.authenticator.accounts) is None:
        raise NotServed
    token = accounts.issue(account, uid, audiences, seconds, bound)
    shown = {"name": account.name, "namespace": account.namespace, "uid": metadata.get("uid") or uid}
    managed = {"managedFields": metadata["managedFields"]} if "managedFields" in metadata else {}
    return obj | {
        "metadata": shown | {"creationTimestamp": clock.text(now)} | managed,
        "spec": spec | {"audiences": audiences},
        "status": {"token": token, "expirationTimestamp": clock.text(now + seconds)},
    }


def _check(call: Call, obj: Object, account: Entry) -> None:
    """The name comes first, and only there the request is called by that of the account. Raises Invalid."""
    errors = []
    given = obj["metadata"].get("name", "")
    if given and given != account.name:
        other = field.invalid("metadata.name", given, _OTHER)
        raise Invalid("TokenRequest", reviews.AUTHENTICATION, account.name, [other])
    seconds = obj["spec"]["expirationSeconds"]
    if seconds < _LEAST:
        errors.append(field.invalid("spec.expirationSeconds", seconds, _UNDER_LEAST))
    if seconds > _MOST:
        errors.append(field.invalid("spec.expirationSeconds", seconds, _OVER_MOST))
    if errors:
        raise Invalid("TokenRequest", reviews.AUTHENTICATION, "", errors)


async def _bound(api: API, call: Call, ref: Object | None) -> Bound | None:
    """The secret that the token is to be bound to."""
    if ref is None:
        return None
    kind, version, name = ref.get("kind", ""), ref.get("apiVersion", ""), ref.get("name", "")
    if version == "v1" and kind in _NOT_HERE:
        raise NotFound(_NOT_HERE[kind], "", name)
    if (version, kind) != ("v1", "Secret"):
        group, _, number = version.rpartition("/")
        raise BadRequest(f"cannot bind token to object of type {group}/{number}, Kind={kind}")
    entry = (await api.loaded(SECRETS)).get(SECRETS.key(call.namespace, name))
    if entry is None:
        raise NotFound(SECRETS.plural, "", name)
    uid = entry.decode()["metadata"].get("uid", "")
    if ref.get("uid") and ref["uid"] != uid:
        why = (
            f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise Conflict(kind, "", name, why)
    return Bound(name, uid)
