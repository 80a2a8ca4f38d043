"""Defaults and validation of ValidatingWebhookConfiguration and MutatingWebhookConfiguration.

Source: k8s.io/kubernetes pkg/apis/admissionregistration (defaults and validation), and recorded answers.
"""

from __future__ import annotations

from podless.apis.admissionregistration.validation import rules
from podless.apis.apiextensions.definition.webhook import REVIEWS, check_address, check_reviews
from podless.meta import field, labelselector, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT

_HARMLESS = ("None", "NoneOnDryRun")
_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")


def fill_webhooks(configuration: Object) -> None:
    """Set the default port of Services."""
    for webhook in each(configuration.get("webhooks") or []):
        service = webhook["clientConfig"].get("service")
        if service is not None:
            service.setdefault("port", 443)


def check_webhooks(configuration: Object, old: Object | None = None) -> field.Errors:
    """Validate a webhook configuration.

    On an update, faults of sideEffects, review versions and names are accepted if the old configuration has them.
    """
    webhooks = configuration.get("webhooks") or []
    before = (old or {}).get("webhooks") or []
    harmless = all(entry.get("sideEffects") in _HARMLESS for entry in each(before))
    had_known_versions = all(set(entry["admissionReviewVersions"] or ()) & set(REVIEWS) for entry in each(before))
    unique = len({entry["name"] for entry in each(before)}) == len(before)
    conditions = [webhook.get("matchConditions") for webhook in each(webhooks)] != [
        entry.get("matchConditions") for entry in each(before)
    ]
    seen: set[str] = set()
    for index, webhook in enumerate(each(webhooks)):
        path = f"webhooks[{index}]"
        yield from _validate_webhook(webhook, path, _HARMLESS if harmless else _EFFECTS, conditions or old is None)
        missing = f"must specify one of {', '.join(REVIEWS)}"
        yield from check_reviews(
            webhook["admissionReviewVersions"] or [], f"{path}.admissionReviewVersions", had_known_versions, missing
        )
        name = webhook["name"]
        if unique and name and name in seen:
            yield field.duplicate(f"{path}.name", name)
        seen.add(name)


def _validate_webhook(webhook: Object, path: str, effects: tuple[str, ...], conditions: bool) -> list[FieldError]:
    errors = _check_name(webhook["name"], f"{path}.name")
    errors += _check_call(webhook, path, effects)
    errors += check_address(webhook["clientConfig"], f"{path}.clientConfig")
    return errors + (_check_conditions(webhook, path) if conditions else [])


def check_hook(hook: Object) -> list[FieldError]:
    """Validate a hook of podless.hooks as a webhook, except its name and clientConfig."""
    return _check_call(hook, "hook", _EFFECTS) + _check_conditions(hook, "hook")


def _check_call(webhook: Object, path: str, effects: tuple[str, ...]) -> list[FieldError]:
    errors = []
    for index, rule in enumerate(each(webhook.get("rules") or [])):
        errors += rules.check_rule(rule, f"{path}.rules[{index}]")
    errors += rules.check_choice(webhook, "failurePolicy", rules.FAILURE_POLICIES, path)
    errors += rules.check_choice(webhook, "matchPolicy", rules.MATCH_POLICIES, path)
    if webhook.get("sideEffects") is None:
        errors.append(field.required(f"{path}.sideEffects", f"must specify one of {', '.join(effects)}"))
    errors += rules.check_choice(webhook, "sideEffects", effects, path)
    seconds = webhook.get("timeoutSeconds", 10)
    if not 1 <= seconds <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        errors.append(field.invalid(f"{path}.timeoutSeconds", seconds, text))
    for name in ("namespaceSelector", "objectSelector"):
        errors += labelselector.validate_selector(webhook.get(name) or {}, f"{path}.{name}")
    return errors + rules.check_choice(webhook, "reinvocationPolicy", rules.REINVOCATIONS, path)


def _check_conditions(webhook: Object, path: str) -> list[FieldError]:
    if not webhook.get("matchConditions"):
        return []
    from podless.cel.policies import Environment

    return [
        *rules.check_conditions(webhook["matchConditions"], Environment(new=CURRENT.get()), f"{path}.matchConditions")
    ]


def _check_name(name: str, path: str) -> list[FieldError]:
    """Validate the name of a webhook: a domain of at least three segments."""
    if not name:
        return [field.required(path)]
    faults = names.check_subdomain(name)
    if faults:
        return [field.invalid(path, name, ",".join(faults))]
    if name.count(".") < 2:
        return [field.invalid(path, name, "should be a domain with at least three segments separated by dots")]
    return []
