"""patch: change an object by JSON patch, merge patch, (built-in kinds) strategic merge patch, or apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from podless import schema
from podless.fields import jsonpatch, mergepatch, strategic
from podless.meta import codec, gotext, restore, structs
from podless.meta.errors import BadRequest, Internal, Invalid, UnsupportedMediaType
from podless.meta.field import invalid
from podless.verbs import admit, fieldmanager, options, steps
from podless.verbs.apply import apply
from podless.verbs.call import API, Call, Single
from podless.verbs.options import WriteOptions
from podless.verbs.update import rewrite

Object = dict[str, Any]


class Patch(NamedTuple):
    """A patch, ready to be applied. strategic: the document of a strategic merge patch, None for all others."""

    apply: Callable[[Object], Any]
    strategic: Object | None = None


JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


def media_type(call: Call) -> str:
    """The kind of patch, one that the kind takes. Raises UnsupportedMediaType."""
    media = call.content_type.partition(";")[0].strip()
    accepted = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
    if not call.kind.custom:
        accepted.insert(2, STRATEGIC_PATCH)
    if media not in accepted:
        if not call.kind.custom:
            raise UnsupportedMediaType("415: Unsupported Media Type", {})
        raise UnsupportedMediaType(
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
        )
    return media


async def patch(api: API, call: Call) -> Single:
    """Change the object, or its status, as the patch says. Raises what `rewrite` does, and BadRequest."""
    media = media_type(call)
    if media == APPLY_PATCH:
        return await apply(api, call)
    chosen = options.write(call, "PatchOptions")
    collection = await api.loaded(call.kind)
    if collection.get(call.key) is None:
        raise call.not_found()
    repeated: list[str] = []
    made = prepare(call, media, chosen, repeated)

    async def change(old: Object) -> Object:
        obj = read(call, chosen, made, made.apply(old), repeated, old["metadata"])
        steps.fit_name(call, obj["metadata"])
        steps.fit_namespace(call, obj["metadata"])
        fieldmanager.changed(call, old, obj, chosen.manager)
        return await admit.mutate(api, call, chosen, obj, old)

    return await rewrite(api, call, chosen, change)


def prepare(call: Call, media: str, chosen: WriteOptions, repeated: list[str]) -> Patch:
    """The patch, ready to be applied; repeated collects its repeated fields. Raises BadRequest."""
    checked = chosen.validation != "Ignore"
    if media == JSON_PATCH:
        jsonpatch.decode(call.body, checked=checked)
        call.floats += jsonpatch.floats(call.body)
        if checked:
            repeated += jsonpatch.findings(call.body)
        return Patch(lambda old: jsonpatch.apply(old, call.body, checked=checked))
    try:
        document = codec.decode_json(call.body, repeated if checked else None, call.floats)
    except codec.JSONError as error:
        raise BadRequest(str(error) if media == STRATEGIC_PATCH else f"error decoding patch: {error}") from None
    if media == STRATEGIC_PATCH:
        return Patch(lambda old: strategic.apply(old, document, call.kind.kind), strategic.check(document))
    changes = mergepatch.check(document)
    return Patch(lambda old: mergepatch.apply(old, changes))


def read(
    call: Call, chosen: WriteOptions, made: Patch, patched: Any, repeated: list[str], known: Object | None = None
) -> Object:
    """The patched document as an object of the kind. Raises Invalid for one that is none.

    known: the metadata that was there before, which most patches leave as it is.
    """
    if not isinstance(patched, dict):
        raise _invalid_patch(call, made, "the patched document is not an object")
    if "apiVersion" not in patched and call.kind.custom and "kind" in patched:
        missing = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        refusal = Internal(f"Internal error occurred: {missing}", {"causes": [{"message": missing}]})
        refusal.reason = "InternalError"
        raise refusal
    if not isinstance(patched.get("kind"), str) or not isinstance(patched.get("apiVersion", ""), str):
        raise _invalid_patch(call, made, "Object 'Kind' is missing in the patched document")
    unknown: list[str] = []
    try:
        obj = call.kind.strategy.decode(call.kind, call.version, patched, unknown, known)
    except (structs.DecodeError, schema.Malformed) as error:
        struct = call.kind.struct_of(call.version) if made.strategic is not None else None
        why = restore.fault(struct, patched) if struct is not None else ""
        raise _invalid_patch(call, made, why or str(error)) from None
    if made.strategic is not None:
        unknown.sort()
    findings = [*repeated, *(f"unknown field {gotext.quote(path)}" for path in dict.fromkeys(unknown))]
    if findings and chosen.validation == "Strict":
        raise _invalid_patch(call, made, f"strict decoding error: {codec.strict_text(findings)}")
    if chosen.validation != "Ignore":
        call.warnings += findings
    return obj


def _invalid_patch(call: Call, made: Patch, why: str) -> Invalid:
    """The patch does not make an object; a strategic one is shown as what was read of it."""
    shown = call.body.decode("utf-8", "replace") if made.strategic is None else gotext.plain(made.strategic)
    return Invalid("", "", "", [invalid("patch", shown, why)])
