"""Subresources of custom resources that hooks of podless.hooks answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.admission.calls import CallFailed
from podless.admission.refusals import HookStatusError, internal_error
from podless.cache.entry import Entry
from podless.codec import gotext, serializer
from podless.codec.jsontext import JSONError
from podless.kinds import view
from podless.meta.errors import BadRequest
from podless.remote import DEADLINE
from podless.runtime.jsonobject import Object
from podless.verbs import options
from podless.verbs.call import API, AnswerDocument, Call

if TYPE_CHECKING:
    from podless.hooks.pool import HookParts

_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions"}


def is_hooked(call: Call) -> bool:
    """Return whether a hook answers the subresource of a call."""
    subresource = call.kind.find_subresource(call.subresource)
    return subresource is not None and bool(subresource.hooks)


async def answer_subresource(api: API, call: Call) -> AnswerDocument:
    """Answer a call to a subresource by asking its hook, which gets the stored object and the body.

    Raises NotFound, BadRequest for a body that is no object or a dry run that the hook does not accept, HookStatusError
    if the hook denies the request, and 500 if it fails.
    """
    from podless.admission.localhooks import explain_failure, limit_seconds  # imported already if there are hooks
    from podless.hooks import SUBRESOURCE
    from podless.hooks.peer import HookFailed

    subresource, hooks = call.kind.find_subresource(call.subresource), api.converter.hooks
    assert subresource is not None
    assert subresource.hooks is not None
    hook = subresource.hooks[call.verb]
    name = gotext.quote(hook["name"])
    dry_run = call.verb in _OPTIONS and options.read_write_options(call, _OPTIONS[call.verb]).dry_run
    if dry_run and hook["sideEffects"] == "Some":
        raise BadRequest(f"hook {name} does not support dry run")
    body = await api.off_loop.run(len(call.body), _read_body, call)
    entry = (await api.load_collection(call.kind)).get(call.key)
    if entry is None:
        raise call.not_found()
    await api.converter.prepare_entries(call.kind, call.version, [entry])
    request = await api.off_loop.run(len(entry.body) + len(call.body), _call_hook, call, entry, body, dry_run)
    until = DEADLINE.get()
    seconds = limit_seconds(float(hook["timeoutSeconds"]), until)
    try:
        answer = await hooks.call_hook(SUBRESOURCE, hook["name"], request, seconds) if hooks is not None else None
    except HookFailed as failed:
        reason = explain_failure(failed, until, call.user)
        if not isinstance(reason, CallFailed):
            raise reason from None
        raise internal_error(f"failed calling hook {name}: {reason}") from None
    if answer is None:
        raise internal_error(f"failed calling hook {name}: it is gone")
    result: Object = await api.converter.client.read(answer, serializer.decode_json)
    call.warnings += dict.fromkeys(result.get("warnings") or ())
    for key, value in (result.get("annotations") or {}).items():
        call.annotations[f"{hook['name']}/{key}"] = value
    if not result["allowed"]:
        raise _make_error(result["status"])
    head = {"kind": subresource.noun or call.kind.kind, "apiVersion": call.api_version}
    return AnswerDocument(head | result["object"], 201 if call.verb == "create" else 200)


def _read_body(call: Call) -> Object | None:
    if not call.body:
        return None
    yaml = call.content_type == "application/yaml"
    try:
        body = serializer.decode_yaml(call.body) if yaml else serializer.decode_json(call.body)
    except JSONError as error:
        raise BadRequest(f"the body cannot be read: {error.message}") from None
    if not isinstance(body, dict):
        raise BadRequest("the body must be an object")
    return body


def _call_hook(call: Call, entry: Entry, body: Object | None, dry_run: bool) -> HookParts:
    request = {
        "operation": call.verb.upper(),
        "resource": {"group": call.kind.group, "version": call.version.name, "resource": call.kind.plural},
        "subResource": call.subresource,
        "name": call.name,
        "namespace": call.namespace,
        "userInfo": call.user.info,
        "dryRun": dry_run,
        "query": {key: list(values) for key, values in call.query.items()},
    }
    encoded = serializer.encode_json(body) if body is not None else b""
    return serializer.encode_json(request), view.encode_body(call.kind, call.version, entry), encoded


def _make_error(status: Object) -> HookStatusError:
    """Return the error that a hook raised, with a code of a failure."""
    code = status.get("code")
    code = code if isinstance(code, int) and 400 <= code < 1000 else 500
    return HookStatusError({**status, "code": code}, str(status.get("message") or status.get("reason") or ""))
