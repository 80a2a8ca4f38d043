"""Makes audit events from requests, in the form of kube-apiserver's audit log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson

from podless.auth.authorizer import Attributes
from podless.auth.user import User
from podless.codec import serializer
from podless.http.audit.backend import Backend
from podless.http.audit.policy import (
    COMPLETE,
    METADATA_LEVEL,
    NONE,
    RECEIVED,
    REQUEST_RESPONSE,
    STARTED,
    AuditPolicy,
    AuditRule,
    logs_bodies,
)
from podless.http.info import mask_query
from podless.http.message import Answer, AuditRecord, Handler, HTTPRequest, Pending, Response, Stream, is_long
from podless.meta import objectmeta
from podless.runtime import clock
from podless.runtime.apierror import Timeout
from podless.runtime.jsonobject import Object
from podless.runtime.meter import METER, TIMEOUT_TEXT, CPUMeter
from podless.structs import protobuf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct

# reads the bodies of requests and answers for the audit log, which shows them as JSON whatever their media type

MAX = 64 * 1024  # bytes; longer YAML and protobuf bodies are not decoded, because that takes long
STEPS = 4096  # one or two for each decoded value: at most 20 ms of the event loop
_UNVERSIONED = ("DeleteOptions", "Status")  # kinds of bodies that requests for any resource can have

FindStruct = Callable[[str, str, str, str], Struct | None]
"""Returns the struct for a group, version, resource and kind; None if it is unknown or not loaded."""


class _StepLimit(CPUMeter):
    """A meter that ends the work after some steps, whatever time they take."""

    __slots__ = ()

    def __init__(self) -> None:
        self.steps_left = STEPS

    def check_time(self) -> None:
        raise Timeout(TIMEOUT_TEXT, {})


def read_body(raw: bytes, media: str, attributes: Attributes, find_struct: FindStruct) -> Any:
    """Return a body as JSON; None for an empty or malformed body, a long one in YAML or protobuf, and other media."""
    if not raw:
        return None
    message = media.startswith(protobuf.MEDIA)
    if not message:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            if "yaml" not in media:
                return None
    if len(raw) > MAX:
        return None
    previous_meter = METER.set(_StepLimit())  # a few bytes of protobuf can decode to an object with many fields
    try:
        return _read_message(raw, attributes, find_struct) if message else serializer.decode_yaml(raw)
    except (protobuf.ProtobufError, serializer.YAMLError, Timeout):
        return None
    finally:
        METER.reset(previous_meter)


def _read_message(raw: bytes, attributes: Attributes, find_struct: FindStruct) -> Any:
    kind = protobuf.open_envelope(raw).kind
    if kind in _UNVERSIONED:
        struct: Struct | None = load_struct("meta/v1", kind)
    else:
        struct = find_struct(attributes.group, attributes.version, attributes.resource, kind)
    return protobuf.read_object(raw, struct) if struct is not None else None


_BASE = {"kind": "Event", "apiVersion": "audit.k8s.io/v1"}
_DECISION, _REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
_NO_USER = User("")
_AGENT = 1024  # bytes of a User-Agent that are logged
_FAILED = 400
_STATUS = (b'{"kind":"Status","apiVersion":"v1"', b"k8s\0\n\x0c\n\x02v1\x12\x06Status")  # starts of such bodies
_PATCHES = "patch.webhook.admission.k8s.io/"  # annotations that only the levels with bodies show


class AuditContext(AuditRecord):
    """The audit data of one request so far."""

    def __init__(self, audit: Auditor, request: HTTPRequest) -> None:
        self._audit = audit
        self.request = request
        self.began = clock.time()
        self.id = request.headers.get("audit-id") or objectmeta.make_uid()
        self.user: User | None = None
        self.impersonated: User | None = None
        self.attributes: Attributes = request.info.attributes
        self.rule: AuditRule | None = None
        self.annotations: dict[str, str] = {}

    def set_user(self, user: User) -> None:
        self.user = user
        self.rule = rule = self._audit.policy.find_rule(user, self.attributes)
        if rule.level != NONE and RECEIVED not in rule.omit:
            self._audit.write_event(self, RECEIVED, self.began, None)

    def set_decision(self, allowed: bool, reason: str) -> None:
        self.annotations = {_DECISION: "allow" if allowed else "forbid", _REASON: reason}


class Auditor:
    """The filter that logs requests as the policy says. find_struct: for bodies in protobuf."""

    _handler: Handler

    def __init__(self, policy: AuditPolicy, backend: Backend, find_struct: FindStruct) -> None:
        self.policy = policy
        self._backend = backend
        self._find_struct = find_struct

    def wrap_handler(self, handler: Handler) -> Handler:
        """Return a handler that logs requests and answers."""
        self._handler = handler
        return self.handle

    def handle(self, request: HTTPRequest) -> Answer | Pending:
        """Return the next handler's answer, and log the request."""
        audit = request.audit = AuditContext(self, request)
        answer = self._handler(request)
        if isinstance(answer, (Response, Stream)):
            return self._log_answer(audit, answer)
        return self._await_answer(audit, answer)

    async def _await_answer(self, audit: AuditContext, pending: Pending) -> Answer:
        return self._log_answer(audit, await pending)

    def _log_answer(self, audit: AuditContext, answer: Answer) -> Answer:
        answer.headers = (*answer.headers, ("Audit-Id", audit.id))
        if audit.rule is None:  # rejected before authentication
            audit.user = _NO_USER
            audit.rule = self.policy.find_rule(audit.user, audit.attributes)
        if audit.rule.level == NONE:
            return answer
        if isinstance(answer, Stream):
            log_stage = partial(self._log_stage, audit, answer=Response(200))
            answer.follow(partial(log_stage, STARTED), partial(log_stage, COMPLETE))
        elif is_long(answer):
            audit.request.settle = lambda sent: self._log_stage(audit, COMPLETE, sent)
        else:
            self._log_stage(audit, COMPLETE, answer)
        return answer

    def _log_stage(self, audit: AuditContext, stage: str, answer: Response) -> None:
        assert audit.rule is not None
        if stage not in audit.rule.omit:
            self.write_event(audit, stage, clock.time(), answer)

    def write_event(self, audit: AuditContext, stage: str, now: float, answer: Response | None) -> None:
        """Write one event to the backend."""
        rule, request, attr = audit.rule, audit.request, audit.attributes
        assert rule is not None
        level = rule.level
        if level != METADATA_LEVEL and not logs_bodies(rule, attr):
            level = METADATA_LEVEL
        query = f"?{mask_query(request.query_text)}" if request.query_text else ""
        event: Object = {
            **_BASE,
            "level": level,
            "auditID": audit.id,
            "stage": stage,
            "requestURI": f"{request.path}{query}",
            "verb": attr.verb,
            "user": (audit.user or _NO_USER).info,
        }
        if audit.impersonated is not None:
            event["impersonatedUser"] = audit.impersonated.info
        event["sourceIPs"] = _find_source_ips(request)
        if "user-agent" in request.headers:
            event["userAgent"] = _cut_user_agent(request.headers["user-agent"])
        request_body = None
        if answer is not None and attr.verb != "get" and (level != METADATA_LEVEL or len(request.body) <= MAX):
            request_body = read_body(request.body, request.headers.get("content-type", ""), attr, self._find_struct)
        if attr.resource:
            event["objectRef"] = _make_object_reference(attr, request_body)
        if answer is not None:
            content = None
            if level == REQUEST_RESPONSE or answer.status >= _FAILED or _is_status(answer):
                content = read_body(b"".join(answer.chunks), answer.media.decode(), attr, self._find_struct)
            event["responseStatus"] = _make_response_status(answer.status, content)
            if level != METADATA_LEVEL and request_body is not None:
                event["requestObject"] = _select_fields(request_body, rule)
            if level == REQUEST_RESPONSE and content:
                event["responseObject"] = _select_fields(content, rule)
        event["requestReceivedTimestamp"] = _format_time(audit.began)
        event["stageTimestamp"] = _format_time(now)
        if audit.annotations and answer is not None:
            event["annotations"] = audit.annotations
            if level == METADATA_LEVEL:
                annotations = {key: text for key, text in audit.annotations.items() if not key.startswith(_PATCHES)}
                event["annotations"] = annotations
        self._backend.queue_line(_encode_event(event))


def _is_status(answer: Response) -> bool:
    """Return whether the body of an answer is a Status. The event shows parts of it at all levels."""
    return isinstance(answer.chunks, list) and bool(answer.chunks) and answer.chunks[0].startswith(_STATUS)


def _cut_user_agent(text: str) -> str:
    """Return the first 1,024 bytes of a User-Agent, as a real server logs it."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= _AGENT else raw[:_AGENT].decode("utf-8", "ignore") + "...TRUNCATED"


def _encode_event(event: Object) -> bytes:
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # the body has values that orjson cannot encode
        return serializer.encode_json(event) + b"\n"


def _find_source_ips(request: HTTPRequest) -> list[str]:
    """Return the sourceIPs of a request: the addresses in proxy headers, then the sender's."""
    source_ips = [text.strip() for text in request.headers.get("x-forwarded-for", "").split(",") if text.strip()]
    real = request.headers.get("x-real-ip", "").strip()
    if real and real not in source_ips:
        source_ips.append(real)
    if request.peer and (not source_ips or source_ips[-1] != request.peer):
        source_ips.append(request.peer)
    return source_ips


def _make_object_reference(attributes: Attributes, body: Any) -> Object:
    """Return the objectRef of a request. The body of a create gives the parts that its path lacks."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    names = metadata if isinstance(metadata, dict) else {}
    reference = {
        "resource": attributes.resource,
        "namespace": attributes.namespace or _as_text(names.get("namespace")),
        "name": attributes.name or _as_text(names.get("name")),
        "uid": _as_text(names.get("uid")),
        "apiGroup": attributes.group,
        "apiVersion": attributes.version,
        "resourceVersion": _as_text(names.get("resourceVersion")),
        "subresource": attributes.subresource,
    }
    return {key: value for key, value in reference.items() if value}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _make_response_status(code: int, body: Any) -> Object:
    """Return the responseStatus. body: the body of the answer, if known."""
    status: Object = {"metadata": {}}
    if isinstance(body, dict) and (code >= _FAILED or (body.get("kind"), body.get("apiVersion")) == ("Status", "v1")):
        status |= {key: body[key] for key in ("status", "message", "reason", "details") if key in body}
    return {**status, "code": code}


def _select_fields(document: Any, rule: AuditRule) -> Any:
    """Return a document as the event shows it under this rule."""
    if rule.managed or not isinstance(document, dict):
        return document
    items = document.get("items")
    for obj in [document, *(items if isinstance(items, list) else ())]:
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        if isinstance(metadata, dict):
            metadata.pop("managedFields", None)
    return document


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
