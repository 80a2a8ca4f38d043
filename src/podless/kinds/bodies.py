"""Decodes request bodies to objects of a kind, with the recorded errors. Needs no server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Protocol

from podless import schema
from podless.codec import gotext, jsontext, sentfloats, serializer
from podless.codec.serializer import Floats
from podless.kinds import scheme
from podless.kinds.kind import Kind, Version
from podless.meta.errors import BadRequest
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.structs import gotypes, protobuf, repeats, structs
from podless.structs.structs import Struct

_HEAD = ("kind", "apiVersion")


class SentBody(Protocol):
    """An object that a client sent, to decode as one version of a kind."""

    kind: Kind
    version: Version
    body: bytes  # as sent
    content_type: str  # media type of the body
    validation: str  # Strict, Warn or Ignore, for unknown and repeated fields
    # set by `read_body`:
    warnings: list[str]  # texts for the client
    floats: Floats  # integers that the body has as floats, such as 1.0
    schema_valid: bool  # only the metadata of the object still needs validation; False if in doubt

    @property
    def api_version(self) -> str:
        """The apiVersion that the object must have."""


@dataclass(slots=True)
class Body:
    """A body without the rest of its request."""

    kind: Kind
    version: Version
    body: bytes
    content_type: str = ""
    validation: str = "Warn"
    warnings: list[str] = field(default_factory=list)
    floats: Floats = field(default_factory=list)
    schema_valid: bool = False

    @property
    def api_version(self) -> str:
        """The apiVersion that the object must have."""
        return self.kind.api_version(self.version.name)


def read_body(sent: SentBody) -> Object:
    """Decode an object of the right kind and version, with defaults and without unknown fields.

    Unknown and repeated fields are rejected, reported as warnings or dropped. Raises BadRequest.
    """
    repeated: list[str] = []
    strict = sent.validation != "Ignore"
    struct = sent.kind.struct_of(sent.version)
    if sent.content_type.startswith(protobuf.MEDIA) and struct is not None:
        raw, kind = _decode_message(sent, struct)
    else:
        yaml = sent.content_type.startswith("application/yaml")
        parsed = _parse_body(sent, yaml, repeated if strict or struct is not None else None)
        if repeated and struct is not None and not yaml:
            findings: list[str] = []
            parsed = repeats.decode_repeats(struct, sent.body, findings)
            repeated = findings
        if yaml and struct is not None:
            parsed = gotypes.rewrite_fields(parsed, sent.kind.list_raw_fields(sent.version))
        kind, raw = sent.kind.kind, parsed
        if not (
            sent.kind.custom
            and parsed.__class__ is dict
            and parsed.get("kind") == kind
            and parsed.get("apiVersion") == sent.kind.api_versions[sent.version.name]
        ):
            kind = _read_kind(sent, parsed)
            raw = parsed or {}
            _read_foreign(sent, raw, kind, repeated)
            raw = _check_version(sent, raw, kind, repeated)
        # an integer with a point or an exponent is an error; in YAML bodies numbers are normalized already
        if struct is not None and sent.floats and not yaml and (problem := _describe_number(sent, "")):
            raise BadRequest(f"{_cannot_text(sent, kind)}: {problem}")
    unknown: list[str] = []
    try:
        if sent.kind.custom:
            obj = raw
            sent.schema_valid = (
                sent.kind.strategy.decode_and_check(sent.kind, sent.version, obj, unknown) and not sent.floats
            )
        else:
            obj = sent.kind.strategy.decode(sent.kind, sent.version, raw, unknown)
    except structs.NumberError as error:
        raise BadRequest(f"{_cannot_text(sent, kind)}: {_describe_number(sent, str(error))}") from None
    except (structs.DecodeError, schema.Malformed) as error:
        raise BadRequest(f"{_cannot_text(sent, kind)}: {error}") from None
    if repeated or unknown:
        _note_fields(sent, kind, sent.version.name, repeated, unknown)
    return obj


def name_unknown(kind: Kind, paths: Iterable[str]) -> list[str]:
    """Return the message for unknown fields; custom objects show the paths unchanged."""
    show = '"{}"'.format if kind.custom else gotext.quote
    return [f"unknown field {show(path)}" for path in paths]


def _read_foreign(sent: SentBody, raw: Object, kind: str, repeated: list[str]) -> None:
    """Decode a custom object of another version as far as possible, before it is rejected. Raises BadRequest."""
    api_version = raw.get("apiVersion")
    if not sent.kind.custom or api_version == sent.api_version:
        return
    if api_version is None and "apiVersion" in raw:
        raise BadRequest(f"{_cannot_text(sent, kind, '')}: {scheme.NULL_VERSION}")
    version = str(api_version or "").rpartition("/")[2]
    unknown: list[str] = []
    try:
        sent.kind.strategy.decode(sent.kind, sent.version, dict(raw), unknown, fill=False)
    except (structs.DecodeError, schema.Malformed) as error:
        raise BadRequest(f"{_cannot_text(sent, kind, version)}: {error}") from None
    _note_fields(sent, kind, version, repeated, unknown)


def _note_fields(sent: SentBody, kind: str, version: str, repeated: Sequence[str], unknown: Sequence[str]) -> None:
    """Reject unknown and repeated fields, or add warnings. Raises BadRequest."""
    if not repeated and not unknown:
        return
    findings = list(dict.fromkeys([*repeated, *name_unknown(sent.kind, unknown)]))
    if sent.validation == "Strict" and findings:
        # by now a custom object has been decoded, and has the kind that it names
        start = _cannot_text(sent, kind, version, kind if sent.kind.custom else "")
        raise BadRequest(f"{start}: strict decoding error: {serializer.format_strict_error(findings)}")
    if sent.validation != "Ignore":
        sent.warnings += findings


def _parse_body(sent: SentBody, yaml: bool, repeated: list[str] | None) -> Any:
    try:
        return (
            serializer.decode_yaml(sent.body, repeated)
            if yaml
            else serializer.decode_json(sent.body, repeated, sent.floats)
        )
    except serializer.YAMLError as error:
        raise BadRequest(f"{_unrecognized_text(sent)}: {error.message} {_body_snippet(sent)}") from None
    except jsontext.OutOfRange as error:
        raise _out_of_range(sent, error) or _unreadable_error(sent, error) from None
    except serializer.JSONError as error:
        raise _unreadable_error(sent, error) from None


def _unreadable_error(sent: SentBody, error: serializer.JSONError) -> BadRequest:
    return BadRequest(f"{_unrecognized_text(sent)}: {scheme.unreadable_error(error)} {_body_snippet(sent)}")


def _out_of_range(sent: SentBody, error: jsontext.OutOfRange) -> BadRequest | None:
    """Return the error for a number out of range, with the body's kind and version; None if the body names no kind."""
    raw = json.loads(jsontext.decode_utf8(sent.body), parse_int=float)
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or not kind or not isinstance(raw.get("apiVersion", ""), str):
        return None
    version = raw.get("apiVersion", "").rpartition("/")[2]
    return BadRequest(f"{_cannot_text(sent, kind, version)}: {error}")


def _decode_message(sent: SentBody, struct: Struct) -> tuple[Object, str]:
    """Return the object in a protobuf body, and its kind."""
    try:
        api_version, kind, message = protobuf.open_envelope(sent.body)
    except protobuf.ProtobufError as error:
        raise BadRequest(f"{_unrecognized_text(sent)}: {error} {_body_snippet(sent)}") from None
    head = _check_version(sent, {"apiVersion": api_version, "kind": kind}, kind or sent.kind.kind)
    try:
        return head | protobuf.decode_message(struct, message), head["kind"]
    except protobuf.ProtobufError as error:
        raise BadRequest(f"{_cannot_text(sent, head['kind'])}: {error}") from None


def _describe_number(sent: SentBody, text: str) -> str:
    """Return the error text for a number of the wrong type, with the number as it was sent."""
    try:
        sent_text = sentfloats.decode_as_written(sent.body)
        sent.kind.strategy.decode(sent.kind, sent.version, {"kind": "", "apiVersion": "", **sent_text}, [], fill=False)
    except structs.DecodeError as error:
        return str(error)
    except (ValueError, RecursionError):  # the body is YAML
        pass
    return text


def _unrecognized_text(sent: SentBody) -> str:
    return f"the object provided is unrecognized (must be of type {sent.kind.kind})"


def _cannot_text(sent: SentBody, kind: str, version: str | None = None, expected: str = "") -> str:
    """Return the start of the error. kind, version: those of the body. expected: the kind, if not that of the path."""
    version_text = gotext.quote(sent.version.name if version is None else version)
    return f"{kind} in version {version_text} cannot be handled as a {expected or sent.kind.kind}"


def _read_kind(sent: SentBody, raw: Any) -> str:
    """Return the kind of the body. A null after another value counts when the object is decoded, not here."""
    try:
        kind = scheme.read_type_meta(raw).kind
    except ValueError as error:
        raise BadRequest(f"{_unrecognized_text(sent)}: {error} {_body_snippet(sent)}") from None
    if kind:
        return kind
    if not sent.kind.custom:
        return sent.kind.kind
    if sent.validation != "Ignore":
        raise BadRequest(f"{_unrecognized_text(sent)}: {_missing_kind_text(sent.body)} {_body_snippet(sent)}")
    yaml = sent.content_type.startswith("application/yaml")
    # this error shows the kind and version of the path for those that the body lacks
    kind_name, api_version = ((raw or {}).get(name) if yaml else repeats.find_last(sent.body, name) for name in _HEAD)
    version = str(api_version or sent.api_version).rpartition("/")[2]
    missing = _missing_kind_text(serializer.encode_sorted(raw or {}) if yaml else sent.body)
    raise BadRequest(f"{_cannot_text(sent, kind_name or sent.kind.kind, version)}: {missing}")


def _missing_kind_text(raw: bytes) -> str:
    return f"Object 'Kind' is missing in '{raw.decode('utf-8', 'replace')}'"


def _body_snippet(sent: SentBody) -> str:
    """Return the start of the body for an error text."""
    return f"({serializer.format_snippet(sent.body)})"


def _read_other(sent: SentBody, raw: Object, kind: str, api_version: str, repeated: Sequence[str]) -> None:
    """Decode a built-in object in the version that it names, to report its errors. Raises BadRequest."""
    struct = _struct_of(sent.kind, api_version)
    if struct is None or sent.content_type.startswith(protobuf.MEDIA):
        return
    unknown: list[str] = []
    version = api_version.rpartition("/")[2]
    try:
        structs.decode_struct(struct, raw, unknown)
    except structs.DecodeError as error:
        raise BadRequest(f"{_cannot_text(sent, kind, version)}: {error}") from None
    _note_fields(sent, kind, version, repeated, unknown)


def _struct_of(kind: Kind, api_version: str) -> Struct | None:
    """Return the fields of a built-in kind in a version, also in one that is only read."""
    for view in kind.views:
        for name, version in view.by_version.items():
            if view.api_version(name) == api_version:
                return view.struct_of(version)
    # versions that a real server decodes but no longer serves have the fields of v1
    group = api_version.rpartition("/")[0]
    return next((view.struct for view in kind.views if view.group == group), None)


def _check_version(sent: SentBody, raw: Object, kind: str, repeated: Sequence[str] = ()) -> Object:
    """Return the body with its kind and version; for built-in kinds, those of the path are the defaults.

    A body of another version is decoded as that first, to report all its errors.
    """
    sent_version, api_version = raw.get("apiVersion") or "", sent.api_version
    if not sent.kind.custom:
        sent_version = api_version if sent_version in ("", "/") else sent_version
        if problem := sent.kind.explain_mismatch(kind, sent_version):
            raise BadRequest(f"{_cannot_text(sent, kind, sent_version.rpartition('/')[2])}: {problem}")
    if sent_version != api_version:
        _read_other(sent, raw, kind, sent_version, repeated)
        raise BadRequest(
            f"the API version in the data ({sent_version}) does not match the expected API version ({api_version})"
        )
    return raw if sent.kind.custom else {**raw, "kind": kind, "apiVersion": sent_version}
