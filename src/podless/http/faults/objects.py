"""Faults as objects: in force for the next request, with counts in their status.

All servers of a store inject them and count; the status has the sums.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.codec import serializer
from podless.controllers.controller import Controller
from podless.controllers.write import report_status
from podless.http.faults.fault import GROUP, RULES, TERMS, BadFault, FieldSpec, InjectedFault
from podless.http.faults.scripted import Faults
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.verbs.call import API

# the kind Fault, compiled from the fields of InjectedFault as if from a CustomResourceDefinition. The definition is
# not stored, and servers without --enable-faults do not serve the kind.

VERSION = "v1"
_NAMES = {"plural": "faults", "singular": "fault", "kind": "Fault", "listKind": "FaultList"}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_STATUS = {
    "observedGeneration": ("integer", "generation of the spec that the counts belong to"),
    "matched": ("integer", "number of requests that matched"),
    "injected": ("integer", "number of requests that failed"),
    "seed": ("integer", "seed of the probability: the given or the random one"),
}
_COLUMNS = (
    ("Verb", "string", ".spec.verb", 0),
    ("Resource", "string", ".spec.resource", 0),
    ("Status", "integer", ".spec.status", 0),
    ("Drop", "string", ".spec.drop", 1),
    ("Delay", "number", ".spec.delay", 1),
    ("Times", "integer", ".spec.times", 1),
    ("Seed", "integer", ".status.seed", 1),
    ("Matched", "integer", ".status.matched", 0),
    ("Injected", "integer", ".status.injected", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
)


def fault_definition() -> Object:
    """Return the CustomResourceDefinition of the kind."""
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _make_schema()},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": name, "type": type_, "jsonPath": path, "priority": priority}
            for name, type_, path, priority in _COLUMNS
        ],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{_NAMES['plural']}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Cluster", "names": _NAMES, "versions": [version]},
    }


def fault_kind() -> Kind:
    """Return the kind."""
    definition = fault_definition()
    return compile_kind(definition, serializer.encode_json(definition))


def _make_schema() -> Object:
    status = {name: {"type": type_, "description": description} for name, (type_, description) in _STATUS.items()}
    status["seed"]["format"] = "int64"
    spec = {
        "type": "object",
        "description": "What is to go wrong, where and how often.",
        "properties": {name: _make_field_schema(term) for name, term in TERMS.items()},
        "x-kubernetes-validations": [{"rule": rule.expression, "message": rule.message} for rule in RULES],
    }
    return {
        "type": "object",
        "description": "One thing that goes wrong with what clients ask, for their tests.",
        "required": ["spec"],
        "properties": {"spec": spec, "status": {"type": "object", "properties": status}},
    }


def _make_field_schema(term: FieldSpec) -> Object:
    schema: Object = {"type": _TYPES[term.type], "description": term.description}
    if term.choices:
        return {**schema, "enum": list(term.choices)}
    if term.type is str:
        return {**schema, "maxLength": int(term.maximum)}
    if term.type is bool:
        return schema
    if term.type is int:
        return {**schema, "format": "int64", "minimum": int(term.minimum), "maximum": int(term.maximum)}
    return {**schema, "minimum": term.minimum, "maximum": term.maximum}


log = logging.getLogger("podless")


_MANAGER = "podless"
_DELAY = 0.05  # seconds in which counts are collected before a write
_SEED = 8  # hexadecimal digits of the uid that give the seed, if the spec has none


@dataclass(slots=True)
class _ActiveFault:
    """A Fault in force. matched, injected: the counts of its status. writing: the task that writes the status."""

    fault: InjectedFault
    uid: str
    generation: int
    matched: int = 0
    injected: int = 0
    writing: bool = False


class FaultObjects(Controller):
    """Keeps the injected faults in step with the Fault objects, by their keys."""

    name = "podless-faults"
    leads = False

    def __init__(self, api: API, faults: Faults) -> None:
        super().__init__(api)
        self._kind = fault_kind()
        self._scripted = faults
        self._active: dict[str, _ActiveFault] = {}

    async def begin(self) -> None:
        self.api.registry.put_kind(self._kind)
        collection = await self.api.load_collection(self._kind)
        self.leave.append(collection.add_event_handler(self._handle_events))
        for entry in collection.list_entries():
            self._put_in_force(entry)
        self._scripted.settle = self.write_counts

    async def stop(self) -> None:
        """Remove the faults of all objects."""
        self._scripted.settle = None
        for key in list(self._active):
            self._remove_fault(key)
        await super().stop()

    def _handle_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if event.after is None or event.after.terminating:
                self._remove_fault(event.key)
            else:
                self._put_in_force(event.after)

    def _remove_fault(self, key: str) -> None:
        fault = self._active.pop(key, None)
        if fault is not None:
            self._scripted.put_fault(fault.fault.label, None)

    def _put_in_force(self, entry: Entry) -> None:
        obj = entry.decode()
        metadata, active = obj["metadata"], self._active.get(entry.key)
        if active is None or (active.uid, active.generation) != (metadata["uid"], metadata["generation"]):
            try:
                fault = InjectedFault.from_spec(metadata["name"], obj["spec"], seed=int(metadata["uid"][:_SEED], 16))
            except BadFault as error:  # an earlier release of podless accepted it
                log.warning("faults: %s is ignored: %s", metadata["name"], error)
                self._remove_fault(entry.key)
                return
            active = self._active[entry.key] = _ActiveFault(fault, metadata["uid"], metadata["generation"])
            fault.on_match = partial(self.queue.add, entry.key, _DELAY)
            self._scripted.put_fault(fault.label, fault)
            self.queue.add(entry.key)
        if not active.writing:
            self._add_foreign_counts(active, obj)

    def _add_foreign_counts(self, fault: _ActiveFault, obj: Object, own_counts: tuple[int, int] = (0, 0)) -> None:
        """Add the counts of the status that other servers wrote.

        own_counts: the part of them that this server added.
        """
        matched, injected = _read_counts(obj)
        fault.fault.matched += matched - fault.matched - own_counts[0]
        fault.fault.injected += injected - fault.injected - own_counts[1]
        fault.matched, fault.injected = matched, injected

    async def write_counts(self) -> None:
        """Write all pending counts."""
        for key, active in self._active.items():
            if (active.fault.matched, active.fault.injected) != (active.matched, active.injected):
                self.queue.add(key)
        await self.reconcile_all()

    async def reconcile(self, key: str) -> None:
        fault = self._active.get(key)
        if fault is None:
            return
        pending = fault.fault.matched - fault.matched, fault.fault.injected - fault.injected

        def add_counts(obj: Object) -> Object:
            if (obj["metadata"]["uid"], obj["metadata"]["generation"]) != (fault.uid, fault.generation):
                return obj
            matched, injected = _read_counts(obj)
            numbers = {"matched": matched + pending[0], "injected": injected + pending[1], "seed": fault.fault.seed}
            return {**obj, "status": {**numbers, "observedGeneration": fault.generation}}

        fault.writing = True
        try:
            obj = await report_status(self.api, self._kind, key, add_counts, _MANAGER)
        finally:
            fault.writing = False
        if obj is not None and self._active.get(key) is fault:
            self._add_foreign_counts(fault, obj, pending)


def _read_counts(obj: Object) -> tuple[int, int]:
    """Return the counts (matched, injected) of the status, 0 if they belong to an earlier spec."""
    status = obj.get("status") or {}
    if status.get("observedGeneration") != obj["metadata"]["generation"]:
        return 0, 0
    return status.get("matched") or 0, status.get("injected") or 0
