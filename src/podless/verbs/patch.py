"""patch: JSON patch, merge patch, strategic merge patch (built-in kinds) and apply."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from podless import schema
from podless.codec import gotext, sentfloats, serializer
from podless.codec.jsontext import OutOfRange
from podless.fields import patches
from podless.fields.patches import Patch, SentPatch
from podless.kinds import bodies, scheme
from podless.kinds.view import is_direct
from podless.meta.errors import BadRequest, Internal, Invalid, UnsupportedMediaType
from podless.meta.field import invalid
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import gotypes, restore, structs
from podless.verbs import admit, fieldmanager, options, steps
from podless.verbs.apply import apply_object
from podless.verbs.call import API, Call, Single
from podless.verbs.options import WriteOptions
from podless.verbs.ready import get_merge_table
from podless.verbs.runner import PARSE, Write
from podless.verbs.update import change_stages, load_object, rewrite_object


def find_media_type(call: Call) -> str:
    """Return the media type of the patch. Raises UnsupportedMediaType if the kind does not support it."""
    media = content_type = call.content_type
    accepted = patches.CUSTOM if call.kind.custom else patches.BUILTIN
    if media not in accepted and content_type.find(";") > 0:
        media = content_type.partition(";")[0]
    if media not in accepted:
        # a real server has a route for each media type of a built-in kind, and the router ignores blanks and lists
        if not call.kind.custom and not any(
            item.partition(";")[0].strip() in accepted for item in content_type.split(",")
        ):
            raise UnsupportedMediaType("415: Unsupported Media Type", {})
        raise UnsupportedMediaType(
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
        )
    return media


class PatchWrite(Write):
    """A change by a patch. media: its media type. patch: the prepared patch. repeated: repeated fields in the patch."""

    patch: Patch | None = None
    repeated: list[str]

    def __init__(self, call: Call, options: WriteOptions, media: str) -> None:
        super().__init__(call, options)
        self.media = media


def patch_object(api: API, call: Call) -> Coroutine[Any, Any, Single]:
    """Patch the object or its status. Raises as `rewrite_object` does, and BadRequest."""
    media = find_media_type(call)
    if media == patches.APPLY.media:
        return apply_object(api, call)
    write = PatchWrite(call, options.read_write_options(call, "PatchOptions"), media)
    if not has("LatePatchSyntax"):
        _check_syntax(call.body)
    return rewrite_object(api, write, PATCH)


def _check_syntax(body: bytes) -> None:
    try:
        serializer.decode_json(body)
    except OutOfRange:  # valid JSON, with a number that Go's types cannot hold
        return
    except serializer.JSONError:
        raise BadRequest("invalid JSON patch") from None


def read_patch(write: PatchWrite) -> None:
    """Decode the patch in the body, once for all attempts. Raises BadRequest."""
    if write.patch is None:
        write.repeated = []
        write.patch = prepare_patch(write.call, write.media, write.options, write.repeated)


def apply_patch(write: PatchWrite) -> None:
    """Apply the patch to the present object. Raises BadRequest, Invalid, Internal and Unconverted.

    The result shares unchanged parts with the old object. Parts of custom objects are valid as stored; built-in objects
    are decoded again.
    """
    call, chosen, patch = write.call, write.options, write.patch
    assert patch is not None
    assert write.entry is not None
    assert write.old is not None
    write.shared = call.kind.custom and is_direct(call.kind, call.version, write.entry)
    before = write.old if write.shared else load_object(write)
    patched = patch.apply(before)
    is_same = patched is before
    if is_same:  # copied because the next stages change the new object
        patched = before.copy()
    patch_again = partial(read_again, call, write.media, chosen, before)
    obj = write.obj = read_patched(call, chosen, patch, patched, write.repeated, before["metadata"], patch_again)
    steps.fit_to_path(write)
    _check_version(obj)
    if not (is_same and call.schema_valid and fieldmanager.is_settled(call, before)):  # else all owners stay
        fieldmanager.set_fields_of_changed(call, before, obj, chosen.manager)


PATCH: Final = change_stages(read_patch, apply_patch, admit.MUTATE, first=(PARSE,))


def prepare_patch(
    call: Call, media: str, chosen: WriteOptions, repeated: list[str], *, for_error: bool = False
) -> Patch:
    """Return the patch, ready to apply. repeated, for_error: as in `SentPatch`. Raises BadRequest."""
    request = SentPatch(
        call.body,
        chosen.validation != "Ignore",
        for_error,
        call.kind.custom,
        repeated,
        call.floats,
        partial(get_merge_table, call.kind, call.version),
        partial(call.kind.list_raw_fields, call.version),
    )
    return patches.READERS[media](request)


def read_again(call: Call, media: str, chosen: WriteOptions, old: Object) -> Any:
    """Apply the patch again, to show the patched document in an error as it was before decoding."""
    floats = len(call.floats)
    patch = prepare_patch(call, media, chosen, [], for_error=True)
    del call.floats[floats:]
    return patch.apply(old)


def read_patched(
    call: Call,
    chosen: WriteOptions,
    patch: Patch,
    patched: Any,
    repeated: list[str],
    stored: Object | None = None,
    patch_again: Callable[[], Any] | None = None,
) -> Object:
    """Decode the patched document as an object of the kind. Raises Invalid.

    stored: the former metadata, which most patches do not change. patch_again: applies the patch again for an error
    text, because decoding can change the document.
    """
    unknown: list[str] = [] if patch.strategic is None else gotypes.KeylessPaths()
    try:
        if patch.strategic is not None:
            obj = _decode_merged(call, patched, unknown)
        elif call.kind.custom:
            obj = _decode_custom(call, patched, unknown, stored)
        else:
            if call.floats:  # check with the floats as sent: Go rejects 1.0 for an integer
                settled, patched = patched, sentfloats.copy_as_sent(patched, call.floats)
                _decode_builtin(call, patched, [])
                patched = settled
            obj = _decode_builtin(call, patched, unknown)
    except (ValueError, schema.Malformed) as error:
        result = patch_again() if patch_again else patched
        is_number = isinstance(error, structs.NumberError) and patch.strategic is None
        raise make_unfit_error(
            call, patch, result, (is_number and _find_number_text(call, result)) or str(error)
        ) from None
    if repeated or unknown:
        findings = [*repeated, *bodies.name_unknown(call.kind, dict.fromkeys(unknown))]
        check_fields(call, patch, chosen, patch_again or (lambda: patched), findings)
    return obj


def _find_number_text(call: Call, document: Any) -> str:
    """Return the error for a number of the wrong type as it is written in a patched document; "" if there is none."""
    try:
        _decode_builtin(call, sentfloats.decode_as_written(serializer.encode_json(document)), [])
    except ValueError as error:
        return str(error)
    return ""


def _decode_merged(call: Call, patched: Any, unknown: list[str]) -> Object:
    """Decode the result of a strategic merge, and set its kind and apiVersion. Raises ValueError."""
    struct = call.kind.struct_of(call.version)
    assert struct is not None
    head = {"kind": call.kind.kind, "apiVersion": call.api_version}
    for name in head:
        restore.restore_value(_TYPE, {name: patched.get(name)})
    patched = restore.restore_value(struct, patched)
    obj = call.kind.strategy.decode(call.kind, call.version, {**patched, **head}, unknown)
    unknown.sort()
    return obj


_TYPE = structs.Struct("TypeMeta", tuple(structs.Field(name, gotypes.STRING) for name in ("kind", "apiVersion")))


def _decode_custom(call: Call, patched: Any, unknown: list[str], stored: Object | None) -> Object:
    """Decode any object with a kind; later validation compares kind and version with the path. Raises ValueError."""
    kind = call.kind
    if not (
        patched.__class__ is dict
        and patched.get("kind") == kind.kind
        and patched.get("apiVersion") == kind.api_versions[call.version.name]
    ):
        if not scheme.read_type_meta(patched).kind:
            raise ValueError(f"Object 'Kind' is missing in '{_encode_patched(call, patched)}'")
        if patched.get("apiVersion", "") is None:
            raise ValueError(scheme.NULL_VERSION)
    obj: Object = patched
    call.schema_valid = kind.strategy.decode_and_check(kind, call.version, obj, unknown, stored) and not call.floats
    return obj


def _decode_builtin(call: Call, patched: Any, unknown: list[str]) -> Object:
    """Decode an object of the kind in one of its versions. Raises ValueError."""
    kind, type_meta = call.kind, scheme.read_type_meta(patched)
    patched = patched or {}
    if type_meta.api_version in ("", "/"):
        # without apiVersion a real server decodes into the internal type, whose fields have no JSON names: all are
        # unknown
        unknown += sorted(patched.keys() - {"kind", "apiVersion"})
        return {"kind": kind.kind, "apiVersion": call.api_version, "metadata": {}}
    if reason := kind.explain_mismatch(type_meta.kind or kind.kind, type_meta.api_version):
        raise ValueError(reason)
    head = {"kind": kind.kind, "apiVersion": type_meta.api_version}
    for view in kind.views:
        for version in view.by_version.values():
            if view.api_version(version.name) == type_meta.api_version:
                obj = view.strategy.decode(view, version, {**patched, **head}, unknown)
                return kind.strategy.convert_object(kind, call.version, obj)
    # a real server also decodes versions that it no longer serves; their fields are those of this version
    return kind.strategy.decode(kind, call.version, {**patched, **head, "apiVersion": call.api_version}, unknown)


def _check_version(obj: Object) -> None:
    """Raise Internal for a custom object without apiVersion, as a real server does."""
    if "apiVersion" not in obj:
        missing = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        refusal = Internal(f"Internal error occurred: {missing}", {"causes": [{"message": missing}]})
        refusal.reason = "InternalError"
        raise refusal


def check_fields(
    call: Call, patch: Patch, chosen: WriteOptions, patched: Callable[[], Any], findings: list[str]
) -> None:
    """Reject, report or ignore unknown and repeated fields. patched: returns the document to show. Raises Invalid."""
    if findings and chosen.validation == "Strict":
        raise make_unfit_error(
            call, patch, patched(), f"strict decoding error: {serializer.format_strict_error(findings)}"
        )
    if chosen.validation != "Ignore":
        call.warnings += findings


def make_unfit_error(call: Call, patch: Patch, patched: Any, reason: str) -> Invalid:
    """Return the error for a patch whose result is no object. It shows the document, or the decoded strategic patch."""
    text = _encode_patched(call, patched) if patch.strategic is None else gotext.format_plain(patch.strategic)
    return Invalid("", "", "", [invalid("patch", text, reason)])


def _encode_patched(call: Call, patched: Any) -> str:
    encode = serializer.encode_sorted if call.kind.custom else serializer.encode_json
    return encode(patched).decode()
