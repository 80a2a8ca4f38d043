"""A request body to an object of a kind, or the recorded refusal: what is needed beside the bytes is the kind alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from podless import schema
from podless.kinds.kind import Kind, Version
from podless.meta import codec, gotext, protobuf, structs
from podless.meta.codec import Floats
from podless.meta.errors import BadRequest
from podless.meta.structs import Struct

Object = dict[str, Any]

_NO_TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_GO_NAMES = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}


@dataclass(slots=True)
class Body:
    """A body that is to be an object of one version of a kind.

    validation: Strict, Warn or Ignore (unknown and repeated fields). warnings: texts for the client. floats: whole
    numbers that the body gives as floats. All three are filled as it is read.
    """

    kind: Kind
    version: Version
    raw: bytes
    content_type: str = ""
    validation: str = "Warn"
    warnings: list[str] = field(default_factory=list)
    floats: Floats = field(default_factory=list)

    @property
    def api_version(self) -> str:
        """The apiVersion that the body must have."""
        return self.kind.api_version(self.version.name)


def read(body: Body) -> Object:
    """The object in the body: of the right kind and version, with its defaults and nothing that its kind does not know.

    Unknown and repeated fields are refused, warned of or dropped in silence. Raises BadRequest.
    """
    repeated: list[str] = []
    strict = body.validation != "Ignore"
    struct = body.kind.struct_of(body.version)
    if body.content_type.startswith(protobuf.MEDIA) and struct is not None:
        raw, kind = _message(body, struct)
    else:
        parsed = _parse(body, body.content_type.startswith("application/yaml"), repeated if strict else None)
        kind = _kind(body, parsed)
        raw = _check_version(body, parsed or {}, kind)
    unknown: list[str] = []
    try:
        obj = body.kind.strategy.decode(body.kind, body.version, raw, unknown)
    except (structs.DecodeError, schema.Malformed) as error:
        raise BadRequest(f"{_cannot(body, kind)}: {error}") from None
    findings = [*repeated, *(f"unknown field {gotext.quote(path)}" for path in dict.fromkeys(unknown))]
    if body.validation == "Strict" and findings:
        raise BadRequest(f"{_cannot(body, kind)}: strict decoding error: {codec.strict_text(findings)}")
    if strict:
        body.warnings += findings
    return obj


def _parse(body: Body, yaml: bool, repeated: list[str] | None) -> Any:
    try:
        return codec.decode_yaml(body.raw, repeated) if yaml else codec.decode_json(body.raw, repeated, body.floats)
    except codec.YAMLError as error:
        raise BadRequest(f"{_unrecognized(body)}: {error.message} {_snippet(body)}") from None
    except codec.JSONError as error:
        raise _unreadable(body, str(error)) from None


def _message(body: Body, struct: Struct) -> tuple[Object, str]:
    """The object in a protobuf body, and the kind that it says it is of."""
    try:
        api_version, kind, message = protobuf.unwrap(body.raw)
    except protobuf.ProtobufError as error:
        raise BadRequest(f"{_unrecognized(body)}: {error} {_snippet(body)}") from None
    head = _check_version(body, {"apiVersion": api_version, "kind": kind}, kind or body.kind.kind)
    try:
        return head | protobuf.decode(struct, message), head["kind"]
    except protobuf.ProtobufError as error:
        raise BadRequest(f"{_cannot(body, head['kind'])}: {error}") from None


def _unreadable(body: Body, why: str) -> BadRequest:
    why = f"couldn't get version/kind; json parse error: {why}"
    return BadRequest(f"{_unrecognized(body)}: {why} {_snippet(body)}")


def _unrecognized(body: Body) -> str:
    return f"the object provided is unrecognized (must be of type {body.kind.kind})"


def _cannot(body: Body, kind: str) -> str:
    version = gotext.quote(body.version.name)
    return f"{kind} in version {version} cannot be handled as a {body.kind.kind}"


def _kind(body: Body, raw: Any) -> str:
    """The kind that the body says it is of."""
    if raw is not None and not isinstance(raw, dict):
        found = _GO_NAMES[type(raw)]
        why = f"json: cannot unmarshal {found} into Go value of type {_NO_TYPE}"
        raise _unreadable(body, why)
    given = raw or {}
    for name in ("kind", "apiVersion"):
        if not isinstance(given.get(name, ""), str | None):
            found = _GO_NAMES.get(type(given[name]), "object")
            why = f"json: cannot unmarshal {found} into Go struct field .{name} of type string"
            raise BadRequest(
                f"{_unrecognized(body)}: couldn't get version/kind; json parse error: {why} {_snippet(body)}"
            )
    if str(given.get("apiVersion") or "").count("/") > 1:
        raise BadRequest(
            f"{_unrecognized(body)}: unexpected GroupVersion string: {given['apiVersion']} {_snippet(body)}"
        )
    if not given.get("kind") and not body.kind.custom:
        return body.kind.kind
    if not given.get("kind"):
        shown = body.raw.decode("utf-8", "replace")
        raise BadRequest(f"{_unrecognized(body)}: Object 'Kind' is missing in '{shown}' {_snippet(body)}")
    return str(given["kind"])


def _snippet(body: Body) -> str:
    """How the body begins."""
    return f"({codec.hex_or_text(body.raw)})"


def _check_version(body: Body, raw: Object, kind: str) -> Object:
    """The body with its kind and version; built-in kinds take those of the path where the body leaves them out."""
    given = raw.get("apiVersion") or ""
    wanted = body.api_version
    if not given and not body.kind.custom:
        given = wanted
    if given != wanted:
        raise BadRequest(f"the API version in the data ({given}) does not match the expected API version ({wanted})")
    if not body.kind.custom and kind != body.kind.kind:
        group = body.kind.group or "core"
        known = (
            f"converting ({body.version.name}.{kind}) to ({group.split('.')[0]}.{body.kind.kind}): unknown conversion"
        )
        raise BadRequest(f"{_cannot(body, kind)}: {known}")
    return raw if body.kind.custom else {**raw, "kind": kind, "apiVersion": given}
