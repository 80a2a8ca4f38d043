"""ControllerRevision. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

from typing import Any

from podless.apis.shared import checks
from podless.apis.shared.immutable import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gotext, jsontext
from podless.codec.positions import TOKEN
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Faults
from podless.meta import field
from podless.runtime.jsonobject import Object


class _Spaced(dict[str, Any]):
    """A state that was written with blanks, or with characters that are stored as escapes."""


class ControllerRevisionStrategy(TypedStrategy):
    """A state to go back to, which does not change.

    It is stored without blanks, as Go writes JSON, and its bytes are compared: a client that writes blanks or a bare <
    has written another one. Only how numbers are written is not known any longer.
    """

    def written(self, obj: Object, raw: bytes) -> None:
        """Note whether the data is written in the form in which it would be stored."""
        data = obj.get("data")
        if isinstance(data, dict) and not _as_stored(jsontext.decode_utf8(raw)):
            obj["data"] = _Spaced(data)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Faults:
        errors, data = checks.validate_nonnegative("revision", obj.get("revision")), obj.get("data")
        if data is None:
            errors.append(field.required("data", "data is mandatory"))
        elif not isinstance(data, dict):
            errors.append(field.required("data", "data must be a valid JSON object"))
        return errors

    def validate_update(self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        errors = checks.validate_nonnegative("revision", obj.get("revision"))
        data = obj.get("data")
        if isinstance(data, _Spaced) or not _same(data, old.get("data")):
            errors.append(immutable_error("data", data))
        return errors


def _as_stored(text: str) -> bool:
    """Return whether the state in an object's JSON, the last one of that name, is written as it would be stored."""
    depth, last, place, sound = 0, "", -1, True  # place: where the next token of the state has to begin
    for match in TOKEN.finditer(text):
        token = match[0]
        depth -= token in "]}"
        if place >= 0:
            sound = sound and match.start() == place and gotext.escape_json(token) == token
            place = -1 if depth == 1 and token not in "[{" else match.end()
        elif depth == 1 and token == ":" and last == '"data"':
            begun = jsontext.BLANKS.match(text, match.end())
            place, sound = begun.end() if begun else match.end(), True
        depth += token in "[{"
        last = token
    return sound


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are written alike, with their keys in the same order."""
    if type(one) is dict and type(other) is dict:
        return list(one) == list(other) and all(map(_same, one.values(), other.values()))
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) and (type(one) is bool) == (type(other) is bool)


STRATEGY = ControllerRevisionStrategy()
