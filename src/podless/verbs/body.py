"""A request body to an object of the kind that the path names, or the recorded refusal."""

from __future__ import annotations

from typing import Any

from podless import schema
from podless.meta import codec, gotext, protobuf, structs
from podless.meta.errors import BadRequest
from podless.meta.structs import Struct
from podless.verbs.call import Call
from podless.verbs.options import WriteOptions

Object = dict[str, Any]

_NO_TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


def read(call: Call, options: WriteOptions) -> Object:
    """The object in the body: of the right kind and version, with nothing that its kind does not know.

    Unknown and repeated fields are refused, warned of or dropped in silence, as fieldValidation says.
    Raises BadRequest.
    """
    repeated: list[str] = []
    strict = options.validation != "Ignore"
    struct = call.kind.struct_of(call.version)
    if call.content_type.startswith(protobuf.MEDIA) and struct is not None:
        raw, kind = _message(call, struct)
    else:
        parsed = _parse(call, call.content_type.startswith("application/yaml"), repeated if strict else None)
        kind = _kind(call, parsed)
        raw = _check_version(call, parsed or {}, kind)
    unknown: list[str] = []
    try:
        obj = call.kind.strategy.decode(call.kind, call.version, raw, unknown)
    except (structs.DecodeError, schema.Malformed) as error:
        raise BadRequest(f"{_cannot(call, kind)}: {error}") from None
    findings = [*repeated, *(f"unknown field {gotext.quote(path)}" for path in dict.fromkeys(unknown))]
    if options.validation == "Strict" and findings:
        raise BadRequest(f"{_cannot(call, kind)}: strict decoding error: {codec.strict_text(findings)}")
    if strict:
        call.warnings += findings
    return obj


def _parse(call: Call, yaml: bool, repeated: list[str] | None) -> Any:
    try:
        return codec.decode_yaml(call.body, repeated) if yaml else codec.decode_json(call.body, repeated, call.floats)
    except codec.YAMLError as error:
        raise BadRequest(f"{_unrecognized(call)}: {error.message} {_snippet(call)}") from None
    except codec.JSONError as error:
        raise _unreadable(call, str(error)) from None


def _message(call: Call, struct: Struct) -> tuple[Object, str]:
    """The object in a protobuf body, and the kind that it says it is of."""
    try:
        api_version, kind, message = protobuf.unwrap(call.body)
    except protobuf.ProtobufError as error:
        raise BadRequest(f"{_unrecognized(call)}: {error} {_snippet(call)}") from None
    head = _check_version(call, {"apiVersion": api_version, "kind": kind}, kind or call.kind.kind)
    try:
        return head | protobuf.decode(struct, message), head["kind"]
    except protobuf.ProtobufError as error:
        raise BadRequest(f"{_cannot(call, head['kind'])}: {error}") from None


def _unreadable(call: Call, why: str) -> BadRequest:
    why = f"couldn't get version/kind; json parse error: {why}"
    return BadRequest(f"{_unrecognized(call)}: {why} {_snippet(call)}")


def _unrecognized(call: Call) -> str:
    return f"the object provided is unrecognized (must be of type {call.kind.kind})"


def _cannot(call: Call, kind: str) -> str:
    version = gotext.quote(call.version.name)
    return f"{kind} in version {version} cannot be handled as a {call.kind.kind}"


def _kind(call: Call, raw: Any) -> str:
    """The kind that the body says it is of."""
    if raw is not None and not isinstance(raw, dict):
        found = structs.JSON_NAMES[type(raw)]
        why = f"json: cannot unmarshal {found} into Go value of type {_NO_TYPE}"
        raise _unreadable(call, why)
    given = raw or {}
    for name in ("kind", "apiVersion"):
        if not isinstance(given.get(name, ""), str | None):
            found = structs.JSON_NAMES.get(type(given[name]), "object")
            why = f"json: cannot unmarshal {found} into Go struct field .{name} of type string"
            raise BadRequest(
                f"{_unrecognized(call)}: couldn't get version/kind; json parse error: {why} {_snippet(call)}"
            )
    if str(given.get("apiVersion") or "").count("/") > 1:
        raise BadRequest(
            f"{_unrecognized(call)}: unexpected GroupVersion string: {given['apiVersion']} {_snippet(call)}"
        )
    if not given.get("kind") and not call.kind.custom:
        return call.kind.kind
    if not given.get("kind"):
        shown = call.body.decode("utf-8", "replace")
        raise BadRequest(f"{_unrecognized(call)}: Object 'Kind' is missing in '{shown}' {_snippet(call)}")
    return str(given["kind"])


def _snippet(call: Call) -> str:
    """How the body begins."""
    return f"({codec.hex_or_text(call.body)})"


def _check_version(call: Call, raw: Object, kind: str) -> Object:
    """The body with its kind and version; built-in kinds take those of the path where the body leaves them out."""
    given = raw.get("apiVersion") or ""
    wanted = call.api_version
    if not given and not call.kind.custom:
        given = wanted
    if given != wanted:
        raise BadRequest(f"the API version in the data ({given}) does not match the expected API version ({wanted})")
    if not call.kind.custom and kind != call.kind.kind:
        group = call.kind.group or "core"
        known = (
            f"converting ({call.version.name}.{kind}) to ({group.split('.')[0]}.{call.kind.kind}): unknown conversion"
        )
        raise BadRequest(f"{_cannot(call, kind)}: {known}")
    return raw if call.kind.custom else {**raw, "kind": kind, "apiVersion": given}
