"""Strategies of Event: stored in the core group's form, and served in that of events.k8s.io too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec.gotext import Literal
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import DeletionPolicy, Faults, MetadataPolicy, ReadPolicy
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs, gosyntax, structs
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct

_EVENT = load_struct("core/v1", "Event")
_NEW_EVENT = load_struct("events/v1", "Event")
_OBJECT = load_struct("core/v1", "ObjectReference")
_SOURCE = load_struct("core/v1", "EventSource")
# fields with other names: core name: name in events.k8s.io
_WORDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_NEW_TO_OLD = {new: old for old, new in _WORDS.items()}

_TIMES = ("eventTime", "firstTimestamp", "lastTimestamp")
_NO_TIME = Literal("0001-01-01 00:00:00 +0000 UTC")
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_MAX = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}  # bytes
_UNRELATED = "does not match event.namespace"
_SINCE_STRICT = ("default", "kube-system")  # namespaces of events about cluster-scoped objects

# immutable field of the core group: its name in kube-apiserver's errors, in the order of its checks
_FIXED = (
    *((name, name) for name in ("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp")),
    *((name, name) for name in ("count", "reason", "type", "eventTime", "action", "related")),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
)


def rename_fields(obj: Object, words: Mapping[str, str], struct: Struct, api_version: str) -> Object:
    """Return an event in the form of the other group."""
    named = {words.get(name, name): item for name, item in each(obj).items()}
    metadata = named.pop("metadata")
    decoded = structs.decode_struct(struct, named)
    return {**decoded, "kind": "Event", "apiVersion": api_version, "metadata": metadata}


class EventStrategy(TypedStrategy):
    """Strategy of core Events, with few rules."""

    rearranged = False
    allow_create_on_update = True
    metadata = MetadataPolicy(on_update=(0, 0), qualified_finalizers=False)
    deletion = DeletionPolicy(collected=False)
    reads = ReadPolicy(cached=False)
    controller = "reportingComponent"  # its name in errors
    naming = names.PATH_SEGMENTS

    def convert_object(self, kind: Kind, version: Version, obj: Object) -> Object:
        return obj if obj["apiVersion"] == "v1" else rename_fields(obj, _NEW_TO_OLD, _EVENT, "v1")

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        return self.validate_fields(obj)

    def validate_fields(self, obj: Object) -> field.Errors:
        """Validate an event of the core group by the rules of both groups."""
        if obj.get("eventTime"):
            yield from _validate_new_fields(obj, self.controller)
            return
        regarding_namespace = obj["involvedObject"].get("namespace", "")
        expected = regarding_namespace or "default"
        # clients can set the namespace of a manifest without one
        if obj["metadata"].get("namespace", expected) != expected:
            yield field.invalid("involvedObject.namespace", regarding_namespace, _UNRELATED)

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        involved = obj.get("involvedObject") or {}
        source = (obj.get("source") or {}).get("component", "")
        return {
            **{f"involvedObject.{name}": involved.get(name, "") for name in _REFERENCE},
            "reason": obj.get("reason", ""),
            "reportingComponent": obj.get("reportingComponent", ""),
            "source": source or obj.get("reportingComponent", ""),
            "type": obj.get("type", ""),
        }

    def list_selectable_fields(self, version: Version) -> frozenset[str]:
        return frozenset(self.read_selectable_fields(version, {}))

    def explain_unselectable(self, name: str) -> str:
        return f"field label not supported: {name}"


class NewEventStrategy(EventStrategy):
    """Strategy of events.k8s.io Events, which must be complete, and immutable except for their series."""

    metadata = MetadataPolicy(on_update=(0, 1))
    controller = "reportingController"
    naming = names.SUBDOMAINS

    def make_stored(self, kind: Kind, obj: Object) -> Object:
        return rename_fields(obj, _NEW_TO_OLD, _EVENT, "v1")

    def convert_object(self, kind: Kind, version: Version, obj: Object) -> Object:
        return rename_fields(obj, _WORDS, _NEW_EVENT, "events.k8s.io/v1") if obj["apiVersion"] == "v1" else obj

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        """Validate by the rules of both groups. Errors name the fields of the core group."""
        stored = rename_fields(obj, _NEW_TO_OLD, _EVENT, "v1")
        yield from self.validate_fields(stored)
        if old is not None:
            before = rename_fields(old, _NEW_TO_OLD, _EVENT, "v1")
            if stored.get("series") != before.get("series"):
                yield from _validate_series(stored)
            for name, label in _FIXED:
                if stored.get(name) != before.get(name):
                    yield immutable_error(label, _format_go(name, stored.get(name)))
            return
        yield from _validate_series(stored)
        if not stored.get("eventTime"):
            yield field.required("eventTime")
        if stored.get("type") not in ("Normal", "Warning"):
            yield field.invalid("type", "", f"has invalid value: {stored.get('type', '')}")
        old_only = ("firstTimestamp", "lastTimestamp", "count", "source")
        yield from (field.invalid(name, "", "needs to be unset") for name in old_only if stored.get(name))

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        stored = {_NEW_TO_OLD.get(name, name): item for name, item in each(obj).items()}
        fields = super().read_selectable_fields(version, stored)
        del fields["source"]
        fields["reportingController"] = fields.pop("reportingComponent")
        return {name.replace("involvedObject.", "regarding."): text for name, text in fields.items()}


def _validate_new_fields(obj: Object, controller_name: str) -> field.Errors:
    """Validate the fields that an event with an eventTime requires. controller_name: in errors.

    Source: ValidateEventCreate in pkg/apis/core/validation/events.go of Kubernetes 1.36.
    """
    regarding_namespace = obj["involvedObject"].get("namespace", "")
    if not regarding_namespace and obj["metadata"].get("namespace", "default") not in _SINCE_STRICT:
        yield field.invalid("involvedObject.namespace", regarding_namespace, _UNRELATED)
    controller = obj.get("reportingComponent", "")
    if not controller:
        yield field.required(controller_name)
    yield from field.invalid_details(controller_name, controller, names.check_qualified_name(controller))
    for name, maximum in _MAX.items():
        value = obj.get(name, "")
        if not value and name != "message":
            yield field.required(name)
        if len(value.encode()) > maximum:
            yield field.invalid(name, "", f"can have at most {maximum} characters")


def _validate_series(obj: Object) -> field.Errors:
    """Require a series to have a count of at least 2 and a lastObservedTime."""
    series = obj.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield field.invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield field.required("series.lastObservedTime")


def _format_go(name: str, value: Any) -> Any:
    """Return a field's value as errors show it, with Go field names in references and sources."""
    if name in _TIMES and not has("ValuesAsJSON"):
        return _NO_TIME if value is None else Literal(gosyntax.format_time(value))
    if name in _TIMES or (value is None and name == "related"):
        return value
    if name in ("involvedObject", "related", "source"):
        return gostructs.format_struct(_SOURCE if name == "source" else _OBJECT, value or {})
    return (0 if name == "count" else "") if value is None else value


STRATEGY = EventStrategy()
NEW_STRATEGY = NewEventStrategy()
