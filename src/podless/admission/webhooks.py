"""Webhooks: which of them a write calls, and what their responses do.

Source: k8s.io/apiserver pkg/admission/plugin/webhook/{generic,mutating,validating}, and recorded answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from podless.admission import patches
from podless.admission.attributes import AdmissionAttributes
from podless.admission.calls import ACCEPT, CallFailed, Verdict, call_webhook
from podless.admission.conditions import ConditionFailed, Conditions
from podless.admission.lister import Lister
from podless.admission.matching import Concerned, Matching, is_exempt
from podless.admission.plugin import Plugin
from podless.admission.refusals import Told, internal_error
from podless.admission.reinvocation import Reinvocation
from podless.admission.subject import Subject
from podless.apis.admissionregistration.group import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from podless.auth.authorizer import Authorizer
from podless.codec import gotext, serializer
from podless.fields import jsonpatch
from podless.kinds.conversion import ConversionFailed
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta.errors import APIError, BadRequest, Forbidden, Internal
from podless.remote import WebhookClient
from podless.runtime.jsonobject import Object

if TYPE_CHECKING:
    from podless.hooks.loaded import LoadedHooks

_HARMLESS = ("None", "NoneOnDryRun")


class Webhook:
    """One webhook.

    configuration: the name of its configuration. given: the webhook with its defaults. noun: its name in error texts.
    by_rules: it has no selectors and no matchConditions. harmless: a dry run may call it.
    """

    noun = "webhook"

    def __init__(self, configuration: str, place: int, given: Object) -> None:
        self.configuration = configuration
        self.given = given
        self.name: str = given["name"]
        self.key = configuration, place, self.name
        self.open = given.get("failurePolicy") == "Ignore"
        self.matching = Matching(given, given.get("rules") or ())
        self.by_rules = self.matching.by_rules and not given.get("matchConditions")
        self.harmless = given.get("sideEffects") in _HARMLESS

    @cached_property
    def conditions(self) -> Conditions | None:
        """The compiled matchConditions, None without any."""
        given = self.given.get("matchConditions")
        if not given:
            return None
        from podless.cel.policies import Environment  # a slow import

        return Conditions(given, Environment(), strict=not self.open)

    def call(self, client: WebhookClient, subject: Subject, version: Version) -> Coroutine[Any, Any, Verdict]:
        """Call the webhook for a write. Raises as `podless.admission.calls.call_webhook`."""
        return call_webhook(client, self.given, subject, version)


class LocalHook(Webhook):
    """A hook of podless.hooks, declared like a webhook. All hooks belong to a configuration named "hooks"."""

    noun = "hook"

    def __init__(self, hooks: LoadedHooks, place: int, declared: Object) -> None:
        super().__init__("hooks", place, declared["given"])
        from podless.admission.localhooks import Caller

        self._caller = Caller(hooks, declared)
        self.key = "hooks", declared["kind"], self.name

    def call(self, client: WebhookClient, subject: Subject, version: Version) -> Coroutine[Any, Any, Verdict]:
        return self._caller.call(client, subject, version)


class _WebhookList(Plugin):
    """All webhooks of one kind of configuration, sorted by name, and then the hooks of podless.hooks."""

    def __init__(self, kind: Kind, state: State, authorizer: Authorizer, hooks: LoadedHooks | None = None) -> None:
        self._state = state
        self._authorizer = authorizer
        self._client = state.remote
        self._source: Lister[list[Webhook]] = Lister(state.cache, kind, _read_webhooks)
        self._hooks = hooks
        self._seen = (-1, -1)
        self._webhooks: Concerned[Webhook] = Concerned(_covers, is_exempt)

    async def start(self) -> None:
        await self._source.load()

    def _concerning(self, operation: str, kind: Kind, subresource: str) -> Sequence[Webhook]:
        """Return the webhooks that may apply to such writes."""
        hooks = self._hooks
        seen = self._source.collection.changed, hooks.generation if hooks is not None else 0
        if self._seen != seen:
            webhooks = [webhook for webhooks in self._source.list_items() for webhook in webhooks]
            if hooks is not None:
                webhooks += [LocalHook(hooks, place, one) for place, one in enumerate(self._local(hooks))]
            self._webhooks.set_items(webhooks)
            self._seen = seen
        return self._webhooks.select_items(operation, kind, subresource) if self._webhooks.items else ()

    def _local(self, hooks: LoadedHooks) -> Sequence[Object]:
        """Return the hooks of podless.hooks that belong to this plugin."""
        raise NotImplementedError

    def _subject(self, attr: AdmissionAttributes) -> Subject:
        return Subject(attr, self._state, self._authorizer)

    async def _called_for(self, webhook: Webhook, subject: Subject) -> Version | None:
        """Return the version in which a webhook gets the object, None if the write does not match. Raises APIError."""
        if webhook.by_rules:
            return webhook.matching.decide_by_rules(subject.attr)
        version = await webhook.matching.find_version(subject)
        if version is None or webhook.conditions is None:
            return version
        attr = subject.attr
        try:
            met = webhook.conditions.are_met(await subject.bind_variables(version, webhook.conditions.needs))
        except ConditionFailed as failed:
            raise Forbidden(attr.kind.plural, attr.kind.group, attr.name, str(failed)) from None
        except ConversionFailed as failed:
            raise internal_error(str(failed)) from None
        return version if met else None

    async def _ask(self, webhook: Webhook, subject: Subject, version: Version) -> Verdict:
        """Call a webhook and record its warnings and annotations.

        Raises CallFailed, and APIError if it denies the write.
        """
        attr = subject.attr
        if attr.dry_run and not webhook.harmless:
            raise BadRequest(f"admission {webhook.noun} {gotext.quote(webhook.name)} does not support dry run")
        try:
            verdict = await webhook.call(self._client, subject, version)
        except ConversionFailed as failed:
            raise internal_error(str(failed)) from None
        if verdict is ACCEPT:
            return verdict
        for key, value in verdict.annotations.items():
            attr.annotations[f"{webhook.name}/{key}"] = value
        attr.warnings += verdict.warnings
        if not verdict.allowed:
            raise webhook_refusal(webhook.name, verdict.result, webhook.noun)
        return verdict


def _covers(webhook: Webhook, operation: str, kind: Kind, subresource: str) -> bool:
    return webhook.matching.may_match(operation, kind, subresource)


def _read_webhooks(configuration: Object) -> list[Webhook]:
    name = configuration["metadata"]["name"]
    return [Webhook(name, place, given) for place, given in enumerate(configuration.get("webhooks") or ())]


def webhook_refusal(name: str, given: Mapping[str, Any] | None, noun: str = "webhook") -> Told:
    """Return the error for a denied write: the webhook's Status, with an error code and a prefixed message."""
    result = {"code": 400, **(given or {})}
    result["code"] = max(result["code"], 400) if result["code"] < 1000 else 500
    said = result.get("message") or result.get("reason")
    told = f": {said}" if said else " without explanation"
    return Told(result, f"admission {noun} {gotext.quote(name)} denied the request{told}")


def _failed(webhook: Webhook, why: object) -> APIError:
    return internal_error(f"failed calling {webhook.noun} {gotext.quote(webhook.name)}: {why}")


class ValidatingAdmissionWebhook(_WebhookList):
    """Validating webhooks, called concurrently."""

    def __init__(self, state: State, authorizer: Authorizer, hooks: LoadedHooks | None = None) -> None:
        super().__init__(VALIDATING_WEBHOOKS, state, authorizer, hooks)

    def _local(self, hooks: LoadedHooks) -> Sequence[Object]:
        return hooks.validating

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return bool(self._concerning(operation, kind, subresource))

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise the error of the first webhook that denies the write, or fails with failurePolicy Fail."""
        subject = self._subject(attr)
        asked = []
        for webhook in self._concerning(attr.operation, attr.kind, attr.subresource):
            version = await self._called_for(webhook, subject)
            if version is not None:
                asked.append((webhook, version))
        if not asked:
            return
        if len(asked) == 1:  # avoid a task, which costs 20 us
            answers = [await self._judge(0, *asked[0], subject)]
        else:
            answers = await asyncio.gather(*(self._judge(place, *one, subject) for place, one in enumerate(asked)))
        for answer in answers:
            if answer is not None:
                raise answer

    async def _judge(self, place: int, webhook: Webhook, version: Version, subject: Subject) -> APIError | None:
        """Return the error if a webhook denies the write, None if it allows it."""
        try:
            await self._ask(webhook, subject, version)
        except CallFailed as failed:
            if not webhook.open:
                return _failed(webhook, failed)
            key = f"failed-open.validating.webhook.admission.k8s.io/round_0_index_{place}"
            subject.attr.annotations[key] = webhook.name
        except APIError as refused:
            return refused
        return None


class MutatingAdmissionWebhook(_WebhookList):
    """Mutating webhooks, called one after the other."""

    def __init__(self, state: State, authorizer: Authorizer, hooks: LoadedHooks | None = None) -> None:
        super().__init__(MUTATING_WEBHOOKS, state, authorizer, hooks)

    def _local(self, hooks: LoadedHooks) -> Sequence[Object]:
        return hooks.mutating

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return bool(self._concerning(operation, kind, subresource))

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Raise the error of a webhook that denies the write, or fails with failurePolicy Fail."""
        rounds = Reinvocation.record_of(attr, "MutatingAdmissionWebhook")
        subject = self._subject(attr)
        for place, webhook in enumerate(self._concerning(attr.operation, attr.kind, attr.subresource)):
            version = await self._called_for(webhook, subject)
            if version is None or rounds.skips_call(attr, webhook.key):
                continue
            if await self._change(place, webhook, subject, version):
                rounds.note_change(attr)
            if webhook.given.get("reinvocationPolicy") == "IfNeeded":
                rounds.request_call(webhook.key)
        rounds.end_round(attr)

    async def _change(self, place: int, webhook: Webhook, subject: Subject, version: Version) -> bool:
        """Let a webhook change the object, and return whether it did."""
        attr = subject.attr
        note = f"webhook.admission.k8s.io/round_{int(attr.again)}_index_{place}"
        changed = False
        try:
            verdict = await self._ask(webhook, subject, version)
            change = self._patch if verdict.obj is None else self._replace
            changed = await change(webhook, subject, version, verdict)
        except CallFailed as failed:
            if not webhook.open:
                raise _failed(webhook, failed) from None
            attr.annotations[f"failed-open.mutation.{note}"] = webhook.name
        finally:
            noted = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": changed}
            attr.annotations[f"mutation.{note}"] = serializer.encode_json(noted).decode()
        return changed

    async def _patch(self, webhook: Webhook, subject: Subject, version: Version, verdict: Verdict) -> bool:
        """Apply a webhook's patch. Return whether the object changed. Raises CallFailed and APIError."""
        attr = subject.attr
        size = len(verdict.patch)
        if not size:
            return False
        try:
            operations = await self._client.run_by_size(
                size, partial(jsonpatch.decode_json_patch, verdict.patch, checked=False)
            )
        except APIError as error:
            raise CallFailed(f"received undecodable patch in webhook response: {error.message}") from None
        if not operations:
            return False
        obj = await subject.show_object(attr.obj, version)
        if obj is None:
            name = gotext.quote(webhook.name)
            why = f"admission webhook {name} attempted to modify the object, which is not supported for this operation"
            raise internal_error(why)
        if verdict.patch_type != "JSONPatch":
            raise CallFailed(f"unsupported patch type {gotext.quote(verdict.patch_type)}")
        try:
            made = await self._client.run_by_size(size, patches.apply_json_patch, obj, verdict.patch)
        except jsonpatch.Rejected as rejected:
            raise internal_error(rejected.why) from None
        except patches.Unfit as unfit:
            raise internal_error(str(unfit)) from None
        return await self._settle(subject, version, made, size)

    async def _replace(self, webhook: Webhook, subject: Subject, version: Version, verdict: Verdict) -> bool:
        """Replace the object with the one that a hook returned. Return whether it changed. Raises APIError."""
        assert verdict.obj is not None
        return await self._settle(subject, version, verdict.obj, verdict.size)

    async def _settle(self, subject: Subject, version: Version, made: Object, size: int) -> bool:
        attr = subject.attr
        before = attr.obj
        try:
            await patches.settle_object(attr, version, made, subject.converter, size=size)
        except patches.Unfit as unfit:
            raise internal_error(str(unfit)) from None
        except patches.Foreign as foreign:
            raise Internal(str(foreign)) from None
        return attr.obj != before
