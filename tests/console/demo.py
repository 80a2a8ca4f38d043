"""A server with something to see, for tests of the console and for its screenshots."""

from __future__ import annotations

from typing import Any

from podless import Server

GROUP = "data.example.com"
Object = dict[str, Any]

_SPEC: Object = {
    "type": "object",
    "description": "What the database is to be.",
    "required": ["engine"],
    "properties": {
        "engine": {
            "type": "string",
            "enum": ["postgres", "mysql", "sqlite"],
            "description": "The program that runs.",
        },
        "version": {"type": "string", "description": "Version of the engine.", "pattern": r"^\d+(\.\d+)?$"},
        "replicas": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "default": 1,
            "description": "Instances that run at once.",
        },
        "storage": {
            "x-kubernetes-int-or-string": True,
            "description": "Size of the volume, such as 10Gi.",
            "anyOf": [{"type": "integer"}, {"type": "string"}],
        },
        "backup": {
            "type": "object",
            "description": "When backups are made, and how many are kept.",
            "required": ["schedule"],
            "properties": {
                "schedule": {"type": "string", "minLength": 3},
                "keep": {"type": "integer", "minimum": 1, "default": 7},
                "encrypted": {"type": "boolean", "default": True},
            },
        },
        "parameters": {
            "type": "object",
            "description": "Settings of the engine.",
            "additionalProperties": {"type": "string", "maxLength": 64},
        },
        "users": {
            "type": "array",
            "description": "Accounts of the database.",
            "maxItems": 16,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "maxLength": 32},
                    "grants": {"type": "array", "maxItems": 8, "items": {"type": "string"}},
                },
            },
        },
    },
    "x-kubernetes-validations": [
        {
            "rule": "self.engine != 'sqlite' || self.replicas <= 1",
            "message": "SQLite runs in one instance only",
            "fieldPath": ".replicas",
        },
        {"rule": "!has(oldSelf.engine) || self.engine == oldSelf.engine", "message": "the engine cannot change"},
    ],
}
_STATUS: Object = {
    "type": "object",
    "properties": {
        "phase": {"type": "string"},
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "observedGeneration": {"type": "integer", "format": "int64"},
        "conditions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "status"],
                "properties": {
                    "type": {"type": "string"},
                    "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                    "reason": {"type": "string"},
                    "message": {"type": "string"},
                    "lastTransitionTime": {"type": "string", "format": "date-time"},
                    "observedGeneration": {"type": "integer"},
                },
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    },
}


def definition(plural: str, kind: str, spec: Object, columns: list[tuple[str, str, str]], **more: Any) -> Object:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "description": f"{kind} is an object of the demonstration.",
                "properties": {"spec": spec, "status": _STATUS},
            }
        },
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            },
        },
        "additionalPrinterColumns": [
            {"name": name, "type": type_, "jsonPath": path, "description": f"{name} of the {kind.lower()}."}
            for name, type_, path in columns
        ]
        + [{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, **more},
            "versions": [version],
        },
    }


DATABASES = definition(
    "databases",
    "Database",
    _SPEC,
    [
        ("Engine", "string", ".spec.engine"),
        ("Version", "string", ".spec.version"),
        ("Replicas", "integer", ".spec.replicas"),
        ("Phase", "string", ".status.phase"),
        ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    ],
    shortNames=["db"],
)
CACHES = definition(
    "caches",
    "Cache",
    {
        "type": "object",
        "properties": {
            "replicas": {"type": "integer", "default": 1},
            "memory": {"type": "string"},
            "policy": {"type": "string", "enum": ["lru", "lfu"]},
        },
    },
    [("Memory", "string", ".spec.memory"), ("Policy", "string", ".spec.policy"), ("Phase", "string", ".status.phase")],
)
_NAMES = ["orders", "payments", "catalog", "sessions", "analytics", "ledger", "profiles", "search", "inventory"]
_PHASES = [
    ("Running", "True"),
    ("Running", "True"),
    ("Progressing", "Unknown"),
    ("Running", "True"),
    ("Failed", "False"),
]
_ENGINES = [("postgres", "16.4"), ("mysql", "8.4"), ("postgres", "15"), ("sqlite", "3.46")]


def make_database(name: str, number: int = 0) -> Object:
    """Return a Database."""
    engine, version = _ENGINES[number % len(_ENGINES)]
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Database",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "labels": {"app.kubernetes.io/name": name, "tier": ["gold", "silver"][number % 2]},
        },
        "spec": {
            "engine": engine,
            "version": version,
            "replicas": 1 if engine == "sqlite" else 1 + number % 4,
            "storage": "20Gi",
            "backup": {"schedule": "0 3 * * *"},
            "parameters": {"max_connections": "200", "work_mem": "64MB"},
            "users": [{"name": "app", "grants": ["SELECT", "INSERT"]}, {"name": "report", "grants": ["SELECT"]}],
        },
    }


def make_status(number: int) -> Object:
    """Return the status of a Database."""
    phase, ready = _PHASES[number % len(_PHASES)]
    at = "2026-01-31T12:00:00Z"
    reasons = {"True": "AllInstancesReady", "False": "VolumeLost", "Unknown": "RollingOut"}
    messages = {
        "True": "All instances answer.",
        "False": "The volume of instance 0 cannot be attached.",
        "Unknown": "Instance 2 of 3 is being replaced.",
    }
    ready_condition = {
        "type": "Ready",
        "status": ready,
        "reason": reasons[ready],
        "message": messages[ready],
        "lastTransitionTime": at,
    }
    backed = {"type": "BackedUp", "status": "True", "reason": "Done", "message": "", "lastTransitionTime": at}
    return {"phase": phase, "observedGeneration": 1, "conditions": [ready_condition, backed]}


def fill(server: Server) -> None:
    """Give a server definitions, objects, events and a history."""
    server.apply(DATABASES)
    server.apply(CACHES)
    server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    for number, name in enumerate(_NAMES):
        made = make_database(name, number)
        server.apply(made)
        server.apply({**made, "status": make_status(number)}, subresource="status")
    for name in ("pages", "tokens"):
        spec = {"memory": "512Mi", "policy": "lru"}
        server.apply(
            {
                "apiVersion": f"{GROUP}/v1",
                "kind": "Cache",
                "metadata": {"name": name, "namespace": "shop"},
                "spec": spec,
            }
        )
    owner = server.get("databases", "orders", namespace="shop")
    assert owner is not None
    reference = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Database",
        "name": "orders",
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    for kind, name, more in (
        ("ConfigMap", "orders-settings", {"data": {"port": "5432"}}),
        ("Secret", "orders-password", {"stringData": {"password": "example"}}),
        ("Service", "orders", {"spec": {"ports": [{"port": 5432}]}}),
    ):
        metadata = {"name": name, "namespace": "shop", "ownerReferences": [reference]}
        server.apply({"apiVersion": "v1", "kind": kind, "metadata": metadata, **more})
    for number, (type_, reason, message) in enumerate(
        (
            ("Normal", "Created", "Created volume orders-0."),
            ("Normal", "Scaled", "Scaled to 3 instances."),
            ("Warning", "BackupLate", "The backup of 03:00 began 12 minutes late."),
        )
    ):
        server.apply(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"orders.{number}", "namespace": "shop"},
                "involvedObject": {
                    "apiVersion": f"{GROUP}/v1",
                    "kind": "Database",
                    "name": "orders",
                    "namespace": "shop",
                    "uid": owner["metadata"]["uid"],
                },
                "type": type_,
                "reason": reason,
                "message": message,
                "count": 1,
                "source": {"component": "database-controller"},
                "firstTimestamp": owner["metadata"]["creationTimestamp"],
                "lastTimestamp": owner["metadata"]["creationTimestamp"],
            }
        )
    for replicas in (2, 4):
        changed = make_database("orders")
        changed["spec"]["replicas"] = replicas
        server.apply(changed)
