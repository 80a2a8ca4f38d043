"""Webhooks: which of them a write calls, and what their responses do.

Source: k8s.io/apiserver pkg/admission/plugin/webhook/{generic,mutating,validating}, and recorded answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from podless.admission import patches
from podless.admission.attributes import AdmissionAttributes
from podless.admission.calls import ACCEPT, CallFailed, Verdict, call_webhook
from podless.admission.configuration import ConfigurationLister
from podless.admission.matching import ApplicableItems, ConditionFailed, MatchConditions, ResourceMatching, is_exempt
from podless.admission.plugin import Plugin
from podless.admission.refusals import HookStatusError, internal_error
from podless.admission.reinvocation import Reinvocation
from podless.admission.subject import AdmissionSubject
from podless.apis.admissionregistration.group import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from podless.auth.authorizer import Authorizer
from podless.codec import gotext, serializer
from podless.kinds.conversion import ConversionFailed
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta.errors import APIError, BadRequest, Forbidden, Internal
from podless.remote import WebhookClient
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.memo import made_once
from podless.runtime.meter import charge

if TYPE_CHECKING:
    from podless.fields import jsonpatch
    from podless.hooks.loaded import LoadedHooks
else:
    jsonpatch = lazy.LateModule("podless.fields.jsonpatch")

_WEBHOOK = 100  # steps to read one, which takes 30 us
_LONGEST_NOTE = 64 * 1024  # bytes of a patch that the audit log shows
_HARMLESS = ("None", "NoneOnDryRun")


class Webhook:
    """One webhook.

    configuration: the name of its configuration. spec: the webhook with its defaults. noun: its name in error texts.
    by_rules: it has no selectors and no matchConditions. harmless: a dry run may call it. position: among all webhooks
    of a plugin.
    """

    noun = "webhook"

    def __init__(self, configuration: str, index: int, spec: Object) -> None:
        self.configuration = configuration
        self.spec = spec
        self.name: str = spec["name"]
        self.key = configuration, index, self.name
        self.position = 0
        self.open = spec.get("failurePolicy") == "Ignore"
        self.matching = ResourceMatching(spec, spec.get("rules") or ())
        self.by_rules = self.matching.by_rules and not spec.get("matchConditions")
        self.harmless = spec.get("sideEffects") in _HARMLESS

    @made_once
    def conditions(self) -> MatchConditions | None:
        """The compiled matchConditions, None without any."""
        match_conditions = self.spec.get("matchConditions")
        if not match_conditions:
            return None
        from podless.cel.policies import Environment  # a slow import

        return MatchConditions(match_conditions, Environment(), strict=not self.open)

    def call_hook(
        self, client: WebhookClient, subject: AdmissionSubject, version: Version
    ) -> Coroutine[Any, Any, Verdict]:
        """Call the webhook for a write. Raises as `podless.admission.calls.call_webhook`."""
        return call_webhook(client, self.spec, subject, version)


class LocalHook(Webhook):
    """A hook of podless.hooks, declared like a webhook. All hooks belong to a configuration named "hooks"."""

    noun = "hook"

    def __init__(self, hooks: LoadedHooks, index: int, declaration: Object) -> None:
        super().__init__("hooks", index, declaration["given"])
        from podless.admission.localhooks import HookCaller

        self._caller = HookCaller(hooks, declaration)
        self.key = "hooks", declaration["kind"], self.name

    def call_hook(
        self, client: WebhookClient, subject: AdmissionSubject, version: Version
    ) -> Coroutine[Any, Any, Verdict]:
        return self._caller.call_hook(client, subject, version)


class WebhookList(Plugin):
    """All webhooks of one kind of configuration, sorted by name, and then the hooks of podless.hooks."""

    custom = True
    configurations: ClassVar[Kind]

    def __init__(self, state: State, authorizer: Authorizer, hooks: LoadedHooks | None = None) -> None:
        super().__init__(state, authorizer)
        self._client = state.remote
        self._source: ConfigurationLister[list[Webhook]] = ConfigurationLister(
            state.cache, self.configurations, _read_webhooks
        )
        self._hooks = hooks
        self._revisions = (-1, -1)
        self._webhooks: ApplicableItems[Webhook] = ApplicableItems(
            lambda webhook, *write: webhook.matching.may_match(*write), is_exempt
        )
        self.sources = (self._source.collection,) if hooks is None else (self._source.collection, hooks)

    @property
    def is_active(self) -> bool:
        self._read_changed()
        return bool(self._webhooks.items)

    async def start(self) -> None:
        await self._source.load()

    def _applicable_hooks(self, operation: str, kind: Kind, subresource: str) -> Sequence[Webhook]:
        """Return the webhooks that may apply to such writes."""
        self._read_changed()
        return self._webhooks.select_items(operation, kind, subresource)

    def _read_changed(self) -> None:
        hooks = self._hooks
        seen = self._source.collection.changed, hooks.changed if hooks is not None else 0
        if self._revisions != seen:
            webhooks = [webhook for webhooks in self._source.list_items() for webhook in webhooks]
            if hooks is not None:
                webhooks += [LocalHook(hooks, index, hook) for index, hook in enumerate(self._local_hooks(hooks))]
            for position, webhook in enumerate(webhooks):
                webhook.position = position
            self._webhooks.set_items(webhooks)
            self._revisions = seen

    def _local_hooks(self, hooks: LoadedHooks) -> Sequence[Object]:
        """Return the hooks of podless.hooks that belong to this plugin."""
        raise NotImplementedError

    def _make_subject(self, attr: AdmissionAttributes) -> AdmissionSubject:
        return AdmissionSubject(attr, self._state, self._authorizer)

    async def _find_called_version(self, webhook: Webhook, subject: AdmissionSubject) -> Version | None:
        """Return the version in which a webhook gets the object, None if the write does not match. Raises APIError."""
        if webhook.by_rules:
            return webhook.matching.decide_by_rules(subject.attr)
        version = await webhook.matching.find_version(subject)
        if version is None or webhook.conditions is None:
            return version
        attr = subject.attr
        try:
            met = webhook.conditions.are_met(await subject.bind_variables(version, webhook.conditions.variables))
        except ConditionFailed as failed:
            raise Forbidden(attr.kind.plural, attr.kind.group, attr.name, str(failed)) from None
        except ConversionFailed as failed:
            raise internal_error(str(failed)) from None
        return version if met else None

    async def _call_webhook(self, webhook: Webhook, subject: AdmissionSubject, version: Version) -> Verdict:
        """Call a webhook and record its warnings and annotations.

        Raises CallFailed, and APIError if it denies the write.
        """
        attr = subject.attr
        if attr.dry_run and not webhook.harmless:
            raise BadRequest(f"admission {webhook.noun} {gotext.quote(webhook.name)} does not support dry run")
        try:
            verdict = await webhook.call_hook(self._client, subject, version)
        except ConversionFailed as failed:
            raise internal_error(str(failed)) from None
        if verdict is ACCEPT:
            return verdict
        for key, value in verdict.annotations.items():
            attr.annotate(f"{webhook.name}/{key}", value)
        attr.warnings += verdict.warnings
        if not verdict.allowed:
            raise webhook_refusal(webhook.name, verdict.result, webhook.noun)
        return verdict


def _read_webhooks(configuration: Object) -> list[Webhook]:
    name, webhooks = configuration["metadata"]["name"], []
    for index, webhook in enumerate(configuration.get("webhooks") or ()):
        charge(_WEBHOOK)
        webhooks.append(Webhook(name, index, webhook))
    return webhooks


def _describe_change(webhook: Webhook, **details: Any) -> str:
    """Return the text of an audit annotation about what a webhook did."""
    noted = {"configuration": webhook.configuration, "webhook": webhook.name, **details}
    return serializer.encode_json(noted).decode()


def webhook_refusal(name: str, status: Mapping[str, Any] | None, noun: str = "webhook") -> HookStatusError:
    """Return the error for a denied write: the webhook's Status, with an error code and a prefixed message."""
    result = {"code": 400, **(status or {})}
    result["code"] = max(result["code"], 400) if result["code"] < 1000 else 500
    message = result.get("message") or result.get("reason")
    explanation = f": {message}" if message else " without explanation"
    return HookStatusError(result, f"admission {noun} {gotext.quote(name)} denied the request{explanation}")


def _call_error(webhook: Webhook, reason: object) -> APIError:
    return internal_error(f"failed calling {webhook.noun} {gotext.quote(webhook.name)}: {reason}")


class ValidatingAdmissionWebhook(WebhookList):
    """Validating webhooks, called concurrently."""

    configurations = VALIDATING_WEBHOOKS

    def _local_hooks(self, hooks: LoadedHooks) -> Sequence[Object]:
        return hooks.validating

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return bool(self._applicable_hooks(operation, kind, subresource))

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise the error of the first webhook that denies the write, or fails with failurePolicy Fail."""
        subject = self._make_subject(attr)
        calls = []
        for webhook in self._applicable_hooks(attr.operation, attr.kind, attr.subresource):
            version = await self._find_called_version(webhook, subject)
            if version is not None:
                calls.append((webhook, version))
        if not calls:
            return
        if len(calls) == 1:  # avoid a task, which costs 20 us
            answers = [await self._check_write(0, *calls[0], subject)]
        else:
            answers = await asyncio.gather(
                *(self._check_write(index, *call, subject) for index, call in enumerate(calls))
            )
        refusal = next((answer for answer in answers if answer is not None), None)
        del answers
        try:
            if refusal is not None:
                raise refusal
        finally:
            del refusal  # its traceback refers to this frame

    async def _check_write(
        self, index: int, webhook: Webhook, version: Version, subject: AdmissionSubject
    ) -> APIError | None:
        """Return the error if a webhook denies the write, None if it allows it."""
        try:
            await self._call_webhook(webhook, subject, version)
        except CallFailed as failed:
            if not webhook.open:
                return _call_error(webhook, failed)
            key = f"failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}"
            subject.attr.annotate(key, webhook.name)
        except APIError as refused:
            return refused
        return None


class MutatingAdmissionWebhook(WebhookList):
    """Mutating webhooks, called one after the other."""

    configurations = MUTATING_WEBHOOKS

    def _local_hooks(self, hooks: LoadedHooks) -> Sequence[Object]:
        return hooks.mutating

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return bool(self._applicable_hooks(operation, kind, subresource))

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Raise the error of a webhook that denies the write, or fails with failurePolicy Fail."""
        rounds = Reinvocation.record_of(attr, "MutatingAdmissionWebhook")
        subject = self._make_subject(attr)
        for webhook in self._applicable_hooks(attr.operation, attr.kind, attr.subresource):
            version = await self._find_called_version(webhook, subject)
            if version is None or rounds.skips_call(attr, webhook.key):
                continue
            if await self._call_mutating(webhook, subject, version):
                rounds.note_change(attr)
            if webhook.spec.get("reinvocationPolicy") == "IfNeeded":
                rounds.request_call(webhook.key)
        rounds.end_round(attr)

    async def _call_mutating(self, webhook: Webhook, subject: AdmissionSubject, version: Version) -> bool:
        """Let a webhook change the object, and return whether it did."""
        attr = subject.attr
        note = f"webhook.admission.k8s.io/round_{int(attr.run_again)}_index_{webhook.position}"
        changed = False
        try:
            verdict = await self._call_webhook(webhook, subject, version)
            if verdict.obj is not None:
                changed = await self._store_result(subject, version, verdict.obj, verdict.size)
            elif verdict.patch and (operations := await self._read_patch(verdict)):
                changed = await self._apply_patch(webhook, subject, version, verdict)
                if len(verdict.patch) <= _LONGEST_NOTE:
                    text = _describe_change(webhook, patch=operations, patchType=verdict.patch_type)
                    attr.annotate(f"patch.{note}", text)
        except CallFailed as failed:
            if not webhook.open:
                raise _call_error(webhook, failed) from None
            attr.annotate(f"failed-open.mutation.{note}", webhook.name)
        finally:
            attr.annotate(f"mutation.{note}", _describe_change(webhook, mutated=changed))
        return changed

    async def _read_patch(self, verdict: Verdict) -> list[Any]:
        """Return the operations of a webhook's patch. Raises CallFailed."""
        decode = partial(jsonpatch.decode_json_patch, verdict.patch, checked=False)
        try:
            return await self._client.run_by_size(len(verdict.patch), decode)
        except APIError as error:
            raise CallFailed(f"received undecodable patch in webhook response: {error.message}") from None

    async def _apply_patch(
        self, webhook: Webhook, subject: AdmissionSubject, version: Version, verdict: Verdict
    ) -> bool:
        """Apply a webhook's patch. Return whether the object changed. Raises CallFailed and APIError."""
        size = len(verdict.patch)
        obj = await subject.show_object(subject.attr.obj, version)
        if obj is None:
            name = gotext.quote(webhook.name)
            text = f"admission webhook {name} attempted to modify the object, which is not supported for this operation"
            raise internal_error(text)
        if verdict.patch_type != "JSONPatch":
            raise CallFailed(f"unsupported patch type {gotext.quote(verdict.patch_type)}")
        try:
            patched = await self._client.run_by_size(size, patches.apply_json_patch, obj, verdict.patch)
        except jsonpatch.OperationRejected as rejected:
            raise internal_error(rejected.why) from None
        except patches.InvalidChange as unfit:
            raise internal_error(str(unfit)) from None
        return await self._store_result(subject, version, patched, size)

    async def _store_result(self, subject: AdmissionSubject, version: Version, result: Object, size: int) -> bool:
        """Replace the object with a result. Return whether it changed. Raises APIError."""
        try:
            return await patches.settle_object(subject, version, result, size=size)
        except patches.InvalidChange as unfit:
            raise internal_error(str(unfit)) from None
        except patches.KindChanged as foreign:
            raise Internal(str(foreign)) from None
