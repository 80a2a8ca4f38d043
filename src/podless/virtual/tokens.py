"""The subresource token of service accounts.

Source: the TokenRequest API, kubernetes/pkg/registry/core/serviceaccount/storage/token.go, and the recorded answers.
"""

from __future__ import annotations

from podless.apis.authentication.group import GROUP
from podless.apis.shared import checks
from podless.auth.accounts import BoundObject
from podless.auth.authenticate import AUDIENCE
from podless.cache.entry import Entry
from podless.codec import gotext
from podless.meta import field
from podless.meta.errors import BadRequest, Conflict, Invalid, NotFound, NotServed
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import structs
from podless.structs.structfiles import load_struct
from podless.verbs.call import API, Call

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

_BINDABLE = {"Node": "nodes", "Pod": "pods", "Secret": "secrets"}
_OTHER_ACCOUNT = "must match the service account name if specified"


def complete_request(call: Call, obj: Object, account: Entry | None) -> None:
    """Validate a TokenRequest, and set what the client left out. Raises NotFound, Invalid or Conflict.

    account: None if it does not exist. Errors of the spec do not use its name.
    """
    metadata, spec = obj["metadata"], obj["spec"]
    if metadata.get("name") not in (None, "", call.name):
        wrong = field.invalid("metadata.name", metadata["name"], _OTHER_ACCOUNT)
        raise Invalid("TokenRequest", GROUP.name, call.name, [wrong])
    if account is None:
        raise call.not_found()
    expected_uid, uid = metadata.get("uid"), account.decode()["metadata"].get("uid", "")
    if expected_uid and expected_uid != uid and has("TokenRequestServiceAccountUIDValidation"):
        problem = f"the UID in the token request ({expected_uid}) does not match the UID of the service account ({uid})"
        raise Conflict("TokenRequest", GROUP.name, account.name, problem)
    if errors := [*checks.validate_token_lifetime("spec.expirationSeconds", spec["expirationSeconds"])]:
        raise Invalid("TokenRequest", GROUP.name, "", errors)
    ref = {"name": account.name, "namespace": account.namespace, "creationTimestamp": clock.now()}
    if has("TokenRequestUIDs"):
        ref["uid"] = expected_uid or uid
    obj["metadata"] = structs.arrange_fields(OBJECT_META, metadata | ref)
    obj["spec"] = spec | {"audiences": spec.get("audiences") or [AUDIENCE]}


async def request_token(api: API, call: Call, obj: Object) -> Object:
    """Return the TokenRequest with the token in its status. Raises NotFound, BadRequest or Conflict."""
    account = (await api.load_collection(call.kind)).get(call.key)
    if account is None:
        raise call.not_found()
    spec = obj["spec"]
    bound = await _find_bound(api, call, spec.get("boundObjectRef"))
    seconds = spec["expirationSeconds"]
    uid = account.decode()["metadata"].get("uid", "")
    expires = int(clock.time()) + seconds
    if (accounts := api.authenticator.accounts) is None:
        raise NotServed
    if not accounts.is_loaded:
        await api.off_loop.run_on_thread(accounts.load_libraries)
    token = accounts.issue_token(account, uid, spec["audiences"], seconds, bound)
    return obj | {"status": {"token": token, "expirationTimestamp": clock.format_time(expires)}}


async def _find_bound(api: API, call: Call, ref: Object | None) -> dict[str, BoundObject]:
    """Return the object that the token is bound to, in the form of claims."""
    if ref is None:
        return {}
    kind, version, name = ref.get("kind", ""), ref.get("apiVersion", ""), ref.get("name", "")
    if version != "v1" or kind not in _BINDABLE:
        group, _, number = version.rpartition("/")
        raise BadRequest(f"cannot bind token to object of type {group}/{number}, Kind={kind}")
    obj = await _read_object(api, _BINDABLE[kind], call.namespace, name)
    if obj is None:
        raise NotFound(_BINDABLE[kind], "", name)
    spec = obj.get("spec") or {}
    if kind == "Pod" and spec.get("serviceAccountName", "") != call.name:
        problem = "pod running with different serviceaccount name"
        raise BadRequest(f"cannot bind token for serviceaccount {gotext.quote(call.name)} to {problem}.")
    uid = obj["metadata"].get("uid", "")
    if ref.get("uid") and ref["uid"] != uid:
        detail = (
            f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise Conflict(kind, "", name, detail)
    bound = {kind.lower(): BoundObject(name, uid)}
    if kind == "Pod" and (on := spec.get("nodeName")):
        node = await _read_object(api, "nodes", "", on)
        bound["node"] = BoundObject(on, node["metadata"].get("uid", "") if node is not None else "")
    return bound


async def _read_object(api: API, plural: str, namespace: str, name: str) -> Object | None:
    """Return an object of the core group, None if it does not exist or is not served."""
    kind = api.registry.get("", plural)
    if kind is None:
        return None
    entry = (await api.load_collection(kind)).get(kind.key(namespace if kind.namespaced else "", name))
    return entry.decode() if entry is not None else None
