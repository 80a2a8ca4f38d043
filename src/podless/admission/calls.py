"""One call of a webhook: the AdmissionReview that podless sends, and the checks of the response.

Source: k8s.io/apiserver pkg/admission/plugin/webhook/request. Checks and messages are those of kube-apiserver.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from itertools import islice
from typing import Any

from podless.admission.subject import AdmissionSubject
from podless.apis.schemes import make_review_scheme
from podless.codec import serializer
from podless.kinds import webhookreviews
from podless.kinds.kind import Version
from podless.kinds.webhookreviews import InvalidReview
from podless.meta import objectmeta
from podless.meta.errors import Timeout
from podless.remote import DEADLINE, RemoteError, WebhookClient, WebhookTarget
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.structs.gotypes import BOOL, BYTES, STRING_MAP, STRINGS, UID, String
from podless.structs.structfiles import load_struct
from podless.structs.structs import TYPE_META, Field, Struct

STATUS = load_struct("meta/v1", "Status")


VERSIONS = ("v1", "v1beta1")
MAX_ANSWER = 4 << 20  # bytes of a response
MAX_WARNINGS = 10_000  # distinct warnings of a response; clients get 4,096 characters of them
TICK = 0.005  # seconds that a timer may fire early: timers of uvloop count whole milliseconds
_GROUP = "admission.k8s.io"


class CallFailed(Exception):
    """The call of a webhook failed, or its response is malformed. The text says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A valid response."""

    allowed: bool
    patch: bytes = b""  # a JSON patch, b"" for none
    patch_type: str = ""
    result: Object | None = None  # the Status of a rejection, as the webhook sent it
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    obj: Object | None = None  # the changed object, if a Python hook returned one
    size: int = 0  # bytes of the response with that object


ACCEPT = Verdict(True)


async def call_webhook(
    client: WebhookClient, webhook: Mapping[str, Any], subject: AdmissionSubject, version: Version
) -> Verdict:
    """Call a webhook for a write, with the object converted to a version.

    webhook: as in a configuration, with its defaults. Raises CallFailed, ConversionFailed if the object cannot be
    converted, and Timeout if the time of the whole request has passed.
    """
    review_version = next((name for name in webhook["admissionReviewVersions"] if name in VERSIONS), None)
    if review_version is None:
        reason = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise CallFailed(f"could not create admission objects: {reason}")
    uid = objectmeta.make_uid()
    request: Object = {"uid": uid} | subject.make_request(version)
    request["object"] = await subject.show_object(subject.attr.obj, version)
    request["oldObject"] = await subject.show_object(subject.attr.old, version)
    attr = {"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{review_version}", "request": request}
    target = WebhookTarget.from_config(webhook["clientConfig"])
    seconds, until = webhook["timeoutSeconds"], DEADLINE.get()
    try:
        raw = await client.post_json(
            target, serializer.encode_json(attr), seconds=seconds, limit=MAX_ANSWER, until=until
        )
    except RemoteError as error:
        if until is not None and time.monotonic() >= until - TICK:
            raise Timeout("request did not complete within requested timeout") from None
        raise CallFailed(f"failed to call webhook: {error}") from None
    return await client.read(
        raw, partial(_check_response, uid=uid, mutating="reinvocationPolicy" in webhook, version=review_version)
    )


def _check_response(raw: bytes, *, uid: str, mutating: bool, version: str) -> Verdict:
    """Check the response of a webhook and return its verdict. Raises CallFailed."""
    try:
        answer = webhookreviews.decode_review(raw, REVIEWS, f"{_GROUP}/{version}", make_review_scheme(_GROUP))
        return _check_v1(answer, uid, mutating) if version == "v1" else _old_verdict(answer, mutating)
    except webhookreviews.Undecodable as error:
        raise CallFailed(f"failed to call webhook: {error}") from None
    except InvalidReview as error:
        raise CallFailed(f"received invalid webhook response: {error}") from None


def _review_struct(version: str) -> Struct:
    response = Struct(
        "AdmissionResponse",
        (
            Field("uid", UID, 1, always=True),
            Field("allowed", BOOL, 2, always=True),
            Field("status", STATUS, 3, pointer=True),
            Field("patch", BYTES, 4),
            Field("patchType", String(f"{version}.PatchType"), 5, pointer=True),
            Field("auditAnnotations", STRING_MAP, 6),
            Field("warnings", STRINGS, 7),
        ),
        version,
    )
    return Struct("AdmissionReview", (*TYPE_META, Field("response", response, 2, pointer=True)), version)


REVIEWS = {f"{_GROUP}/{version}": _review_struct(version) for version in VERSIONS}


def _check_v1(answer: Object, uid: str, mutating: bool) -> Verdict:
    """Check a v1 response, including its uid and type, and return its verdict. Raises InvalidReview."""
    response = _read_response(answer)
    webhookreviews.check_uid(response, uid)
    webhookreviews.check_type(answer, f"{_GROUP}/v1", "AdmissionReview")
    patch, kind = base64.b64decode(response.get("patch") or ""), response.get("patchType")
    if not mutating and (patch or kind is not None):
        name = "patch" if patch else "patchType"
        raise InvalidReview(f"validating webhook may not return response.{name}")
    if bool(patch) is (kind is None):
        present, absent = ("patch", "patchType") if patch else ("patchType", "patch")
        raise InvalidReview(f"webhook returned response.{present} but not response.{absent}")
    if kind == "":
        raise InvalidReview('webhook returned invalid response.patchType of ""')
    return _make_verdict(response, patch, kind or "")


def _old_verdict(answer: Object, mutating: bool) -> Verdict:
    """Return the verdict of a v1beta1 response. As in kube-apiserver, its uid and type are not checked."""
    response = _read_response(answer)
    patch = base64.b64decode(response.get("patch") or "") if mutating else b""
    return _make_verdict(response, patch, "JSONPatch" if patch else "")


def _read_response(answer: Object) -> Object:
    response: Object | None = answer.get("response")
    if response is None:
        raise InvalidReview("webhook response was absent")
    return response


def _make_verdict(response: Object, patch: bytes, kind: str) -> Verdict:
    return Verdict(
        bool(response.get("allowed")),
        patch,
        kind,
        response.get("status"),
        list(islice(dict.fromkeys(response.get("warnings") or ()), MAX_WARNINGS)),
        response.get("auditAnnotations") or {},
    )
