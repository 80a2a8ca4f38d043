"""Records admission in a plan: which plugin changed which object, and which webhooks would be called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, NamedTuple

from podless.admission.attributes import AdmissionAttributes
from podless.admission.calls import Verdict
from podless.admission.chain import AdmissionChain
from podless.admission.plugin import Plugin
from podless.admission.subject import AdmissionSubject
from podless.admission.webhooks import MutatingAdmissionWebhook, ValidatingAdmissionWebhook, Webhook, WebhookList
from podless.kinds.kind import Version
from podless.meta.field import Path
from podless.remote import RemoteError, WebhookClient, WebhookTarget
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.schema.node import copy_value
from podless.verbs.call import API

_NOT_CALLED = "the plan calls no webhook; --call-webhooks calls it"


class WebhookCall(NamedTuple):
    """A webhook that a write would call. asked: the plan has called it. why: the reason if not, "" for no call."""

    configuration: str
    webhook: str
    mutating: bool
    kind: str
    namespace: str
    name: str
    asked: bool
    why: str = ""


@dataclass(slots=True)
class Recorder:
    """The record of admission. changes: of the current write, the changed paths by plugin."""

    changes: dict[str, set[Path]] = field(default_factory=dict)
    webhooks: list[WebhookCall] = field(default_factory=list)

    def begin_write(self) -> None:
        """Start the record of another write."""
        self.changes = {}

    def note_change(self, plugin: str, before: Object, after: Object) -> None:
        """Record the changes that a plugin made to an object."""
        paths = self.changes.setdefault(plugin, set())
        paths.update(_changed_paths(before, after, ()))


def _changed_paths(before: Any, after: Any, path: Path) -> set[Path]:
    """Return the paths at which two values differ. Lists of different lengths differ as a whole."""
    if before == after:
        return set()
    if isinstance(before, dict) and isinstance(after, dict):
        paths: set[Path] = set()
        for key in before.keys() | after.keys():
            paths |= _changed_paths(before.get(key), after.get(key), (*path, key))
        return paths
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        paths = set()
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            paths |= _changed_paths(old, new, (*path, index))
        return paths
    return {path}


class _PlannedWebhooks(WebhookList):
    """Webhooks that are called with dryRun, or only recorded."""

    mutating: ClassVar[bool]
    recorder: Recorder
    call: bool

    async def _call_webhook(self, webhook: Webhook, subject: AdmissionSubject, version: Version) -> Verdict:
        attr, called = subject.attr, self.call and webhook.harmless
        reason = "it has side effects" if self.call and not called else ""
        names = attr.kind.kind, attr.namespace, attr.name
        record = WebhookCall(webhook.configuration, webhook.name, self.mutating, *names, called, reason)
        if record not in self.recorder.webhooks:
            self.recorder.webhooks.append(record)
        return await super()._call_webhook(webhook, subject, version) if called else Verdict(True)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        with _dry_run(attr):
            await super().mutate(attr)

    async def validate(self, attr: AdmissionAttributes) -> None:
        with _dry_run(attr):
            await super().validate(attr)


@contextmanager
def _dry_run(attr: AdmissionAttributes) -> Iterator[None]:
    dry_run, attr.dry_run = attr.dry_run, True
    try:
        yield
    finally:
        attr.dry_run = dry_run


class PlannedMutatingWebhooks(_PlannedWebhooks, MutatingAdmissionWebhook):
    """Mutating webhooks of a plan."""

    mutating = True


class PlannedValidatingWebhooks(_PlannedWebhooks, ValidatingAdmissionWebhook):
    """Validating webhooks of a plan."""

    mutating = False


class NoCalls(WebhookClient):
    """A client that calls no webhooks."""

    async def post_json(
        self, target: WebhookTarget, body: bytes, *, seconds: int, limit: int = 0, until: float | None = None
    ) -> bytes:
        """Raise RemoteError."""
        raise RemoteError(f"Post {target.url}: {_NOT_CALLED}")


async def record_admission(api: API, admission: AdmissionChain, recorder: Recorder, *, call_webhooks: bool) -> None:
    """Record what a server's plugins do, and call webhooks only if `call_webhooks` is set."""
    if not call_webhooks:
        api.converter.client = NoCalls()
    for index, plugin in enumerate(admission.plugins):
        planned: PlannedMutatingWebhooks | PlannedValidatingWebhooks | None = None
        if isinstance(plugin, MutatingAdmissionWebhook):
            planned = PlannedMutatingWebhooks(api, api.authorizer)
        elif isinstance(plugin, ValidatingAdmissionWebhook):
            planned = PlannedValidatingWebhooks(api, api.authorizer)
        if planned is not None:
            planned.recorder, planned.call = recorder, call_webhooks
            await planned.start()
        admission.plugins[index] = chosen = planned or plugin
        if type(chosen).mutates is not Plugin.mutates:
            mutate = partial(_record_mutation, chosen.mutate, type(chosen).__name__, recorder)
            chosen.mutate = mutate  # type: ignore[method-assign]


async def _record_mutation(
    mutate: Callable[[AdmissionAttributes], Awaitable[None]], name: str, recorder: Recorder, attr: AdmissionAttributes
) -> None:
    before = copy_value(attr.obj)
    await mutate(attr)
    if before is not None and attr.obj is not None and attr.obj != before:
        recorder.note_change(name, before, attr.obj)
