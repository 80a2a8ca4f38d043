"""JSON patch (RFC 6902) as a real server applies it, with the deviations of its library.

Beyond the RFC, negative indices count from the end, and replace adds a missing key. A copy of a missing key and an add
without a value give null. A test for null succeeds for a missing value. Source: evanphx/json-patch v4 with
kube-apiserver's limits, and the recorded answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from podless.codec import gotext, serializer
from podless.fields import patchtext
from podless.fields.patchtext import WrittenValue
from podless.meta.errors import BadRequest, TooLarge, Unprocessable
from podless.runtime.meter import charge, each
from podless.structs.gotypes import explain_unmarshal

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024  # bytes of JSON that all copy operations of one patch may add
_COPIED = 32  # bytes encoded or decoded in one step of the meter
REJECTED = "the server rejected our request due to an error in our request"

_FIELDS = ("op", "path", "from", "value")
_INDEX = re.compile(r"[-+]?[0-9]{1,18}")
_OP = "jsonPatchOp"
_OP_TYPE = f"handlers.{_OP}"
_NOTHING = object()


def apply_json_patch(document: Any, raw: bytes, *, checked: bool = True, for_error: bool = False) -> Any:
    """Return the document after the operations of a patch. Unchanged parts are shared with the given document.

    checked: the fields of operations must have the right types (not required with fieldValidation=Ignore). for_error:
    as in `SentPatch`. Raises BadRequest for an invalid patch, TooLarge for too many operations and Unprocessable for an
    operation that fails.
    """
    operations = decode_json_patch(raw, checked=checked)
    if not operations:
        return document
    patch = _Patch(document, for_error=for_error)
    if for_error:
        operations = patchtext.read_written_values(raw, operations)
    for operation in each(_restore_test_values(operations, raw)):
        word = operation.get("op")
        step = _STEPS.get(word) if isinstance(word, str) else None
        if step is None:
            raise OperationRejected(f"Unexpected kind: {word if isinstance(word, str) else 'unknown'}")
        step(patch, operation)
    if patch.grown and not for_error and serializer.is_too_deep(patch.root):
        raise OperationRejected("exceeded max depth")
    patch.sort_keys()
    return patch.show_document() if for_error else patch.root


def decode_json_patch(raw: bytes, *, checked: bool = True) -> list[dict[str, Any]]:
    """Return the operations in a patch. Raises BadRequest and TooLarge."""
    prefix = "error decoding patch: " if checked else ""
    try:
        patch = serializer.decode_json(raw)
    except serializer.JSONError as error:
        reason = error.message
        if checked:  # only a value can contain a number out of range
            reason = reason.replace("Go value of type float64", f"Go struct field {_OP}.value of type float64")
        raise BadRequest(f"{prefix}{reason}") from None
    patch = [] if patch is None else patch
    if fault := _find_type_fault(patch, checked):
        raise BadRequest(f"{prefix}{fault}")
    if len(patch) > MAX_OPERATIONS:
        limit = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        raise TooLarge(f"Request entity too large: {limit}")
    return [{} if operation is None else operation for operation in patch]


_FLOAT = re.compile(rb"[0-9][.eE]")


def find_floats(raw: bytes) -> serializer.Floats:
    """Return the whole numbers that a valid patch gives as floats, with their places in the patched document."""
    if not _FLOAT.search(raw):
        return []
    floats: serializer.Floats = []
    patch = serializer.decode_json(raw, floats=floats)
    placed: serializer.Floats = []
    for (number, key, *steps_after), value in each(floats):
        operation = patch[number]
        if key == "value" and operation.get("op") in ("add", "replace"):
            _, *steps = str(operation.get("path")).split("/")
            placed.append(((*(step.replace("~1", "/").replace("~0", "~") for step in steps), *steps_after), value))
    return placed


def find_unknown_fields(raw: bytes) -> list[str]:
    """Return the errors that only a strict decoder finds in a patch: unknown or repeated fields of operations."""
    repeated: list[str] = []
    patch = serializer.decode_json(raw, repeated)
    unknown_fields = [f"json patch {finding}" for finding in repeated]
    for number, operation in enumerate(each(patch or [])):
        unknown = [key for key in each(operation or {}) if key not in _FIELDS]
        unknown_fields += (f"json patch unknown field {gotext.quote(f'[{number}].{key}')}" for key in unknown)
    return unknown_fields


def _find_type_fault(patch: Any, checked: bool) -> str:
    """Return the error of a patch that is no list of objects, or of fields of the wrong types if `checked`; or ""."""
    if not isinstance(patch, list):
        return explain_unmarshal(patch, f"value of type {f'[]{_OP_TYPE}' if checked else 'jsonpatch.Patch'}")
    for operation in each(patch):
        if operation is not None and not isinstance(operation, dict):
            return explain_unmarshal(operation, f"value of type {_OP_TYPE if checked else 'jsonpatch.Operation'}")
    for operation in each(patch) if checked else ():
        for key, value in each(operation or {}).items():
            if key in _FIELDS[:3] and value is not None and not isinstance(value, str):
                return explain_unmarshal(value, f"struct field {_OP}.{key} of type string")
    return ""


def _restore_test_values(operations: list[dict[str, Any]], raw: bytes) -> list[dict[str, Any]]:
    """Return the operations, tests with numbers as written, because a test compares texts: 1.0 is not 1."""
    if not any(operation.get("op") == "test" for operation in each(operations)):
        return operations
    try:
        written = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return operations
    return [
        written[index] if operation.get("op") == "test" else operation for index, operation in enumerate(operations)
    ]


_MISSING = {
    "add": 'doc is missing path: "{path}"',
    "remove": 'doc is missing path: "{path}"',
    "replace": "doc is missing path: {path}",
    "move": "doc is missing from path: {from}",
    "copy": "doc is missing from path: {from}",
    "test": "is missing path: {path}",
}
_DESTINATION = "doc is missing destination path: {path}"


class OperationRejected(Unprocessable):
    """An operation failed. A real server does not tell the client which one or why.

    why: the text for the author of the patch. untrue: a test operation did not hold.
    """

    def __init__(self, reason: str = "", *, untrue: bool = False) -> None:
        super().__init__(REJECTED, {})
        self.why = reason
        self.untrue = untrue


class _MissingPlace(Exception):
    """A path does not exist. The text says why."""


def _make_missing(operation: dict[str, Any], message: str = "") -> OperationRejected:
    """Return the error of a missing container on the path of an operation."""
    template = message or _MISSING[operation["op"]]
    text = template.format(**{"path": operation.get("path"), "from": operation.get("from")})
    return OperationRejected(f"{operation['op']} operation does not apply: {text}: missing value")


def _read_word(operation: dict[str, Any], key: str) -> str:
    op, word = operation["op"], operation.get(key)
    if isinstance(word, str):
        return word
    if op in ("add", "remove") or (op, key) == ("copy", "path"):
        reason = "missing value"
    elif word is not None:
        reason = explain_unmarshal(word, "value of type string")
    else:
        reason = f"operation{' missing path' if key == 'path' else ', missing from'} field: missing value"
    raise OperationRejected(f"{op} operation failed to decode {key}: {reason}")


class _Patch:
    """The document while it changes: a container is copied before the first write to it."""

    def __init__(self, root: Any, *, for_error: bool) -> None:
        self.root = root
        self.for_error = for_error
        self.copies: dict[int, Any] = {}
        self.copied = 0
        self.grown = False  # whether an operation can have made the document deeper

    def find_holder(
        self, operation: dict[str, Any], key: str = "path", message: str = "", *, write: bool = True
    ) -> tuple[Any, str]:
        """Return the container that a pointer ends in, and the last part of the pointer.

        key: of the pointer. message: the error text for a missing container, if not the usual one of the operation.
        Raises OperationRejected.
        """
        _, *steps = _read_word(operation, key).split("/")
        each(steps)
        if not steps:
            raise _make_missing(operation, message)
        write = write or self.for_error  # Go shows every object that a pointer leads through with sorted keys
        *parents, last = (step.replace("~1", "/").replace("~0", "~") for step in steps)
        self.root = _read_text(self.root)
        if write:
            self.root = self.own_container(self.root)
        holder = self.root
        for step in parents:
            try:
                child = _get_value(holder, step)
            except _MissingPlace:
                raise _make_missing(operation, message) from None
            if write and isinstance(child, dict | list):
                child = self.own_container(child)
                holder[_find_index(holder, step) if isinstance(holder, list) else step] = child
            holder = child
        if not isinstance(holder, dict | list):
            raise _make_missing(operation, message)
        return holder, last

    def own_container(self, container: Any) -> Any:
        if id(container) in self.copies:
            return container
        own_copy = container.copy()
        self.copies[id(own_copy)] = own_copy
        return own_copy

    def sort_keys(self) -> None:
        """Sort the keys of the objects that were changed, as a real server does."""
        each(self.copies)
        for container in self.copies.values():
            if isinstance(container, dict):
                items = sorted(container.items())
                container.clear()
                container.update(items)

    def show_document(self) -> Any:
        """Return the document for encoding, with values as they were written."""
        for container in each(self.copies).values():
            each(container)
            for key, item in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(item, WrittenValue):
                    container[key] = orjson.Fragment(item.raw)
        return orjson.Fragment(self.root.raw) if isinstance(self.root, WrittenValue) else self.root

    def add_value(self, operation: dict[str, Any]) -> None:
        holder, key = self.find_holder(operation)
        self.grown = True
        _insert_value(holder, key, operation.get("value"), f"error in add for path: '{operation['path']}'")

    def remove_value(self, operation: dict[str, Any]) -> None:
        holder, key = self.find_holder(operation)
        _pop_value(holder, key, f"error in remove for path: '{operation['path']}'")

    def replace_value(self, operation: dict[str, Any]) -> None:
        value = operation.get("value")
        self.grown = True
        if not _read_word(operation, "path"):
            if not isinstance(_read_text(value), dict | list):
                raise OperationRejected("replace operation value must be object or array: %!w(<nil>)")
            self.root = value
            return
        holder, key = self.find_holder(operation)
        if isinstance(holder, dict):
            holder[key] = value
            return
        try:
            holder[_find_index(holder, key)] = value
        except _MissingPlace:
            raise _make_missing(operation, "doc is missing key: {path}") from None

    def move_value(self, operation: dict[str, Any]) -> None:
        source, name = self.find_holder(operation, "from")
        value = _pop_value(source, name, f"error in move for path: '{name}'")
        self.grown = True
        holder, key = self.find_holder(operation, message=_DESTINATION)
        _insert_value(holder, key, value, f"error in move for path: '{operation['path']}'")

    def copy_value(self, operation: dict[str, Any]) -> None:
        source, name = self.find_holder(operation, "from", write=False)
        try:
            value = _get_value(source, name, None, read=False)
        except _MissingPlace as fault:
            raise OperationRejected(f"error in copy for from: '{operation['from']}': {fault}") from None
        self.grown = True
        if not self.for_error and serializer.is_too_deep(value):
            raise OperationRejected("exceeded max depth")
        holder, key = self.find_holder(operation, message=_DESTINATION)
        if self.for_error:
            self.sort_keys()
        raw = value.raw if isinstance(value, WrittenValue) else serializer.encode_json(value)
        charge(len(raw) // _COPIED)
        self.copied += len(raw)
        if self.copied > MAX_COPIED:
            reason = f"Unable to complete the copy, the accumulated size increase of copy is {self.copied}"
            raise OperationRejected(f"{reason}, exceeding the limit {MAX_COPIED}")
        message = "error while adding value during copy"
        if self.for_error:
            _insert_value(holder, key, WrittenValue(raw), message)
        else:
            copied_value = serializer.decode_json(raw) if isinstance(value, dict | list) else value
            charge(len(raw) // _COPIED)
            _insert_value(holder, key, copied_value, message)

    def test_value(self, operation: dict[str, Any]) -> None:
        path = _read_word(operation, "path")
        actual = self.root
        if path:
            holder, key = self.find_holder(operation, write=False)
            try:
                actual = _get_value(holder, key, None)
            except _MissingPlace as fault:
                raise OperationRejected(f"error in test for path: '{path}': {fault}") from None
        if not _are_equal(actual, operation.get("value")):
            raise OperationRejected(f"testing value {path} failed: test failed", untrue=True)


_STEPS: dict[str, Callable[[_Patch, dict[str, Any]], None]] = {
    "add": _Patch.add_value,
    "remove": _Patch.remove_value,
    "replace": _Patch.replace_value,
    "move": _Patch.move_value,
    "copy": _Patch.copy_value,
    "test": _Patch.test_value,
}


def _find_index(holder: list[Any], key: str, room: int = 0) -> int:
    """Return the index in a list that a pointer's part names, up to `room` beyond the end. Raises _MissingPlace."""
    if not _INDEX.fullmatch(key):
        prefix = f"value was not a proper array index: '{key}': " if room else ""
        raise _MissingPlace(f"{prefix}strconv.Atoi: parsing {gotext.quote(key)}: invalid syntax")
    index, count = int(key), len(holder) + room
    if not -count <= index < count:
        raise _MissingPlace(f"Unable to access invalid index: {index}: invalid index referenced")
    return index % count


def _get_value(holder: Any, key: str, default: Any = _NOTHING, *, read: bool = True) -> Any:
    """Return the value of a key or index. Raises _MissingPlace."""
    if isinstance(holder, list):
        value = holder[_find_index(holder, key)]
    else:
        value = holder.get(key, default) if isinstance(holder, dict) else _NOTHING
    if value is _NOTHING:
        raise _MissingPlace
    return _read_text(value) if read else value


def _read_text(value: Any) -> Any:
    """Decode a written value when an operation needs its content."""
    return orjson.loads(value.raw) if isinstance(value, WrittenValue) else value


def _insert_value(holder: Any, key: str, value: Any, message: str) -> None:
    """Insert a value at a key or index. message: start of the error text. Raises OperationRejected."""
    if isinstance(holder, dict):
        holder[key] = value
    elif key == "-":
        holder.append(value)
    else:
        try:
            holder.insert(_find_index(holder, key, room=1), value)
        except _MissingPlace as fault:
            raise OperationRejected(f"{message}: {fault}") from None


def _pop_value(holder: Any, key: str, message: str) -> Any:
    """Remove and return the value of a key or index. message: as for `_insert_value`. Raises OperationRejected."""
    if isinstance(holder, list):
        try:
            return holder.pop(_find_index(holder, key))
        except _MissingPlace as fault:
            raise OperationRejected(f"{message}: {fault}") from None
    if key not in holder:
        raise OperationRejected(f"{message}: Unable to remove nonexistent key: {key}: missing value")
    return holder.pop(key)


def _are_equal(left: Any, right: Any) -> bool:
    """Return whether two values have equal JSON, apart from the order of keys."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict | list):
        charge(len(left))
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            key in right and _are_equal(item, right[key]) for key, item in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_are_equal, left, right))
    return bool(left == right)
