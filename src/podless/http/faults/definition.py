"""The kind Fault, compiled from the fields of InjectedFault as if from a CustomResourceDefinition.

The definition is not stored, and servers without --enable-faults do not serve the kind.
"""

from __future__ import annotations

from podless.codec import serializer
from podless.http.faults.fault import GROUP, RULES, TERMS, Term
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object

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
        "schema": {"openAPIV3Schema": _schema()},
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
    whole = fault_definition()
    return compile_kind(whole, serializer.encode_json(whole))


def _schema() -> Object:
    status = {name: {"type": type_, "description": about} for name, (type_, about) in _STATUS.items()}
    status["seed"]["format"] = "int64"
    spec = {
        "type": "object",
        "description": "What is to go wrong, where and how often.",
        "properties": {name: _field(term) for name, term in TERMS.items()},
        "x-kubernetes-validations": [{"rule": rule.expression, "message": rule.message} for rule in RULES],
    }
    return {
        "type": "object",
        "description": "One thing that goes wrong with what clients ask, for their tests.",
        "required": ["spec"],
        "properties": {"spec": spec, "status": {"type": "object", "properties": status}},
    }


def _field(term: Term) -> Object:
    found: Object = {"type": _TYPES[term.type], "description": term.about}
    if term.choices:
        return {**found, "enum": list(term.choices)}
    if term.type is str:
        return {**found, "maxLength": int(term.most)}
    if term.type is bool:
        return found
    if term.type is int:
        return {**found, "format": "int64", "minimum": int(term.least), "maximum": int(term.most)}
    return {**found, "minimum": term.least, "maximum": term.most}
