"""Options of requests, from the query or the body of deletes, validated with the recorded texts."""

from __future__ import annotations

import re
from dataclasses import field as field_
from typing import Any

from podless.apis.release import RECORDED_FACTS
from podless.codec import gotext, sentfloats, serializer
from podless.codec.gotext import Named
from podless.kinds.scheme import (
    UNVERSIONED,
    explain_inconvertible,
    explain_unregistered,
    read_type_meta,
    unreadable_error,
)
from podless.meta import field, objectmeta, selectors
from podless.meta.errors import APIError, BadRequest, Internal, Invalid, Timeout
from podless.meta.field import FieldError
from podless.meta.selectors import FieldSelector, LabelSelector
from podless.runtime.bounded import bounded_cache
from podless.runtime.dataclass import dataclass
from podless.runtime.release import has
from podless.structs import protobuf, structs
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct
from podless.verbs.call import API, Call

DELETE_OPTIONS = load_struct("meta/v1", "DeleteOptions")

_GROUP = "meta.k8s.io"
_MATCH, _INITIAL, _NOT_OLDER = "resourceVersionMatch", "sendInitialEvents", "NotOlderThan"
_VALIDATIONS = ["", "Ignore", "Strict", "Warn"]
_POLICIES = ["Foreground", "Background", "Orphan", "nil"]
# characters; longer selectors are parsed and prepared for matching in slices, others prepared at the first match
_SLICED_SELECTORS = 1024
_SELECTOR = 8  # parsing a selector costs as much as decoding an object of 8 times its length
_POINT = re.compile(rb"[0-9][.eE]")
# other kinds that the scheme of options knows by their versions, and those that it knows in all versions
_ANSWERS = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList", "Table", "TableOptions"})
_OTHER_KINDS = {
    f"{_GROUP}/v1": _ANSWERS | {"GetOptions", "ListOptions", "PatchOptions", "WatchEvent"},
    f"{_GROUP}/v1beta1": _ANSWERS,
}
_ANY_VERSION = UNVERSIONED | {"CreateOptions", "UpdateOptions"}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of create, update and patch. validation: Strict, Warn or Ignore (unknown and repeated fields)."""

    dry_run: bool
    validation: str
    manager: str


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of list, watch and deletecollection. revision: "" if not given.

    initial: whether a watch starts with the present state; None: the revision decides.
    """

    labels: LabelSelector
    fields: FieldSelector
    limit: int
    token: str
    revision: str
    match: str
    timeout: int | None
    bookmarks: bool
    initial: bool | None


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of a delete.

    policy: Orphan, Foreground, Background or "" (the kind's default). document: the options as sent. uid, revision:
    preconditions; None if not given. No object meets "".
    """

    dry_run: bool
    policy: str
    uid: str | None
    revision: str | None
    document: dict[str, Any] = field_(default_factory=dict)


_PLAIN_WRITE = WriteOptions(False, "Warn", "")
_PLAIN_LIST = ListOptions(selectors.parse_labels(""), selectors.parse_fields(""), 0, "", "", "", None, False, None)


def read_text(call: Call, name: str) -> str:
    """Return the first value of a parameter, or ""."""
    values = call.query.get(name)
    return values[0] if values else ""


def read_boolean(call: Call, name: str) -> bool | None:
    """Parse a boolean parameter, None if not given. As on a real server, everything except false and 0 is true."""
    values = call.query.get(name)
    return values[0].lower() not in ("false", "0") if values else None


def read_integer(call: Call, name: str) -> int | None:
    """Parse an int64 parameter, None if not given. Raises BadRequest."""
    values = call.query.get(name)
    return parse_int(values[0]) if values else None


def refuse_export(call: Call) -> None:
    """Raise BadRequest for the removed parameter export."""
    if read_boolean(call, "export"):
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")


def parse_int(value: str) -> int:
    """Parse a decimal int64. Raises BadRequest with Go's text."""
    try:
        return gotext.parse_int(value)
    except ValueError as error:
        raise BadRequest(str(error)) from None


def make_revision_error(value: str, error: ValueError) -> str:
    """Return the error text for an invalid resourceVersion."""
    return f"resourceVersion: Invalid value: {gotext.quote(value)}: {error}"


def _read_dry_run(values: list[str]) -> tuple[bool, list[FieldError]]:
    if any(value != "All" for value in values):
        return False, [field.not_supported("dryRun", values, ["All"])]
    return bool(values), []


def _raise_invalid(kind: str, errors: list[FieldError]) -> None:
    if errors:
        raise Invalid(kind, _GROUP, "", errors)


def read_write_options(call: Call, kind: str, *, apply: bool = False) -> WriteOptions:
    """Return the options of a write. kind: CreateOptions, UpdateOptions or PatchOptions. Raises Invalid."""
    query = call.query
    if not query and not apply:
        return _PLAIN_WRITE
    manager, validation = read_text(call, "fieldManager"), read_text(call, "fieldValidation")
    return _make_write_options(kind, apply, "force" in query, manager, validation, tuple(query.get("dryRun", ())))


@bounded_cache(256)  # clients have few managers
def _make_write_options(
    kind: str, apply: bool, forced: bool, manager: str, validation: str, dry: tuple[str, ...]
) -> WriteOptions:
    """Return the options of a write. forced: they have `force`. dry: the values of dryRun. Raises Invalid."""
    errors: list[FieldError] = []
    if apply and not manager:
        errors.append(field.required("fieldManager", "is required for apply patch"))
    elif kind == "PatchOptions" and not apply and forced:
        errors.append(field.forbidden("force", "may not be specified for non-apply patch"))
    dry_run, unsupported = _read_dry_run(list(dry))
    errors += objectmeta.check_field_manager(manager, "fieldManager") + unsupported
    errors += field.one_of("fieldValidation", validation, _VALIDATIONS, named=False)
    _raise_invalid(kind, errors)
    return WriteOptions(dry_run, validation or "Warn", manager)


def list_options(call: Call, parsed: tuple[LabelSelector, FieldSelector] | None = None) -> ListOptions:
    """Return validated options of a list or watch. parsed: the selectors, if parsed. Raises BadRequest or Invalid."""
    if not call.query:
        return _PLAIN_LIST
    timeout, limit = read_integer(call, "timeoutSeconds"), read_integer(call, "limit") or 0
    labels, fields = parsed or _parse_selectors(read_text(call, "labelSelector"), read_text(call, "fieldSelector"))
    revision, match, initial = read_text(call, "resourceVersion"), read_text(call, _MATCH), None
    if _INITIAL in call.query:
        initial = read_boolean(call, _INITIAL)
    # only the parameter counts: a real server validates options of paths with watch/ as those of a list
    watch = bool(read_boolean(call, "watch"))
    if watch and initial is None and not match and revision in ("", "0") and has("WatchList"):
        initial, match = True, _NOT_OLDER
    options = ListOptions(
        labels=labels,
        fields=fields,
        limit=max(limit, 0),
        token=read_text(call, "continue"),
        revision=revision,
        match=match,
        timeout=timeout,
        bookmarks=bool(read_boolean(call, "allowWatchBookmarks")),
        initial=initial,
    )
    _raise_invalid("ListOptions", [*(_validate_watch(options) if watch else _validate_list(options))])
    _check_fields(call, fields)
    if call.name and not fields.empty and fields.find_exact("metadata.name") != call.name:  # a path with watch/
        raise BadRequest("fieldSelector metadata.name doesn't match requested name")
    return options


def _parse_selectors(labels: str, fields: str) -> tuple[LabelSelector, FieldSelector]:
    """Parse selectors and prepare them for matching. Raises BadRequest."""
    parsed = selectors.parse_labels(labels), selectors.parse_fields(fields)
    if len(labels) + len(fields) >= _SLICED_SELECTORS:
        parsed[0].prepare()
        parsed[1].prepare()
    return parsed


def lists_first(call: Call) -> bool:
    """Return whether a watch must send the present objects and a bookmark after them."""
    if not (has("WatchList") and read_boolean(call, "allowWatchBookmarks")):
        return False
    if call.query.get(_INITIAL) is not None:
        return bool(read_boolean(call, _INITIAL))
    return not read_text(call, _MATCH) and read_text(call, "resourceVersion") in ("", "0")


async def read_list_options(
    api: API, call: Call, parsed: tuple[LabelSelector, FieldSelector] | None = None
) -> ListOptions:
    """Read list options as `list_options` does, off the loop if selectors are long. Raises TooManyRequests, too."""
    size = 0 if parsed else len(read_text(call, "labelSelector")) + len(read_text(call, "fieldSelector"))
    if size < _SLICED_SELECTORS:
        return list_options(call, parsed)
    return await api.off_loop.make_value(size * _SELECTOR, list_options, call)


def _check_fields(call: Call, selector: FieldSelector) -> None:
    strategy, selectable = call.kind.strategy, call.kind.strategy.list_selectable_fields(call.version)
    by_namespace = call.kind.namespaced or strategy.reads.by_namespace
    for name in selector.names:
        if name == "metadata.name" or (name == "metadata.namespace" and by_namespace):
            continue
        if name not in selectable:
            raise BadRequest(strategy.explain_unselectable(name))


def _validate_list(options: ListOptions) -> field.Errors:
    if options.match:
        if not options.revision:
            yield field.forbidden(_MATCH, f"{_MATCH} is forbidden unless resourceVersion is provided")
        if options.token:
            yield field.forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided")
        if options.match not in ("Exact", _NOT_OLDER):
            yield field.not_supported(_MATCH, options.match, ["Exact", _NOT_OLDER, ""])
        if options.match == "Exact" and options.revision == "0":
            yield field.forbidden(_MATCH, f'{_MATCH} "exact" is forbidden for resourceVersion "0"')
    if options.initial is not None:
        yield field.forbidden(_INITIAL, f"{_INITIAL} is forbidden for list")


def _validate_watch(options: ListOptions) -> field.Errors:
    if options.initial is not None and options.match != _NOT_OLDER:
        yield field.forbidden(_MATCH, f"{_INITIAL} requires setting {_MATCH} to NotOlderThan")
    if options.initial is not None and not has("WatchList"):
        detail = f"{_INITIAL} is forbidden for watch unless the WatchList feature gate is enabled"
        yield field.forbidden(_INITIAL, detail)
    if options.match:
        if options.initial is None:
            yield field.forbidden(_MATCH, f"{_MATCH} is forbidden for watch unless {_INITIAL} is provided")
        if options.match != _NOT_OLDER:
            yield field.not_supported(_MATCH, options.match, [_NOT_OLDER])
        if options.token:
            yield field.forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided")


def read_delete_options(call: Call) -> DeleteOptions:
    """Return the options of a delete from the body, else from the query. Raises BadRequest or Invalid."""
    return parse_delete_document(_read_delete_body(call) if call.body else _read_delete_query(call))


def parse_delete_document(document: dict[str, Any]) -> DeleteOptions:
    """Return the options in a DeleteOptions. Raises Invalid."""
    errors: list[FieldError] = []
    policy, orphan = document.get("propagationPolicy"), document.get("orphanDependents")
    if policy is not None and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(field.invalid("propagationPolicy", Named(policy), detail))
    if policy is not None and policy not in _POLICIES[:3]:
        errors.append(field.not_supported("propagationPolicy", policy, _POLICIES))
    dry_run, unsupported = _read_dry_run(document.get("dryRun") or [])
    _raise_invalid("DeleteOptions", [*errors, *unsupported])
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    conditions = document.get("preconditions") or {}
    return DeleteOptions(dry_run, policy or "", conditions.get("uid"), conditions.get("resourceVersion"), document)


def _read_delete_query(call: Call) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "gracePeriodSeconds": read_integer(call, "gracePeriodSeconds"),
        "orphanDependents": read_boolean(call, "orphanDependents"),
        "propagationPolicy": read_text(call, "propagationPolicy") if "propagationPolicy" in call.query else None,
        "dryRun": list(call.query.get("dryRun", ())) or None,
        "preconditions": {name: text for name in ("uid", "resourceVersion") if (text := read_text(call, name))} or None,
    }
    return {name: value for name, value in parameters.items() if value is not None}


def _read_delete_body(call: Call) -> dict[str, Any]:
    try:
        raw = decode_options(call, DELETE_OPTIONS)
        read_type_meta(raw)
    except ValueError as error:
        raise _make_undecoded_error(str(error)) from None
    raw = raw or {}
    version, kind = raw.get("apiVersion") or "", raw.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        version = version or f"{_GROUP}/v1"
        if kind not in _ANY_VERSION and kind not in _OTHER_KINDS.get(version, ()):
            raise _make_undecoded_error(explain_unregistered(kind, version, RECORDED_FACTS.schemes["options"]))
        raise _make_undecoded_error(explain_inconvertible(f"v1.{kind}", "v1.DeleteOptions"))
    try:
        struct = structs.decode_struct(DELETE_OPTIONS, raw)
        check_literals(call, DELETE_OPTIONS)
    except structs.DecodeError as error:
        raise _make_undecoded_error(_describe_number(call.body, error)) from None
    return struct


def _make_undecoded_error(text: str) -> APIError:
    return BadRequest(text) if has("BadDeleteOptions") else Internal(text)


def _describe_number(body: bytes, error: structs.DecodeError) -> str:
    """Return the error text for options with a number that does not fit, with the number as it was sent."""
    try:
        structs.decode_struct(DELETE_OPTIONS, sentfloats.decode_as_written(body))
    except structs.DecodeError as exact:
        return str(exact)
    except (ValueError, RecursionError):  # the body is YAML
        pass
    return str(error)


def check_literals(call: Call, struct: Struct) -> None:
    """Check that integers are written as integers in JSON, not as 1.0. Raises structs.DecodeError."""
    if call.content_type.startswith((protobuf.MEDIA, "application/yaml")) or not _POINT.search(call.body):
        return
    try:
        document = sentfloats.decode_as_written(call.body)
    except (ValueError, RecursionError):
        return
    if isinstance(document, dict):
        structs.decode_struct(struct, document)


def decode_options(call: Call, struct: Struct, repeated: list[str] | None = None) -> Any:
    """Decode a body of another kind than the call's. repeated: gets repeated fields. Raises ValueError as Go does."""
    if call.content_type.startswith(protobuf.MEDIA):
        envelope = protobuf.open_envelope(call.body)
        if envelope.kind not in ("", struct.name):  # the caller rejects it
            return {"kind": envelope.kind, "apiVersion": envelope.api_version}
        return protobuf.read_object(call.body, struct)
    try:
        yaml = "yaml" in call.content_type
        return serializer.decode_yaml(call.body, repeated) if yaml else serializer.decode_json(call.body, repeated)
    except serializer.YAMLError as error:
        raise ValueError(error.message) from None
    except serializer.JSONError as error:
        raise unreadable_error(error) from None


def make_too_large_error(revision: int, current: int) -> APIError:
    """Return the error for a resourceVersion that this server has not reached."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    details = {"causes": causes, "retryAfterSeconds": 1}
    return Timeout(f"Timeout: Too large resource version: {revision}, current: {current}", details)
