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
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

# defaults and validation of a Job's podFailurePolicy. Source: Kubernetes' pkg/apis/batch/validation

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MAX_FAILURE_RULES = 20
_MAX_CODES = 255
_MAX_PATTERNS = 20


def default_failure_policy(policy: Object) -> None:
    """Set the default status True in patterns for pod conditions."""
    for rule in each(policy.get("rules") or ()):
        for pattern in each(rule.get("onPodConditions") or ()):
            if not pattern.get("status"):
                pattern["status"] = "True"


def validate_failure_policy(policy: Object, spec: Object, path: str) -> list[FieldError]:
    """Validate the podFailurePolicy of a Job spec."""
    rules, pods = policy.get("rules") or [], spec["template"]["spec"]
    errors = (
        [field.too_many(f"{path}.rules", len(rules), _MAX_FAILURE_RULES)] if len(rules) > _MAX_FAILURE_RULES else []
    )
    containers = {item.get("name") for key in ("containers", "initContainers") for item in each(pods.get(key) or ())}
    for index, rule in enumerate(each(rules)):
        errors += _failure_rule(rule, spec, containers, f"{path}.rules[{index}]")
    return errors


def _failure_rule(rule: Object, spec: Object, containers: set[Any], path: str) -> field.Errors:
    action, codes, patterns = rule.get("action") or "", rule.get("onExitCodes"), rule.get("onPodConditions") or []
    yield from _one_of(f"{path}.action", action, _ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield field.invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set")
    if codes is not None:
        yield from _validate_codes(codes, containers, f"{path}.onExitCodes")
    yield from _validate_patterns(patterns, f"{path}.onPodConditions")
    if codes is not None and patterns:
        yield _invalid_without_value(path, "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not patterns:
        yield _invalid_without_value(path, "specifying one of OnExitCodes and OnPodConditions is required")


def _invalid_without_value(path: str, text: str) -> FieldError:
    return field.invalid(path, Literal(text), "")


def _one_of(path: str, value: str, allowed: tuple[str, ...]) -> list[FieldError]:
    if not value:
        return [field.required(path, f"valid values: [{' '.join(map(gotext.quote, allowed))}]")]
    return [] if value in allowed else [field.not_supported(path, value, allowed)]


def _validate_patterns(patterns: list[Object], path: str) -> field.Errors:
    if len(patterns) > _MAX_PATTERNS:
        yield field.too_many(path, len(patterns), _MAX_PATTERNS)
    for index, pattern in enumerate(each(patterns)):
        kind = pattern.get("type") or ""
        yield from field.invalid_details(f"{path}[{index}].type", kind, names.check_qualified_name(kind))
        yield from _one_of(f"{path}[{index}].status", pattern.get("status") or "", _STATUSES)


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
    for index, value in enumerate(each(values)):
        if operator == "In" and value == 0:
            yield field.invalid(f"{path}.values[{index}]", 0, "must not be 0 for the In operator")
        yield from checks.validate_unique(f"{path}.values[{index}]", value, seen)
    if any(code > next_code for code, next_code in pairwise(values)):
        yield field.invalid(f"{path}.values", values, "must be ordered")


# validates a Job's successPolicy. Source: Kubernetes' pkg/apis/batch/validation

_MAX_RULES = 20
_MAX_BYTES = 64 * 1024


def validate_success_policy(policy: Object, completions: int, path: str) -> field.Errors:
    """Validate the successPolicy of a Job spec."""
    rules, path = policy.get("rules") or [], f"{path}.rules"
    if not rules:
        yield field.required(path, "at least one rules must be specified when the successPolicy is specified")
    if len(rules) > _MAX_RULES:
        yield field.too_many(path, len(rules), _MAX_RULES)
    for index, rule in enumerate(each(rules)):
        yield from _validate_rule(rule, completions, f"{path}[{index}]")


def _validate_rule(rule: Object, completions: int, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    succeeded_indexes, number, total = rule.get("succeededIndexes"), rule.get("succeededCount"), 0
    if succeeded_indexes is None and number is None:
        missing = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(field.required(path, missing))
    if succeeded_indexes is not None:
        field_path = f"{path}.succeededIndexes"
        if len(succeeded_indexes.encode()) > _MAX_BYTES:
            errors.append(field.too_long(field_path, _MAX_BYTES))
        try:
            total = indexes.count_indexes(succeeded_indexes, completions)
        except indexes.IndexFault as why:
            errors.append(field.invalid(field_path, succeeded_indexes, f"error parsing succeededIndexes: {why}"))
    if number is not None:
        field_path = f"{path}.succeededCount"
        errors += checks.validate_nonnegative(field_path, number)
        if number > completions:
            text = f"must be less than or equal to {completions} (the number of specified completions)"
            errors.append(field.invalid(field_path, number, text))
        if succeeded_indexes is not None and number > total:
            text = f"must be less than or equal to {total}"
            text += " (the number of indexes in the specified succeededIndexes field)"
            errors.append(field.invalid(field_path, number, text))
    return errors


SUCCESS_POLICY = load_struct("batch/v1", "SuccessPolicy")

INDEXED, NOT_INDEXED = "Indexed", "NonIndexed"
_MAX_PARALLEL = 100_000
_MAX_FAILED = 100_000
_LARGE = 100_000  # completions of a large indexed Job, which has the next limit
_MAX_OF_MANY = 10_000  # maximum parallelism, and maximum failed indexes
_MAX_MANAGER = 63  # bytes
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
    labels = workloads.template_labels(spec["template"])
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


def validate_job_spec(spec: Object, path: str, old: Object | None = None) -> list[FieldError]:
    """Validate a Job spec except its selector. old: the spec before an update."""
    errors = checks.all_nonnegative(spec, path, _COUNTS)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(field.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    errors += _validate_manager(spec.get("managedBy"), f"{path}.managedBy")
    errors += _validate_mode(spec, path)
    policy, success = spec.get("podFailurePolicy"), spec.get("successPolicy")
    if policy is not None:
        errors += validate_failure_policy(policy, spec, f"{path}.podFailurePolicy")
    if success is not None and spec.get("completionMode") != INDEXED:
        errors.append(
            field.invalid(f"{path}.successPolicy", gostructs.format_struct(SUCCESS_POLICY, success), _NEEDS_INDEXES)
        )
    elif success is not None:
        errors += validate_success_policy(success, spec.get("completions") or 0, f"{path}.successPolicy")
    errors += _validate_replacement(spec, f"{path}.podReplacementPolicy")
    errors += jobscheduling.validate_scheduling(spec, f"{path}.scheduling")
    template = spec["template"]
    errors += validate_pod_template(template, f"{path}.template", old["template"] if old is not None else None)
    return [*errors, *_validate_restarts(spec, f"{path}.template.spec.restartPolicy")]


def _validate_manager(name: str | None, path: str) -> list[FieldError]:
    if name is None:
        return []
    errors = checks.domain_path(name, path)
    return [*errors, field.too_long(path, _MAX_MANAGER)] if len(name.encode()) > _MAX_MANAGER else errors


def _validate_mode(spec: Object, path: str) -> list[FieldError]:
    mode = spec.get("completionMode")
    if mode == INDEXED:
        return [*_validate_indexed(spec, path)]
    if mode not in (None, NOT_INDEXED):
        return [field.not_supported(f"{path}.completionMode", mode, (NOT_INDEXED, INDEXED))]
    set_fields = [name for name in ("backoffLimitPerIndex", "maxFailedIndexes") if spec.get(name) is not None]
    return [field.invalid(f"{path}.{name}", spec[name], _NEEDS_INDEXES) for name in each(set_fields)]


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
        text = f"must be less than or equal to {_MAX_FAILED}"
        yield field.invalid(f"{path}.maxFailedIndexes", failed, text)
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


def _validate_replacement(spec: Object, path: str) -> list[FieldError]:
    policy = spec.get("podReplacementPolicy")
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    return [field.not_supported(path, policy, allowed)] if policy is not None and policy not in allowed else []


def _validate_restarts(spec: Object, path: str) -> list[FieldError]:
    policy = spec["template"]["spec"].get("restartPolicy") or "Always"
    if policy == "Always":
        return [field.required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [field.not_supported(path, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        return [field.invalid(path, Named(policy), 'only "Never" is supported when podFailurePolicy is specified')]
    return []


def warn_of_job_spec(spec: Object, path: str) -> list[str]:
    """Return the warnings about a Job spec and its template."""
    warnings = []
    is_large = (spec.get("completions") or 0) > _LARGE and (spec.get("parallelism") or 0) > _MAX_OF_MANY
    if spec.get("completionMode") == INDEXED and is_large:
        warnings.append(_UNTRACKED)
    return [*warnings, *warn_of_template(spec["template"], f"{path}.template")]
