"""Hooks of podless.hooks in place of webhooks: their calls for a write, and their answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from podless.admission.calls import TICK, CallFailed, Verdict
from podless.admission.subject import Subject
from podless.apis.admissionregistration.validation.webhooks import check_hook
from podless.auth.user import User
from podless.codec import serializer
from podless.hooks import CONVERT, SUBRESOURCE, VALIDATE
from podless.hooks.pool import HookFailed, Parts
from podless.hooks.worker import ACCEPTED
from podless.kinds.kind import Version
from podless.meta.errors import Timeout
from podless.meta.field import join_errors
from podless.remote import DEADLINE, WebhookClient

if TYPE_CHECKING:
    from podless.hooks.loaded import LoadedHooks


_ACCEPT = Verdict(True)
_MASTERS = "system:masters"


def check_declaration(declared: Mapping[str, Any]) -> None:
    """Raise ValueError for a hook whose declaration a webhook configuration could not have."""
    if declared["kind"] in (CONVERT, SUBRESOURCE):
        return
    try:
        errors = check_hook(declared["given"])
    except (AttributeError, KeyError, TypeError):
        raise ValueError(f"hook {declared['name']}: an option has a value of the wrong type") from None
    if errors:
        raise ValueError(f"hook {declared['name']}: {join_errors(errors)}")


async def call_hook(
    hooks: LoadedHooks, declared: Mapping[str, Any], client: WebhookClient, subject: Subject, version: Version
) -> Verdict:
    """Ask a hook about a write, whose object it sees in a version. declared: as the hook describes itself.

    Raises CallFailed, ConversionFailed where the object cannot be had so, and Timeout where the time of the whole
    request is over.
    """
    kind, takes, attr = declared["kind"], declared["takes"], subject.attr
    obj = await subject.shown(attr.obj, version)
    old = await subject.shown(attr.old, version) if "old" in takes else None
    parts = (
        serializer.encode_json(subject.request(version)) if "request" in takes else b"",
        serializer.encode_json(obj) if obj is not None and (kind != VALIDATE or "obj" in takes) else b"",
        serializer.encode_json(old) if old is not None else b"",
    )
    answer = await run_hook(hooks, kind, declared["given"], parts, attr.user)
    if answer is None or answer == ACCEPTED:
        return _ACCEPT
    return await client.read(answer, _read_verdict)


async def run_hook(hooks: LoadedHooks, kind: str, given: Mapping[str, Any], parts: Parts, user: User) -> bytes | None:
    """Return the answer of a hook, None if a reload removed it.

    given: the hook's declaration. parts: the question. user: of the request. Raises CallFailed, and Timeout if the time
    of the whole request has passed.
    """
    seconds, until = float(given["timeoutSeconds"]), DEADLINE.get()
    if until is not None:
        seconds = min(seconds, max(until - time.monotonic(), 0.0))
    try:
        answer = await hooks.call(kind, given["name"], parts, seconds)
    except HookFailed as failed:
        if until is not None and time.monotonic() >= until - TICK:
            raise Timeout("request did not complete within requested timeout") from None
        told = f"{failed} ({failed.place})" if failed.place and _MASTERS in user.groups else str(failed)
        raise CallFailed(told) from None
    return answer


def _read_verdict(answer: bytes) -> Verdict:
    found = serializer.decode_json(answer)
    return Verdict(
        found["allowed"],
        result=found.get("status"),
        warnings=list(dict.fromkeys(found.get("warnings") or ())),
        annotations=found.get("annotations") or {},
        obj=found.get("object"),
        size=len(answer),
    )
