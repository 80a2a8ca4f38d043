"""Records admission in a plan: which plugin changed which object, and which webhooks would be called."""

from __future__ import annotations

from dataclasses import field
from typing import Any, NamedTuple

from podless.admission.attributes import AdmissionAttributes
from podless.admission.calls import Verdict
from podless.admission.chain import AdmissionChain
from podless.admission.plugin import Plugin
from podless.admission.subject import AdmissionSubject
from podless.admission.webhooks import MutatingAdmissionWebhook, ValidatingAdmissionWebhook, Webhook
from podless.kinds.kind import Kind, Version
from podless.meta.field import Path
from podless.remote import RemoteError, WebhookClient, WebhookTarget
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.schema.node import copy_value
from podless.verbs.call import API

_HARMLESS = ("None", "NoneOnDryRun")
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
    conversions: set[str] = field(default_factory=set)

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


class _RecordedPlugin(Plugin):
    """Records the changes of a plugin."""

    def __init__(self, plugin: Plugin, recorder: Recorder) -> None:
        self._plugin = plugin
        self._recorder = recorder
        self._name = type(plugin).__name__
        self.builtin = plugin.builtin
        self.sources = plugin.sources

    @property
    def is_active(self) -> bool:
        return self._plugin.is_active

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return self._plugin.mutates(operation, kind, subresource, namespace)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        before = copy_value(attr.obj)
        await self._plugin.mutate(attr)
        if before is not None and attr.obj is not None and attr.obj != before:
            self._recorder.note_change(self._name, before, attr.obj)

    def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return self._plugin.allocates(operation, kind, subresource)

    async def allocate(self, attr: AdmissionAttributes) -> None:
        await self._plugin.allocate(attr)

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return self._plugin.validates(operation, kind, subresource)

    async def validate(self, attr: AdmissionAttributes) -> None:
        await self._plugin.validate(attr)


class _PlannedWebhooks:
    """The behaviour of both kinds of webhooks in a plan."""

    recorder: Recorder
    call: bool

    def note_concerned(
        self, webhook: Webhook, subject: AdmissionSubject, *, mutating: bool, called: bool, reason: str = ""
    ) -> None:
        """Record that a webhook matches a write."""
        attr = subject.attr
        call = WebhookCall(
            webhook.configuration, webhook.name, mutating, attr.kind.kind, attr.namespace, attr.name, called, reason
        )
        if call not in self.recorder.webhooks:
            self.recorder.webhooks.append(call)

    def refuses_dry_run(self, webhook: Webhook) -> bool:
        """Return whether a webhook has side effects, so that it must not be called with dryRun."""
        return webhook.spec.get("sideEffects") not in _HARMLESS


class PlannedMutatingWebhooks(_PlannedWebhooks, MutatingAdmissionWebhook):
    """Mutating webhooks, which are called with dryRun, or only recorded."""

    async def _call_webhook(self, webhook: Webhook, subject: AdmissionSubject, version: Version) -> Verdict:
        if not self.call or self.refuses_dry_run(webhook):
            reason = "it has side effects" if self.call else ""
            self.note_concerned(webhook, subject, mutating=True, called=False, reason=reason)
            return Verdict(True)
        self.note_concerned(webhook, subject, mutating=True, called=True)
        return await super()._call_webhook(webhook, subject, version)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Call the webhooks as in a dry run."""
        dry_run, attr.dry_run = attr.dry_run, True
        try:
            await super().mutate(attr)
        finally:
            attr.dry_run = dry_run


class PlannedValidatingWebhooks(_PlannedWebhooks, ValidatingAdmissionWebhook):
    """Validating webhooks, which are called with dryRun, or only recorded."""

    async def _call_webhook(self, webhook: Webhook, subject: AdmissionSubject, version: Version) -> Verdict:
        if not self.call or self.refuses_dry_run(webhook):
            reason = "it has side effects" if self.call else ""
            self.note_concerned(webhook, subject, mutating=False, called=False, reason=reason)
            return Verdict(True)
        self.note_concerned(webhook, subject, mutating=False, called=True)
        return await super()._call_webhook(webhook, subject, version)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Call the webhooks as in a dry run."""
        dry_run, attr.dry_run = attr.dry_run, True
        try:
            await super().validate(attr)
        finally:
            attr.dry_run = dry_run


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
    plugins: list[Plugin] = []
    for plugin in admission.plugins:
        planned: PlannedMutatingWebhooks | PlannedValidatingWebhooks | None = None
        if isinstance(plugin, MutatingAdmissionWebhook):
            planned = PlannedMutatingWebhooks(api, api.authorizer)
        elif isinstance(plugin, ValidatingAdmissionWebhook):
            planned = PlannedValidatingWebhooks(api, api.authorizer)
        if planned is not None:
            planned.recorder, planned.call = recorder, call_webhooks
            await planned.start()
        recorded_plugin = planned or plugin
        plugins.append(
            _RecordedPlugin(recorded_plugin, recorder)
            if type(recorded_plugin).mutates is not Plugin.mutates
            else recorded_plugin
        )
    admission.plugins[:] = plugins
