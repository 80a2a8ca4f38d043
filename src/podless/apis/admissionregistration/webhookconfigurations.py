"""ValidatingWebhookConfiguration and MutatingWebhookConfiguration.

Source: k8s.io/kubernetes pkg/apis/admissionregistration (defaults and validation), and recorded answers.
"""

from __future__ import annotations

from podless.apis.admissionregistration import rules
from podless.apis.apiextensions.definition.webhook import REVIEWS, check_address, check_reviews
from podless.apis.shared.emptyfields import EmptyFieldsStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names, validation
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT

_HARMLESS = ("None", "NoneOnDryRun")
_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")


class WebhookStrategy(rules.ExpressionStrategy, EmptyFieldsStrategy):
    """Strategy of webhook configurations."""

    desired_field = "webhooks"
    empties = frozenset({"rules", "matchConditions", "caBundle", "matchLabels", "matchExpressions", "values"})

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(1, 0), qualified_finalizers=False)

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        for webhook in each(obj.get("webhooks") or []):
            if (service := webhook["clientConfig"].get("service")) is not None:
                service.setdefault("port", 443)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        """Accept faults of sideEffects, review versions and names if the old configuration has them."""
        webhooks, before = obj.get("webhooks") or [], (old or {}).get("webhooks") or []
        harmless = all(entry.get("sideEffects") in _HARMLESS for entry in each(before))
        had_known_versions = all(set(entry["admissionReviewVersions"] or ()) & set(REVIEWS) for entry in each(before))
        unique = len({entry["name"] for entry in each(before)}) == len(before)
        conditions, old_conditions = (
            [webhook.get("matchConditions") for webhook in each(state)] for state in (webhooks, before)
        )
        seen: set[str] = set()
        for index, webhook in enumerate(each(webhooks)):
            path, name = f"webhooks[{index}]", webhook["name"]
            yield from _validate_name(name, f"{path}.name")
            yield from _validate_call(webhook, path, _HARMLESS if harmless else _EFFECTS)
            yield from check_address(webhook["clientConfig"], f"{path}.clientConfig")
            if old is None or conditions != old_conditions:
                yield from _validate_conditions(webhook, path)
            versions, at = webhook["admissionReviewVersions"] or [], f"{path}.admissionReviewVersions"
            yield from check_reviews(versions, at, had_known_versions, f"must specify one of {', '.join(REVIEWS)}")
            if unique and name and name in seen:
                yield field.duplicate(f"{path}.name", name)
            seen.add(name)


def validate_hook(hook: Object) -> list[FieldError]:
    """Validate a hook of podless.hooks as a webhook, except its name and clientConfig."""
    return [*_validate_call(hook, "hook", _EFFECTS), *_validate_conditions(hook, "hook")]


def _validate_call(webhook: Object, path: str, effects: tuple[str, ...]) -> field.Errors:
    for index, rule in enumerate(each(webhook.get("rules") or [])):
        yield from rules.validate_rule(rule, f"{path}.rules[{index}]")
    yield from field.one_of(f"{path}.failurePolicy", webhook.get("failurePolicy"), rules.FAILURE_POLICIES)
    yield from field.one_of(f"{path}.matchPolicy", webhook.get("matchPolicy"), rules.MATCH_POLICIES)
    if webhook.get("sideEffects") is None:
        yield field.required(f"{path}.sideEffects", f"must specify one of {', '.join(effects)}")
    yield from field.one_of(f"{path}.sideEffects", webhook.get("sideEffects"), effects)
    seconds = webhook.get("timeoutSeconds", 10)
    if not 1 <= seconds <= 30:
        yield field.invalid(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    for name in ("namespaceSelector", "objectSelector"):
        yield from validation.validate_selector(webhook.get(name) or {}, f"{path}.{name}")
    yield from field.one_of(f"{path}.reinvocationPolicy", webhook.get("reinvocationPolicy"), rules.REINVOCATIONS)


def _validate_conditions(webhook: Object, path: str) -> field.Errors:
    if match_conditions := webhook.get("matchConditions"):
        from podless.cel.policies import Environment

        environment = Environment(new=CURRENT.get())
        yield from rules.validate_conditions(match_conditions, environment, f"{path}.matchConditions")


def _validate_name(name: str, path: str) -> field.Errors:
    """Validate the name of a webhook: a domain of at least three segments."""
    if not name:
        yield field.required(path)
    elif faults := names.check_subdomain(name):
        yield field.invalid(path, name, ",".join(faults))
    elif name.count(".") < 2:
        yield field.invalid(path, name, "should be a domain with at least three segments separated by dots")


STRATEGY = WebhookStrategy()
