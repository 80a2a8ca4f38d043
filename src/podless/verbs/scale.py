"""The scale subresource: autoscaling/v1 Scale over fields of the object that its kind names.

Source: "Scale subresource" of the CustomResourceDefinition documents, and the recorded answers.
"""

from __future__ import annotations

from typing import Any

from podless.fields import jsonpatch, managers, mergepatch
from podless.kinds import view
from podless.kinds.kind import Scale
from podless.kinds.types import SCALE
from podless.meta import codec, gotext, structs
from podless.meta.errors import BadRequest, Internal, Invalid
from podless.meta.field import invalid
from podless.verbs import admit, fieldmanager, options, steps
from podless.verbs.apply import apply_scale
from podless.verbs.call import API, Call, Document, Single
from podless.verbs.patch import APPLY_PATCH, MERGE_PATCH, media_type
from podless.verbs.update import rewrite

Object = dict[str, Any]

_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def read(obj: Object, paths: Scale, *, required: bool = True) -> Object:
    """The Scale that an object shows. Raises Internal where the object has no replicas and they are required."""
    replicas = _get(obj, paths.spec_replicas_path)
    if replicas is None and required:
        text = f'the spec replicas field "{paths.spec_replicas_path}" does not exist'
        raise _internal(text)
    metadata = obj["metadata"]
    status: Object = {"replicas": _get(obj, paths.status_replicas_path) or 0}
    if paths.label_selector_path and (selector := _get(obj, paths.label_selector_path)):
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SHOWN if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _internal(text: str) -> Internal:
    refusal = Internal(f"Internal error occurred: {text}", {"causes": [{"message": text}]})
    refusal.reason = "InternalError"
    return refusal


def _steps(path: str) -> list[str]:
    """The field names of a path with dots, as .spec.replicas."""
    return [part for part in path.split(".") if part]


def _get(obj: Object, path: str) -> Any:
    value: Any = obj
    for name in _steps(path):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _put(obj: Object, path: str, value: int) -> None:
    *parents, last = _steps(path)
    for name in parents:
        inner = obj.get(name)
        if not isinstance(inner, dict):
            inner = obj[name] = {}
        obj = inner
    obj[last] = value


async def scale(api: API, call: Call, verb: str) -> Document:
    """get, update or patch of the Scale of an object."""
    paths = call.version.scale
    if paths is None:
        raise call.not_found()
    collection = await api.loaded(call.kind)
    if verb == "get":
        entry = collection.get(call.key)
        if entry is None:
            raise call.not_found()
        await api.converter.ready(call.kind, call.version, [entry])
        return Document(read(view.load(call.kind, call.version, entry), paths))

    def shown(obj: Object) -> Object:
        return read(obj, paths, required=False)

    if verb == "patch" and media_type(call) == APPLY_PATCH:
        return await apply_scale(api, call, shown)
    chosen = options.write(call, "UpdateOptions" if verb == "update" else "PatchOptions")
    make = _replacement(call, chosen.validation) if verb == "update" else _patched(call, chosen.validation)
    if collection.get(call.key) is None:
        raise call.not_found()

    async def change(old: Object) -> Object:
        before = shown(old)
        given = make(view.copy(before))
        metadata = given.get("metadata") or {}
        steps.fit_name(call, metadata)
        steps.fit_namespace(call, metadata)
        steps.check_uid(call, metadata, old["metadata"])
        given = await admit.mutate(api, call, chosen, given, before)
        replicas = (given.get("spec") or {}).get("replicas") or 0
        if replicas < 0:
            error = invalid(paths.spec_replicas_path, replicas, "should be a non-negative integer")
            raise Invalid(call.kind.kind, call.kind.named, call.name, [error])
        obj = view.copy(old)
        _put(obj, paths.spec_replicas_path, replicas)
        call.kind.strategy.default(call.version, obj)
        managers.put(obj["metadata"], fieldmanager.scaled(call, old, before, given, chosen.manager))
        if wanted := (given.get("metadata") or {}).get("resourceVersion"):
            obj["metadata"]["resourceVersion"] = wanted
        return obj

    written = await rewrite(api, call, chosen, change, shown)
    return Document(read(await _object(api, call, written), paths, required=False))


async def _object(api: API, call: Call, written: Single) -> Object:
    if written.entry is not None:
        await api.converter.ready(call.kind, call.version, [written.entry])
        return view.load(call.kind, call.version, written.entry)
    return written.obj or {}


def _decode(call: Call, raw: Any, validation: str) -> Object:
    if not isinstance(raw, dict):
        raise BadRequest("the object provided is not an autoscaling/v1 Scale")
    given_type = (raw.get("apiVersion") or "autoscaling/v1", raw.get("kind") or "Scale")  # both may be left out
    if given_type != ("autoscaling/v1", "Scale"):
        raise BadRequest("the object provided is not an autoscaling/v1 Scale")
    unknown: list[str] = []
    try:
        given = structs.decode(SCALE, raw, unknown)
    except structs.DecodeError as error:
        raise BadRequest(f'Scale in version "v1" cannot be handled as a Scale: {error}') from None
    if validation != "Ignore":
        call.warnings += [f"unknown field {gotext.quote(path)}" for path in sorted(set(unknown))]
    return given


def _replacement(call: Call, validation: str) -> Any:
    given = _decode(call, options.document(call, SCALE), validation)
    return lambda shown: given


def _patched(call: Call, validation: str) -> Any:
    media = media_type(call)
    if media != MERGE_PATCH:
        return lambda shown: _decode(call, jsonpatch.apply(shown, call.body), validation)
    try:
        document = mergepatch.check(codec.decode_json(call.body))
    except codec.JSONError as error:
        raise BadRequest(f"error decoding patch: {error}") from None
    return lambda shown: _decode(call, mergepatch.apply(shown, document), validation)
