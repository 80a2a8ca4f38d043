"""Hooks of podless.hooks, which replace webhooks: calls for a write, and their answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from podless.admission.calls import ACCEPT, MAX_WARNINGS, STATUS, TICK, CallFailed, Verdict
from podless.admission.subject import AdmissionSubject
from podless.apis.admissionregistration.webhookconfigurations import validate_hook
from podless.auth.user import User
from podless.codec import serializer
from podless.hooks import CONVERT, SUBRESOURCE, VALIDATE
from podless.hooks.peer import HookFailed
from podless.hooks.wire import ACCEPTED
from podless.kinds.kind import Version
from podless.meta.errors import Timeout
from podless.meta.field import join_errors
from podless.remote import DEADLINE, WebhookClient
from podless.structs import structs

if TYPE_CHECKING:
    from podless.hooks.loaded import LoadedHooks


_MASTERS = "system:masters"


def check_declaration(declared: Mapping[str, Any]) -> None:
    """Raise ValueError if a webhook configuration could not have the declaration of this hook."""
    if declared["kind"] in (CONVERT, SUBRESOURCE):
        return
    try:
        errors = validate_hook(declared["given"])
    except (AttributeError, KeyError, TypeError):
        raise ValueError(f"hook {declared['name']}: an option has a value of the wrong type") from None
    if errors:
        raise ValueError(f"hook {declared['name']}: {join_errors(errors)}")


class HookCaller:
    """Calls one hook. declared: the hook's declaration."""

    def __init__(self, hooks: LoadedHooks, declared: Mapping[str, Any]) -> None:
        self._hooks = hooks
        self._kind: str = declared["kind"]
        self._name: str = declared["given"]["name"]
        self._seconds = float(declared["given"]["timeoutSeconds"])
        parameters = declared["takes"]
        self._takes_request, self._takes_old = "request" in parameters, "old" in parameters
        self._takes_obj = "obj" in parameters or self._kind != VALIDATE  # the worker compares the result with it

    async def call_hook(self, client: WebhookClient, subject: AdmissionSubject, version: Version) -> Verdict:
        """Call the hook for a write, with the object in a version.

        Raises CallFailed, ConversionFailed if the object cannot be converted, and Timeout if the time of the whole
        request has passed.
        """
        attr, encode = subject.attr, serializer.encode_json
        obj, old = attr.obj if self._takes_obj else None, attr.old if self._takes_old else None
        if version is not attr.version or len(attr.kind.views) > 1:
            obj, old = await subject.show_object(obj, version), await subject.show_object(old, version)
        question = (
            encode(subject.make_request(version)) if self._takes_request else b"",
            encode(obj) if obj is not None else b"",
            encode(old) if old is not None else b"",
        )
        until = DEADLINE.get()
        try:
            seconds = limit_seconds(self._seconds, until)
            answer = await self._hooks.call_hook(self._kind, self._name, question, seconds, attr.meanwhile)
        except HookFailed as failed:
            raise explain_failure(failed, until, attr.user) from None
        if answer is None or answer == ACCEPTED:
            return ACCEPT
        return await client.read(answer, _read_verdict)


def limit_seconds(seconds: float, until: float | None) -> float:
    """Return the timeout of a hook in seconds, at most the time left until `until`."""
    return seconds if until is None else min(seconds, max(until - time.monotonic(), 0.0))


def explain_failure(failed: HookFailed, until: float | None, user: User) -> CallFailed | Timeout:
    """Return the error for a failed call. until: when the time of the request ends. user: of the request."""
    if until is not None and time.monotonic() >= until - TICK:
        return Timeout("request did not complete within requested timeout")
    return CallFailed(f"{failed} ({failed.details})" if failed.details and _MASTERS in user.groups else str(failed))


def _read_verdict(answer: bytes) -> Verdict:
    """Return the verdict in an answer. Raises CallFailed if it is malformed, because the worker runs users' code."""
    try:
        body = serializer.decode_json(answer)
        status, warnings, annotations = body.get("status"), body.get("warnings") or [], body.get("annotations") or {}
        if status is not None:
            status = structs.decode_struct(STATUS, status)
        sound = isinstance(body["allowed"], bool) and isinstance(body.get("object"), dict | None)
        texts = [*warnings, *annotations.values()] if isinstance(warnings, list) else [None]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CallFailed("its worker returned a malformed answer") from None
    if not sound or not all(isinstance(text, str) for text in texts):
        raise CallFailed("its worker returned a malformed answer")
    return Verdict(
        body["allowed"],
        result=status,
        warnings=list(islice(dict.fromkeys(warnings), MAX_WARNINGS)),
        annotations=annotations,
        obj=body.get("object"),
        size=len(answer),
    )
