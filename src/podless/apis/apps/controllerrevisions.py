"""ControllerRevision. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

from typing import Any

from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gotext, jsontext
from podless.codec.positions import TOKEN
from podless.kinds.kind import Version
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import gosyntax


class _Spaced(dict[str, Any]):
    """Data that was written with white space, or with characters that Go escapes. raw: as it was written."""

    raw: str


class ControllerRevisionStrategy(TypedStrategy):
    """Strategy of ControllerRevision, whose data is immutable.

    kube-apiserver compares the bytes of the data. They are stored as Go writes JSON, so data with white space or an
    unescaped < differs. The notation of numbers is lost, so podless does not compare it.
    """

    def note_raw_json(self, obj: Object, raw: bytes) -> None:
        """Record whether the data is written as it would be stored."""
        data = obj.get("data")
        if isinstance(data, dict):
            text, is_stored = _find_data(jsontext.decode_utf8(raw))
            if not is_stored:
                obj["data"] = spaced = _Spaced(data)
                spaced.raw = text

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        data = obj.get("data")
        yield from checks.validate_nonnegative("revision", obj.get("revision"))
        if old is not None:
            if isinstance(data, _Spaced) or not _is_written_alike(data, old.get("data")):
                yield immutable_error("data", _format_data(data))
        elif data is None:
            yield field.required("data", "data is mandatory")
        elif not isinstance(data, dict):
            yield field.required("data", "data must be a valid JSON object")


def _format_data(data: Any) -> Any:
    """Return the data as errors show it: as JSON, or in older releases as bytes of a Go type."""
    if has("ValuesAsJSON"):
        return data
    raw = data.raw if isinstance(data, _Spaced) else gotext.format_json(data)
    text = "[]uint8(nil)" if data is None else gosyntax.write_bytes(raw.encode())
    if has("PlainRevisionData"):
        return gotext.Literal(f"runtime.RawExtension{{Raw:{text}, Object:runtime.Object(nil)}}")
    type_meta = 'TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}'
    encoding = 'ContentEncoding:"", ContentType:"application/json"'
    return gotext.Literal(f"runtime.Unknown{{{type_meta}, Raw:{text}, {encoding}}}")


def _find_data(text: str) -> tuple[str, bool]:
    """Return the data in an object's JSON (the last field of that name), and whether it is written as it is stored."""
    depth, last, expected_at, sound = 0, "", -1, True  # place: where the next token of the data must begin
    start = end = 0
    for match in TOKEN.finditer(text):
        token = match[0]
        depth -= token in "]}"
        if expected_at >= 0:
            sound = sound and match.start() == expected_at and gotext.escape_json(token) == token
            end = match.end()
            expected_at = -1 if depth == 1 and token not in "[{" else end
        elif depth == 1 and token == ":" and last == '"data"':
            begun = jsontext.BLANKS.match(text, match.end())
            start = expected_at = begun.end() if begun else match.end()
            sound = True
        depth += token in "[{"
        last = token
    return text[start:end], sound


def _is_written_alike(first: Any, second: Any) -> bool:
    """Return whether two values are written alike, with the same order of keys."""
    if type(first) is dict and type(second) is dict:
        return list(first) == list(second) and all(map(_is_written_alike, first.values(), second.values()))
    if type(first) is list and type(second) is list:
        return len(first) == len(second) and all(map(_is_written_alike, first, second))
    return bool(first == second) and (type(first) is bool) == (type(second) is bool)


STRATEGY = ControllerRevisionStrategy()
