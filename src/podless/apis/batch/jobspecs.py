"""Defaults, validation and warnings of a Job spec, also within a CronJob.

Source: Kubernetes' pkg/apis/batch (v1/defaults, validation) and pkg/api/job.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from podless.apis.batch import indexes, jobscheduling
from podless.apis.podspec.defaults import default_pod_template
from podless.apis.podspec.template import validate_pod_template
from podless.apis.podspec.warnings import warn_of_template
from podless.apis.shared import checks, workloads
from podless.codec import gotext
from podless.codec.gotext import Literal, Named
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

SUCCESS_POLICY = load_struct("batch/v1", "SuccessPolicy")
INDEXED, NOT_INDEXED = "Indexed", "NonIndexed"
_MAX_FAILED = _MAX_PARALLEL = 100_000
_LARGE = 100_000  # completions of a large indexed Job, which has the next limit
_MAX_OF_MANY = 10_000  # maximum parallelism, and maximum failed indexes
_MAX_MANAGER = 63  # bytes
_MAX_RULES, _MAX_CODES, _MAX_PATTERNS = 20, 255, 20
_MAX_INDEXES = 64 * 1024  # bytes
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_COUNTS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_NEEDS_INDEXES = "requires indexed completion mode"
_UNTRACKED = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes "
    "might not be able to track completedIndexes when a big number of indexes fail"
)
_LARGEST = (1 << 31) - 1


def default_job_spec(obj: Object) -> None:
    """Set the defaults of a Job spec. obj: the Job, which gets the labels of its template."""
    spec, metadata = obj["spec"], obj["metadata"]
    default_pod_template(spec["template"])
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = 6 if spec.get("backoffLimitPerIndex") is None else _LARGEST
    labels = workloads.get_template_labels(spec["template"])
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)
    for name, value in (("completionMode", NOT_INDEXED), ("suspend", False), ("manualSelector", False)):
        if spec.get(name) is None:
            spec[name] = value
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        default_failure_policy(policy)
    if spec.get("podReplacementPolicy") is None:
        spec["podReplacementPolicy"] = "Failed" if policy is not None else "TerminatingOrFailed"


def validate_job_spec(spec: Object, path: str, old: Object | None = None) -> field.Errors:
    """Validate a Job spec except its selector. old: the spec before an update."""
    yield from checks.validate_nonnegatives(spec, path, _COUNTS)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield field.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    manager = spec.get("managedBy")
    if manager is not None:
        yield from checks.validate_domain_path(manager, f"{path}.managedBy")
        if len(manager.encode()) > _MAX_MANAGER:
            yield field.too_long(f"{path}.managedBy", _MAX_MANAGER)
    yield from _validate_mode(spec, path)
    policy, success, success_path = spec.get("podFailurePolicy"), spec.get("successPolicy"), f"{path}.successPolicy"
    if policy is not None:
        yield from _validate_failure_policy(policy, spec, f"{path}.podFailurePolicy")
    if success is not None and spec.get("completionMode") != INDEXED:
        yield field.invalid(success_path, gostructs.format_struct(SUCCESS_POLICY, success), _NEEDS_INDEXES)
    elif success is not None:
        yield from _validate_success_policy(success, spec.get("completions") or 0, success_path)
    replacements = ("Failed",) if policy is not None else ("Failed", "TerminatingOrFailed")
    yield from field.one_of(f"{path}.podReplacementPolicy", spec.get("podReplacementPolicy"), replacements)
    yield from jobscheduling.validate_scheduling(spec, f"{path}.scheduling")
    before = old["template"] if old is not None else None
    yield from validate_pod_template(spec["template"], f"{path}.template", before)
    yield from _validate_restarts(spec, f"{path}.template.spec.restartPolicy")


def _validate_mode(spec: Object, path: str) -> field.Errors:
    mode = spec.get("completionMode")
    if mode == INDEXED:
        yield from _validate_indexed(spec, path)
    elif mode not in (None, NOT_INDEXED):
        yield field.not_supported(f"{path}.completionMode", mode, (NOT_INDEXED, INDEXED))
    else:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                yield field.invalid(f"{path}.{name}", spec[name], _NEEDS_INDEXES)


def _validate_indexed(spec: Object, path: str) -> field.Errors:
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        yield field.required(f"{path}.completions", f"when completion mode is {INDEXED}")
    if parallelism > _MAX_PARALLEL:
        text = f"must be less than or equal to {_MAX_PARALLEL} when completion mode is {INDEXED}"
        yield field.invalid(f"{path}.parallelism", parallelism, text)
    if failed is not None and completions is not None and failed > completions:
        yield field.invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MAX_FAILED:
        yield field.invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MAX_FAILED}")
    if (completions or 0) > _LARGE and spec.get("backoffLimitPerIndex") is not None:
        yield from _validate_many_completions(parallelism, failed, path)


def _validate_many_completions(parallelism: int, failed: int | None, path: str) -> field.Errors:
    """Validate the limits of an indexed Job with many completions and backoffLimitPerIndex."""
    text = f"must be less than or equal to {_MAX_OF_MANY} when completions are above {_LARGE}"
    text += " and used with backoff limit per index"
    if failed is None:
        yield field.required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_LARGE}")
    if parallelism > _MAX_OF_MANY:
        yield field.invalid(f"{path}.parallelism", parallelism, text)
    if (failed or 0) > _MAX_OF_MANY:
        yield field.invalid(f"{path}.maxFailedIndexes", failed, text)


def _validate_restarts(spec: Object, path: str) -> field.Errors:
    policy = spec["template"]["spec"].get("restartPolicy") or "Always"
    if policy == "Always":
        yield field.required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield field.not_supported(path, policy, ("OnFailure", "Never"))
    elif policy != "Never" and spec.get("podFailurePolicy") is not None:
        yield field.invalid(path, Named(policy), 'only "Never" is supported when podFailurePolicy is specified')


def warn_of_job_spec(spec: Object, path: str) -> list[str]:
    """Return the warnings about a Job spec and its template."""
    warnings = []
    is_large = (spec.get("completions") or 0) > _LARGE and (spec.get("parallelism") or 0) > _MAX_OF_MANY
    if spec.get("completionMode") == INDEXED and is_large:
        warnings.append(_UNTRACKED)
    return [*warnings, *warn_of_template(spec["template"], f"{path}.template")]


def default_failure_policy(policy: Object) -> None:
    """Set the default status True in patterns for pod conditions."""
    for rule in each(policy.get("rules") or ()):
        for pattern in each(rule.get("onPodConditions") or ()):
            if not pattern.get("status"):
                pattern["status"] = "True"


def _validate_failure_policy(policy: Object, spec: Object, path: str) -> field.Errors:
    count, pods = len(policy.get("rules") or ()), spec["template"]["spec"]
    if count > _MAX_RULES:
        yield field.too_many(f"{path}.rules", count, _MAX_RULES)
    containers = {item.get("name") for key in ("containers", "initContainers") for item in each(pods.get(key) or ())}
    for rule, at in checks.list_items(policy, "rules", path):
        yield from _validate_failure_rule(rule, spec, containers, at)


def _validate_failure_rule(rule: Object, spec: Object, containers: set[Any], path: str) -> field.Errors:
    action, codes, patterns = rule.get("action") or "", rule.get("onExitCodes"), rule.get("onPodConditions") or []
    yield from _one_of(f"{path}.action", action, _ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield field.invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set")
    if codes is not None:
        yield from _validate_codes(codes, containers, f"{path}.onExitCodes")
    yield from _validate_patterns(rule, path)
    if codes is not None and patterns:
        yield field.invalid(path, Literal("specifying both OnExitCodes and OnPodConditions is not supported"), "")
    if codes is None and not patterns:
        yield field.invalid(path, Literal("specifying one of OnExitCodes and OnPodConditions is required"), "")


def _one_of(path: str, value: str, allowed: tuple[str, ...]) -> list[FieldError]:
    if not value:
        return [field.required(path, f"valid values: [{' '.join(map(gotext.quote, allowed))}]")]
    return [] if value in allowed else [field.not_supported(path, value, allowed)]


def _validate_patterns(rule: Object, path: str) -> field.Errors:
    count = len(rule.get("onPodConditions") or ())
    if count > _MAX_PATTERNS:
        yield field.too_many(f"{path}.onPodConditions", count, _MAX_PATTERNS)
    for pattern, at in checks.list_items(rule, "onPodConditions", path):
        yield from checks.validate_label_key(f"{at}.type", pattern.get("type") or "")
        yield from _one_of(f"{at}.status", pattern.get("status") or "", _STATUSES)


def _validate_codes(codes: Object, containers: set[Any], path: str) -> field.Errors:
    operator, values, name = codes.get("operator") or "", codes.get("values") or [], codes.get("containerName")
    yield from _one_of(f"{path}.operator", operator, _OPERATORS)
    if name is not None and name not in containers:
        text = "must be one of the container or initContainer names in the pod template"
        yield field.invalid(f"{path}.containerName", name, text)
    if not values:
        yield field.invalid(f"{path}.values", codes.get("values"), "at least one value is required")
    elif len(values) > _MAX_CODES:
        yield field.too_many(f"{path}.values", len(values), _MAX_CODES)
    seen: set[int] = set()
    for value, at in checks.list_items(codes, "values", path):
        if operator == "In" and value == 0:
            yield field.invalid(at, 0, "must not be 0 for the In operator")
        yield from checks.validate_unique(at, value, seen)
    if any(code > next_code for code, next_code in pairwise(values)):
        yield field.invalid(f"{path}.values", values, "must be ordered")


def _validate_success_policy(policy: Object, completions: int, path: str) -> field.Errors:
    count = len(policy.get("rules") or ())
    if not count:
        text = "at least one rules must be specified when the successPolicy is specified"
        yield field.required(f"{path}.rules", text)
    if count > _MAX_RULES:
        yield field.too_many(f"{path}.rules", count, _MAX_RULES)
    for rule, at in checks.list_items(policy, "rules", path):
        yield from _validate_success_rule(rule, completions, at)


def _validate_success_rule(rule: Object, completions: int, path: str) -> field.Errors:
    succeeded, number, total = rule.get("succeededIndexes"), rule.get("succeededCount"), 0
    if succeeded is None and number is None:
        yield field.required(path, "at least one of succeededCount or succeededIndexes must be specified")
    if succeeded is not None:
        field_path = f"{path}.succeededIndexes"
        if len(succeeded.encode()) > _MAX_INDEXES:
            yield field.too_long(field_path, _MAX_INDEXES)
        try:
            total = indexes.count_indexes(succeeded, completions)
        except indexes.IndexFault as why:
            yield field.invalid(field_path, succeeded, f"error parsing succeededIndexes: {why}")
    if number is not None:
        field_path = f"{path}.succeededCount"
        yield from checks.validate_nonnegative(field_path, number)
        if number > completions:
            text = f"must be less than or equal to {completions} (the number of specified completions)"
            yield field.invalid(field_path, number, text)
        if succeeded is not None and number > total:
            text = f"must be less than or equal to {total}"
            text += " (the number of indexes in the specified succeededIndexes field)"
            yield field.invalid(field_path, number, text)
