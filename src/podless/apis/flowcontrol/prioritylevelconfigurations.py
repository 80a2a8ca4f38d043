"""Strategy of PriorityLevelConfiguration.

Source: Kubernetes' pkg/apis/flowcontrol/validation.
"""

from __future__ import annotations

import math

from podless.apis.flowcontrol import bootstrap
from podless.apis.flowcontrol.flowschemas import FlowControlStrategy, validate_conditions
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.kinds.kind import Kind, Version
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.sorting import sort_keys
from podless.structs import gostructs
from podless.structs.structfiles import load_struct
from podless.structs.structs import arrange_fields

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

_EXEMPT, _LIMITED = "Exempt", "Limited"
_QUEUE, _REJECT = "Queue", "Reject"
_MAX_QUEUES, _MAX_BITS = 10_000_000, 60
_POSITIVE = "must be positive"
_OLD = "v1beta3"  # in this version, 0 shares mean the default unless the annotation is set
_KEEPS_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_SHARES = 30


class PriorityLevelStrategy(FlowControlStrategy):
    """Strategy of PriorityLevelConfiguration."""

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        limited = obj["spec"].get("limited")
        if version.name == _OLD and limited is not None and not limited["nominalConcurrencyShares"]:
            limited["nominalConcurrencyShares"] = 0 if _KEEPS_ZERO in _read_annotations(obj) else _SHARES

    def convert_object(self, kind: Kind, version: Version, obj: Object) -> Object:
        """Return the level in a version. Only v1beta3 has the annotation, on levels with 0 shares."""
        result, metadata = super().convert_object(kind, version, obj), obj["metadata"]
        annotations = {key: value for key, value in _read_annotations(obj).items() if key != _KEEPS_ZERO}
        limited = obj["spec"].get("limited") or {}
        if version.name == _OLD and limited.get("nominalConcurrencyShares") == 0:
            annotations[_KEEPS_ZERO] = ""
        if annotations != _read_annotations(obj):
            metadata = metadata | {"annotations": sort_keys(annotations)}
            if not annotations:
                del metadata["annotations"]
            result["metadata"] = arrange_fields(OBJECT_META, metadata)
        return result

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        """Require the two mandatory levels to have their fixed specs, except the shares of exempt."""
        name, spec = obj["metadata"].get("name") or "", obj["spec"]
        if version.name != _OLD and _KEEPS_ZERO in _read_annotations(obj):
            yield field.forbidden("metadata.annotations", f"annotation '{_KEEPS_ZERO}' is forbidden")
        yield from _validate_spec(spec, name)
        fixed_spec = bootstrap.required_spec(bootstrap.bootstrap_levels(), name)
        text = ""
        if fixed_spec is not None and name == "exempt":
            if {**spec, "exempt": None} != {**fixed_spec, "exempt": None}:
                text = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
        elif fixed_spec is not None and spec != fixed_spec:
            text = f"spec of '{name}' must equal the fixed value"
        if text:
            shown_spec = gostructs.format_struct("flowcontrol/v1.PriorityLevelConfigurationSpec", spec)
            yield field.invalid("spec", shown_spec, text)
        yield from validate_conditions(obj)


def _read_annotations(obj: Object) -> Object:
    annotations: Object = obj["metadata"].get("annotations") or {}
    return annotations


def _validate_spec(spec: Object, name: str) -> field.Errors:
    sort, limited, exempt = spec["type"], spec.get("limited"), spec.get("exempt")
    if (name == "exempt") != (sort == _EXEMPT):
        yield field.invalid("spec.type", Named(sort), "must be 'Exempt' if and only if `name` is 'exempt'")
    if sort == _EXEMPT:
        if limited is not None:
            yield field.forbidden("spec.limited", "must be nil if the type is not Limited")
        if exempt is not None:
            yield from _validate_shares(exempt, "spec.exempt")
            yield from checks.validate_range("spec.exempt.lendablePercent", exempt.get("lendablePercent"), 0, 100)
    elif sort == _LIMITED:
        if exempt is not None:
            yield field.forbidden("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            yield field.required("spec.limited", "must not be empty when type is Limited")
        else:
            yield from _validate_limits(limited, "spec.limited")
    else:
        yield field.not_supported("spec.type", sort, (_EXEMPT, _LIMITED))


def _validate_shares(value: Object, path: str) -> field.Errors:
    shares = value.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        yield field.invalid(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")


def _validate_limits(limited: Object, path: str) -> field.Errors:
    yield from _validate_shares(limited, path)
    yield from _validate_limit_response(limited["limitResponse"], f"{path}.limitResponse")
    yield from checks.validate_range(f"{path}.lendablePercent", limited.get("lendablePercent"), 0, 100)
    borrowed = limited.get("borrowingLimitPercent")
    if borrowed is not None and borrowed < 0:
        text = "if specified, must be a non-negative integer"
        yield field.invalid(f"{path}.borrowingLimitPercent", borrowed, text)


def _validate_limit_response(response: Object, path: str) -> field.Errors:
    sort, queuing = response["type"], response.get("queuing")
    if sort == _REJECT:
        if queuing is not None:
            text = "must be nil if limited.limitResponse.type is not Limited"
            yield field.forbidden(f"{path}.queuing", text)
    elif sort != _QUEUE:
        yield field.not_supported(f"{path}.type", sort, (_QUEUE, _REJECT))
    elif queuing is None:
        text = "must not be empty if limited.limitResponse.type is Limited"
        yield field.required(f"{path}.queuing", text)
    else:
        yield from _validate_queues(queuing, f"{path}.queuing")


def _validate_queues(queuing: Object, path: str) -> field.Errors:
    length, queues, hand = queuing["queueLengthLimit"], queuing["queues"], queuing["handSize"]
    if length <= 0:
        yield field.invalid(f"{path}.queueLengthLimit", length, _POSITIVE)
    if queues <= 0:
        yield field.invalid(f"{path}.queues", queues, _POSITIVE)
    elif queues > _MAX_QUEUES:
        yield field.invalid(f"{path}.queues", queues, f"must not be greater than {_MAX_QUEUES}")
    if hand <= 0:
        yield field.invalid(f"{path}.handSize", hand, _POSITIVE)
    elif hand > queues:
        yield field.invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif math.ceil(math.log2(queues) * hand) > _MAX_BITS:
        text = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_MAX_BITS}"
        yield field.invalid(f"{path}.handSize", hand, text)


STRATEGY = PriorityLevelStrategy()
