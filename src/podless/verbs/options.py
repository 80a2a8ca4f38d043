"""Options of a request: read from the query (and the body of a delete), checked with the recorded texts."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as field_
from typing import Any

from podless.kinds.types import DELETE_OPTIONS
from podless.meta import codec, field, gotext, protobuf, selectors, structs
from podless.meta.errors import APIError, BadRequest, Invalid, Timeout
from podless.meta.field import FieldError
from podless.meta.selectors import FieldSelector, LabelSelector
from podless.meta.structs import Struct
from podless.verbs.call import Call

_GROUP = "meta.k8s.io"
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of create, update and patch. validation: Strict, Warn or Ignore (unknown and repeated fields)."""

    dry_run: bool
    validation: str
    manager: str


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of list, watch and the delete of a collection. revision: "" where none is given."""

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
    """Options of a delete. policy: Orphan, Foreground, Background or "" (the kind's default). given: as sent."""

    dry_run: bool
    policy: str
    uid: str
    revision: str
    given: dict[str, Any] = field_(default_factory=dict)


def text(call: Call, name: str) -> str:
    """A parameter's first value, or ""."""
    values = call.query.get(name)
    return values[0] if values else ""


def truth(call: Call, name: str) -> bool | None:
    """A boolean parameter as a real server reads it: all but false and 0 is true; None where it is not given."""
    values = call.query.get(name)
    return values[0].lower() not in ("false", "0") if values else None


def integer(call: Call, name: str) -> int | None:
    """An int64 parameter, or None. Raises BadRequest."""
    value = text(call, name)
    if not value:
        return None
    return parse_int(value)


def refuse_export(call: Call) -> None:
    """Raises BadRequest for a parameter that old clients know."""
    if truth(call, "export"):
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")


def parse_int(value: str) -> int:
    """A decimal int64. Raises BadRequest with Go's text."""
    digits = value[1:] if value[:1] in "+-" else value
    if not (digits.isascii() and digits.isdigit()):
        raise BadRequest(f"strconv.ParseInt: parsing {gotext.quote(value)}: invalid syntax")
    number = int(value)
    if not -_INT64 <= number < _INT64:
        raise BadRequest(f"strconv.ParseInt: parsing {gotext.quote(value)}: value out of range")
    return number


def parse_revision(value: str) -> int:
    """A resourceVersion. Raises ValueError with Go's text."""
    if not (value.isascii() and value.isdigit()):
        raise ValueError(f"strconv.ParseUint: parsing {gotext.quote(value)}: invalid syntax")
    number = int(value)
    if number >= 1 << 64:
        raise ValueError(f"strconv.ParseUint: parsing {gotext.quote(value)}: value out of range")
    return number


def revision_error(value: str, error: ValueError) -> str:
    """The text for a resourceVersion that is no number."""
    return f"resourceVersion: Invalid value: {gotext.quote(value)}: {error}"


def _dry_run(values: list[str]) -> tuple[bool, list[FieldError]]:
    given = [value for value in values if value]
    if any(value != "All" for value in given):
        return False, [field.not_supported("dryRun", given, ["All"])]
    return bool(given), []


def _refuse(kind: str, errors: list[FieldError]) -> None:
    if errors:
        raise Invalid(kind, _GROUP, "", errors)


def _manager_errors(manager: str) -> list[FieldError]:
    errors = []
    if len(manager.encode()) > 128:
        errors.append(field.too_long("fieldManager", 128))
    for position, char in enumerate(manager):
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {position})"
            errors.append(field.invalid("fieldManager", manager, detail))
    return errors


_VALIDATIONS = ["", "Ignore", "Strict", "Warn"]


def write(call: Call, kind: str, *, apply: bool = False) -> WriteOptions:
    """Options of a write; kind: CreateOptions, UpdateOptions or PatchOptions. Raises Invalid."""
    if not call.query:
        return _PLAIN_WRITE
    dry_run, errors = _dry_run(list(call.query.get("dryRun", ())))
    if kind == "PatchOptions" and not apply and "force" in call.query:
        errors.append(field.forbidden("force", "may not be specified for non-apply patch"))
    manager = text(call, "fieldManager")
    errors += _manager_errors(manager)
    validation = text(call, "fieldValidation")
    if validation not in _VALIDATIONS:
        errors.append(field.not_supported("fieldValidation", validation, _VALIDATIONS))
    _refuse(kind, errors)
    return WriteOptions(dry_run, validation or "Warn", manager)


_PLAIN_WRITE = WriteOptions(False, "Warn", "")


def listing(call: Call, *, watch: bool) -> ListOptions:
    """Options of a list or watch. Raises BadRequest or Invalid."""
    if not call.query and not watch:
        return _PLAIN_LIST
    limit = integer(call, "limit") or 0
    timeout = integer(call, "timeoutSeconds")
    options = ListOptions(
        labels=selectors.parse_labels(text(call, "labelSelector")),
        fields=_fields(call, text(call, "fieldSelector")),
        limit=max(limit, 0),
        token=text(call, "continue"),
        revision=text(call, "resourceVersion"),
        match=text(call, "resourceVersionMatch"),
        timeout=timeout,
        bookmarks=bool(truth(call, "allowWatchBookmarks")),
        initial=truth(call, "sendInitialEvents"),
    )
    _refuse("ListOptions", _watch_errors(options) if watch else _list_errors(options))
    return options


_PLAIN_LIST = ListOptions(selectors.parse_labels(""), selectors.parse_fields(""), 0, "", "", "", None, False, None)


def _fields(call: Call, selector: str) -> FieldSelector:
    parsed = selectors.parse_fields(selector)
    for name, _, _ in parsed.requirements:
        if name == "metadata.name" or (name == "metadata.namespace" and call.kind.namespaced):
            continue
        if name not in call.kind.strategy.selectable(call.version):
            raise BadRequest(call.kind.strategy.unselectable(name))
    return parsed


_MATCH = "resourceVersionMatch"


def _list_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    if options.initial is not None:
        errors.append(field.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    if options.match:
        if not options.revision:
            errors.append(field.forbidden(_MATCH, f"{_MATCH} is forbidden unless resourceVersion is provided"))
        if options.token:
            errors.append(field.forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
        if options.match not in ("Exact", "NotOlderThan"):
            errors.append(field.not_supported(_MATCH, options.match, ["Exact", "NotOlderThan", ""]))
        if options.match == "Exact" and options.revision == "0":
            detail = f'{_MATCH} "exact" is forbidden for resourceVersion "0"'
            errors.append(field.forbidden(_MATCH, detail))
    return errors


def _watch_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    if options.initial is not None and options.match != "NotOlderThan":
        detail = f"sendInitialEvents requires setting {_MATCH} to NotOlderThan"
        errors.append(field.forbidden(_MATCH, detail))
    if options.match:
        if options.initial is None:
            detail = f"{_MATCH} is forbidden for watch unless sendInitialEvents is provided"
            errors.append(field.forbidden(_MATCH, detail))
        if options.match != "NotOlderThan":
            errors.append(field.not_supported(_MATCH, options.match, ["NotOlderThan"]))
        if options.token:
            errors.append(field.forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
    return errors


_POLICIES = ["Foreground", "Background", "Orphan", "nil"]


def delete(call: Call) -> DeleteOptions:
    """Options of a delete, from the body where there is one, else from the query. Raises BadRequest or Invalid."""
    given = _delete_body(call) if call.body.strip() else _delete_query(call)
    dry_run, errors = _dry_run(given.get("dryRun") or [])
    policy, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    if policy is not None and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(field.invalid("propagationPolicy", policy, detail))
    elif policy is not None and policy not in _POLICIES[:3]:
        errors.append(field.not_supported("propagationPolicy", policy, _POLICIES))
    _refuse("DeleteOptions", errors)
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    conditions = given.get("preconditions") or {}
    return DeleteOptions(dry_run, policy or "", conditions.get("uid", ""), conditions.get("resourceVersion", ""), given)


def _delete_query(call: Call) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in ("propagationPolicy", "orphanDependents", "dryRun", "gracePeriodSeconds"):
        if name not in call.query:
            continue
        if name == "gracePeriodSeconds":
            given[name] = integer(call, name)
        elif name == "orphanDependents":
            given[name] = truth(call, name)
        elif name == "dryRun":
            given[name] = list(call.query[name])
        else:
            given[name] = text(call, name)
    return given


def _delete_body(call: Call) -> dict[str, Any]:
    raw = document(call, DELETE_OPTIONS)
    if not isinstance(raw, dict):
        raw = {}
    kind, version = raw.get("kind"), raw.get("apiVersion")
    if kind not in (None, "", "DeleteOptions"):
        known = gotext.quote(str(version or ""))
        raise BadRequest(f"no kind {gotext.quote(str(kind))} is registered for version {known} as delete options")
    try:
        return structs.decode(DELETE_OPTIONS, raw)
    except structs.DecodeError as error:
        raise BadRequest(str(error)) from None


def document(call: Call, struct: Struct) -> Any:
    """A body that is no object of the call's kind, decoded but not checked. Raises BadRequest."""
    try:
        if call.content_type.startswith(protobuf.MEDIA):
            return protobuf.read(call.body, struct)
        return codec.decode_yaml(call.body) if "yaml" in call.content_type else codec.decode_json(call.body)
    except protobuf.ProtobufError as error:
        raise BadRequest(str(error)) from None
    except (codec.JSONError, codec.YAMLError) as error:
        raise BadRequest(f"couldn't get version/kind; json parse error: {error}") from None


def too_large(wanted: int, current: int) -> APIError:
    """The client asks for a state that this server has not reached."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    details = {"causes": causes, "retryAfterSeconds": 1}
    return Timeout(f"Too large resource version: {wanted}, current: {current}", details)
