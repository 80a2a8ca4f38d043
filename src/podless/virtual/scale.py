"""The scale subresource: autoscaling/v1 Scale over the fields that the kind names.

Built-in and custom kinds pass the same stages, but decode and patch a Scale in two ways, because two servers within
kube-apiserver do. For a built-in kind, a Scale is an object like any other. For a custom kind, apiextensions-apiserver
decodes it itself: all errors of an update have one text, the Scale is not validated, and an apply succeeds only if it
changes nothing. Source: "Scale subresource" of the CustomResourceDefinition documents, pkg/registry/apps, and the
recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from podless.apis.autoscaling.group import SCALES
from podless.apis.release import RECORDED_FACTS
from podless.apis.shared import checks
from podless.codec import gotext
from podless.fields import managers, scaling
from podless.fields.compare import equal_values
from podless.fields.patches import APPLY
from podless.kinds import view
from podless.kinds.kind import Scale
from podless.kinds.scheme import explain_unregistered, read_type_meta
from podless.kinds.version import read_typed
from podless.meta import names, objectmeta, selectors
from podless.meta.errors import BadRequest, Internal, Invalid
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT, has
from podless.structs import structs
from podless.structs.structfiles import load_struct
from podless.verbs import admit, apply, fieldmanager, options, patch, steps
from podless.verbs.apply import ApplyWrite
from podless.verbs.call import API, AnswerDocument, Call, Single
from podless.verbs.get import get_object
from podless.verbs.options import WriteOptions
from podless.verbs.patch import check_fields, find_media_type, make_unfit_error, prepare_patch
from podless.verbs.runner import PARSE, AwaitedStage, Stages, Write
from podless.verbs.update import change_stages, rewrite_object

OBJECT_META = load_struct("meta/v1", "ObjectMeta")
SCALE = load_struct("autoscaling/v1", "Scale")


_OVER_INT32 = 1 << 31
_UNSET = -_OVER_INT32  # replicas in a patched Scale of an object without replicas

_NO_SCALE = "request to convert CR to an invalid group/version: autoscaling/v1"

# returns the new Scale, from the present Scale and the object
Change = Callable[[Object, Object], Object]

_METADATA_FIELDS = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def show_scale(obj: Object, paths: Scale, *, required: bool = True) -> Object:
    """Return the Scale of an object.

    Raises Internal if required replicas are missing, and for values of other types.
    """
    replicas = _read_replicas(obj, paths.spec_replicas_path)
    metadata = obj["metadata"]
    status: Object = {"replicas": _read_replicas(obj, paths.status_replicas_path) or 0}
    if selector := _read_selector(obj, paths):
        status["selector"] = selector
    if replicas is None and required:
        raise _internal_error(f'the spec replicas field "{paths.spec_replicas_path}" does not exist')
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _METADATA_FIELDS if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _read_replicas(obj: Object, path: str) -> int | None:
    """Return the number at a path as an int32, None if there is none. Raises Internal for a value of another type."""
    value, fault = read_typed(obj, path, int)
    if fault:
        raise Internal(fault)
    return None if value is None else (value + _OVER_INT32) % (2 * _OVER_INT32) - _OVER_INT32


def _read_selector(obj: Object, paths: Scale) -> str:
    """Return the label selector as text, "" if there is none. Raises Internal for a value of another type."""
    if not paths.label_selector_path:
        return ""
    if paths.selects_with_text:
        text, fault = read_typed(obj, paths.label_selector_path, str)
        if fault:
            raise Internal(fault)
        return text or ""
    selector = _get_value(obj, paths.label_selector_path)
    if not selector:
        return ""
    plain = all(isinstance(value, str) for value in each(selector).values())
    return str(selectors.from_object({"matchLabels": selector} if plain else selector))


def _unreadable_error() -> BadRequest:
    source = CURRENT.get().sources(RECORDED_FACTS.schemes["scale"])
    return BadRequest(f'no kind is registered for the type v1.Scale in scheme "{source}"')


def _internal_error(text: str) -> Internal:
    refusal = Internal(f"Internal error occurred: {text}", {"causes": [{"message": text}]})
    refusal.reason = "InternalError"
    return refusal


def _split_path(path: str) -> list[str]:
    """Return the field names of a path such as .spec.replicas."""
    return [segment for segment in each(path.split(".")) if segment]


def _get_value(obj: Object, path: str) -> Any:
    value: Any = obj
    for name in _split_path(path):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _set_value(obj: Object, path: str, value: int) -> None:
    *parents, last = _split_path(path)
    for name in each(parents):
        child = obj.get(name)
        if not isinstance(child, dict):
            child = obj[name] = {}
        obj = child
    obj[last] = value


class ScaleWrite(Write):
    """A change of an object through its Scale. verb: update or patch. paths: where the object has its replicas.

    make: returns the new Scale. replacement: the Scale in the body of an update. before: the present Scale. scale: the
    new Scale.
    """

    make: Change
    replacement: Object | None = None
    before: Object
    scale: Object

    def __init__(self, call: Call, options: WriteOptions, verb: str, paths: Scale) -> None:
        super().__init__(call, options)
        self.verb = verb
        self.paths = paths
        self.admission_form = partial(show_scale, paths=paths, required=False)


async def scale_object(api: API, call: Call, verb: str) -> AnswerDocument:
    """Get, update or patch the Scale of an object. Raises as these verbs do."""
    paths = call.version.scale
    if paths is None:
        raise call.not_found()
    collection = await api.load_collection(call.kind)
    if verb == "get":
        entry = get_object(api, call, collection).entry
        assert entry is not None
        await api.converter.prepare_entries(call.kind, call.version, [entry])
        return AnswerDocument(show_scale(view.load_object(call.kind, call.version, entry), paths))
    if verb == "patch" and find_media_type(call) == APPLY.media:
        return await _apply_scale(api, call, paths)
    chosen = options.read_write_options(call, "UpdateOptions" if verb == "update" else "PatchOptions")
    # as a real server, report a missing object before an invalid patch
    if verb == "patch" and collection.get(call.key) is None:
        raise call.not_found()
    write = ScaleWrite(call, chosen, verb, paths)
    await READ.run(api, write)
    if collection.get(call.key) is None:
        if write.replacement is not None and not has("MissingBeforePreconditions"):
            steps.check_uid(call, write.replacement["metadata"], "", dry_run=chosen.dry_run)
        raise call.not_found()
    written = await rewrite_object(api, write, RESCALE)
    return AnswerDocument(show_scale(await _read_object(api, call, written), paths, required=False))


def _with_replicas(paths: Scale, old: Object, scale: Object) -> Object:
    obj = view.copy_object(old)
    _set_value(obj, paths.spec_replicas_path, (scale.get("spec") or {}).get("replicas") or 0)
    return obj


def read_scale(write: ScaleWrite) -> None:
    """Decode the Scale or the patch in the body. Raises BadRequest and Invalid."""
    call, chosen = write.call, write.options
    if write.verb == "update":
        replacement = write.replacement = (
            _decode_replacement(call, chosen) if call.kind.custom else _decode_builtin(call, chosen)
        )
        write.make = lambda before, old: replacement
    else:
        write.make = _prepare_custom_patch(call, chosen) if call.kind.custom else _prepare_builtin_patch(call, chosen)


def make_scale(write: ScaleWrite) -> None:
    """Make the new Scale from the present one. Raises BadRequest, Invalid and Conflict."""
    call, old, paths = write.call, write.old, write.paths
    assert old is not None
    write.before = show_scale(old, paths, required=False)
    if _get_value(old, paths.spec_replicas_path) is None:
        write.before["spec"] = {"replicas": _UNSET}
    write.scale = write.make(view.copy_object(write.before), old)
    if write.verb == "patch":
        _check_scale(call, write.scale)
    else:
        uid = old["metadata"].get("uid", "")
        steps.check_uid(call, write.scale["metadata"], uid, dry_run=write.options.dry_run)


async def _mutate_scale(api: API, write: ScaleWrite | ApplyScaleWrite) -> None:
    write.scale = await admit.mutate_object(api, write, write.scale, write.before)


def put_scale(write: ScaleWrite) -> None:
    """Write the values of the Scale into the object. Raises BadRequest and Invalid."""
    call, old, scale, paths = write.call, write.old, write.scale, write.paths
    assert old is not None
    if call.kind.custom and (scale.get("spec") or {}).get("replicas") == _UNSET:
        raise BadRequest(f'the spec replicas field "{paths.spec_replicas_path}" cannot be empty')
    if not call.kind.custom and (errors := _validate_scale(scale)):
        raise Invalid("Scale", "autoscaling", call.name, errors)
    obj = _with_replicas(paths, old, scale)
    managers.put_managed_fields(
        obj["metadata"], fieldmanager.list_entries_of_scaled(call, old, write.before, scale, write.options.manager)
    )
    if revision := scale["metadata"].get("resourceVersion"):
        obj["metadata"]["resourceVersion"] = revision
    write.obj = obj


class ApplyScaleWrite(ApplyWrite):
    """A server-side apply to the Scale of an object.

    paths: where the object has its replicas. before: the present Scale. scale: the Scale after the apply.
    """

    before: Object
    scale: Object

    def __init__(self, call: Call, paths: Scale) -> None:
        super().__init__(call, scaling.SCALE, "Scale")
        self.paths = paths
        self.admission_form = partial(show_scale, paths=paths, required=False)


async def _apply_scale(api: API, call: Call, paths: Scale) -> AnswerDocument:
    """Apply to the Scale of an object. For custom objects, as on a real server, only an apply without changes succeeds.

    Raises as `apply_object` does.
    """
    write = ApplyScaleWrite(call, paths)
    await apply.READ.run(api, write)
    if (await api.load_collection(call.kind)).get(call.key) is None:
        raise call.not_found()
    written = await rewrite_object(api, write, APPLY_SCALE)
    return AnswerDocument(show_scale(await _read_object(api, call, written), paths, required=False))


def merge_scale(write: ApplyScaleWrite) -> None:
    """Merge the applied Scale into the present one. Raises as `merge_into` does."""
    old = write.old
    assert old is not None
    apply.check_type(write)
    entries = fieldmanager.list_entries_of_scale(write.call, old)
    if not entries and write.call.kind.custom:
        problem = f"failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: {_NO_SCALE}"
        raise Internal(f"failed to create manager for existing fields: {problem}")
    write.before = show_scale(old, write.paths, required=False)
    managers.put_managed_fields(write.before["metadata"], entries)
    write.scale = apply.merge_into(write, write.before)


def put_applied(write: ApplyScaleWrite) -> None:
    """Write the values of the applied Scale into the object. Raises BadRequest, Invalid and Internal."""
    call, old, scale = write.call, write.old, write.scale
    assert old is not None
    written = scale["metadata"].pop("managedFields", [])
    write.before["metadata"].pop("managedFields", None)
    if not call.kind.custom:
        _check_scale(call, scale)
        if errors := _validate_scale(scale):
            raise Invalid("Scale", "autoscaling", call.name, errors)
        write.obj = _with_replicas(write.paths, old, scale)
    elif equal_values(scale, write.before):
        write.obj = {**old, "metadata": dict(old["metadata"])}
    else:
        description = managers.describe_object(write.body)
        raise Internal(f"failed to convert new object ({description}) to proper version: {_NO_SCALE}")
    managers.put_managed_fields(write.obj["metadata"], fieldmanager.list_entries_of_rescaled(call, old, written))


_MUTATE: Final = AwaitedStage[ScaleWrite | ApplyScaleWrite](_mutate_scale, admit.mutates_object, sliced=True)
READ: Final = Stages[ScaleWrite](PARSE, read_scale)
RESCALE: Final = change_stages(make_scale, _MUTATE, put_scale)
APPLY_SCALE: Final = change_stages(merge_scale, _MUTATE, put_applied)


def _check_scale(call: Call, scale: Object) -> None:
    """Check that the Scale belongs to the object in the path. Raises BadRequest."""
    metadata = scale.setdefault("metadata", {})
    steps.fit_namespace(call, metadata)
    steps.fit_name(call, metadata)


async def _read_object(api: API, call: Call, written: Single) -> Object:
    if written.entry is not None:
        await api.converter.prepare_entries(call.kind, call.version, [written.entry])
        return view.load_object(call.kind, call.version, written.entry)
    return written.obj or {}


def _decode_scale(raw: Any, findings: list[str]) -> Object:
    """Decode a Scale, which may lack apiVersion and kind; findings: receives unknown fields.

    Raises ValueError with the text of a real server's decoder.
    """
    type_meta = read_type_meta(raw)
    api_version, kind = type_meta.api_version or "autoscaling/v1", type_meta.kind or "Scale"
    if (api_version, kind) != ("autoscaling/v1", "Scale"):
        raise ValueError(explain_unregistered(kind, api_version, RECORDED_FACTS.schemes["scale"]))
    unknown: list[str] = []
    scale = structs.decode_struct(SCALE, raw or {}, unknown)
    findings += [f"unknown field {gotext.quote(path)}" for path in dict.fromkeys(unknown)]
    return scale


def _decode_replacement(call: Call, chosen: WriteOptions) -> Object:
    """Decode the new Scale of an update. Raises BadRequest; as on a real server, all errors have one text."""
    checked, findings = chosen.validation != "Ignore", list[str]()
    try:
        replacement = _decode_scale(options.decode_options(call, SCALE, findings if checked else None), findings)
        options.check_literals(call, SCALE)
    except ValueError:
        raise _unreadable_error() from None
    if findings and chosen.validation == "Strict":
        raise _unreadable_error()
    call.warnings += findings if checked else []
    _check_scale(call, replacement)
    return replacement


def _prepare_custom_patch(call: Call, chosen: WriteOptions) -> Change:
    """Return the change that a patch makes to the Scale of a custom object.

    Raises BadRequest for an invalid patch; the change raises Invalid if its result is no Scale.
    """
    repeated: list[str] = []
    prepared = prepare_patch(call, find_media_type(call), chosen, repeated)

    scale_call = _scale_call(call)

    def change_scale(before: Object, old: Object) -> Object:
        findings, document = [*repeated], prepared.apply(_describe_scale(call, before, old))
        try:
            patched = _decode_scale(document, findings)
        except ValueError as error:
            raise make_unfit_error(scale_call, prepared, document, str(error)) from None
        check_fields(scale_call, prepared, chosen, lambda: document, findings)
        return _ignore_managed_fields(patched)

    return change_scale


def _scale_call(call: Call) -> Call:
    """Return the call as one for an object of the kind Scale."""
    return replace(call, kind=SCALES, version=SCALES.versions[0])


def _decode_builtin(call: Call, chosen: WriteOptions) -> Object:
    """Decode the new Scale of an update of a built-in kind. Raises BadRequest."""
    builtin = steps.decode_body(_scale_call(call), chosen)
    _check_scale(call, builtin)
    return builtin


def _prepare_builtin_patch(call: Call, chosen: WriteOptions) -> Change:
    """Return the change that a patch makes to the Scale of a built-in kind.

    Raises BadRequest for an invalid patch; the change raises Invalid if its result is no Scale.
    """
    scale_call, repeated = _scale_call(call), list[str]()
    media = find_media_type(call)
    prepared = prepare_patch(scale_call, media, chosen, repeated)

    def change_scale(before: Object, old: Object) -> Object:
        def read_again() -> Any:
            return patch.read_again(scale_call, media, chosen, _describe_scale(call, before, old))

        document = prepared.apply(_describe_scale(call, before, old))
        return _ignore_managed_fields(
            patch.read_patched(scale_call, chosen, prepared, document, repeated, patch_again=read_again)
        )

    return change_scale


def _describe_scale(call: Call, scale: Object, obj: Object) -> Object:
    """Return the Scale as patches see it and error texts show it: with managedFields, and in its own field order."""
    metadata = {**scale["metadata"], "managedFields": fieldmanager.list_entries_of_scale(call, obj)}
    return {**scale, "metadata": structs.decode_struct(OBJECT_META, metadata)}


def _ignore_managed_fields(scale: Object) -> Object:
    """Return the Scale without managedFields: patches can read them, but what a client sends for a Scale is ignored."""
    scale["metadata"].pop("managedFields", None)
    return scale


def _validate_scale(scale: Object) -> list[FieldError]:
    """Validate a Scale of autoscaling/v1."""
    errors = objectmeta.validate_metadata(scale["metadata"], namespaced=True, naming=names.SUBDOMAINS)
    return [*errors, *checks.validate_nonnegative("spec.replicas", (scale.get("spec") or {}).get("replicas"))]
