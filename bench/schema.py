"""What the schema engine costs: the compiled walk over a 2 KB object, installing the recorded real CRDs, memory.

python -m bench.schema; the real CRDs are read from ../shared/conformance when it is there.
"""

from __future__ import annotations

import gc
import json
import pathlib
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson

from bench.record.figure import Figure, Sheet
from podless.schema import Schema, structural

REAL = pathlib.Path(__file__).parents[2] / "shared" / "conformance" / "scenarios" / "realworld"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

NAME = {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
QUANTITY = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
CONTAINER: dict[str, Any] = {
    "type": "object",
    "required": ["name", "image"],
    "properties": {
        "name": NAME,
        "image": {"type": "string", "minLength": 1, "maxLength": 255},
        "imagePullPolicy": {"type": "string", "enum": ["Always", "Never", "IfNotPresent"], "default": "IfNotPresent"},
        "args": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
        "env": {
            "type": "array",
            "maxItems": 50,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "pattern": "^[A-Z_][A-Z0-9_]*$"},
                    "value": {"type": "string"},
                    "valueFrom": {
                        "type": "object",
                        "oneOf": [{"required": ["secretKeyRef"]}, {"required": ["fieldPath"]}],
                        "properties": {
                            "fieldPath": {"type": "string"},
                            "secretKeyRef": {
                                "type": "object",
                                "required": ["key"],
                                "properties": {
                                    "name": {"type": "string", "default": ""},
                                    "key": {"type": "string"},
                                    "optional": {"type": "boolean"},
                                },
                            },
                        },
                    },
                },
            },
        },
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["containerPort", "protocol"],
            "items": {
                "type": "object",
                "required": ["containerPort"],
                "properties": {
                    "containerPort": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535},
                    "protocol": {"type": "string", "enum": ["TCP", "UDP", "SCTP"], "default": "TCP"},
                    "name": {"type": "string"},
                },
            },
        },
        "resources": {
            "type": "object",
            "default": {},
            "properties": {
                "limits": {"type": "object", "additionalProperties": QUANTITY},
                "requests": {"type": "object", "additionalProperties": QUANTITY},
            },
        },
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "required": ["image", "containers"],
            "properties": {
                "replicas": {"type": "integer", "format": "int32", "minimum": 0, "default": 1},
                "image": {"type": "string"},
                "paused": {"type": "boolean", "default": False},
                "mode": {"type": "string", "enum": ["Active", "Standby"], "default": "Active"},
                "schedule": {"type": "string", "pattern": r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "owners": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "containers": {
                    "type": "array",
                    "minItems": 1,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": CONTAINER,
                },
                "config": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "observedGeneration": {"type": "integer", "format": "int64"},
                "conditions": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    "items": {
                        "type": "object",
                        "required": ["type", "status"],
                        "properties": {
                            "type": {"type": "string"},
                            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                            "reason": {"type": "string"},
                            "message": {"type": "string", "maxLength": 32768},
                            "lastTransitionTime": {"type": "string", "format": "date-time"},
                        },
                    },
                },
            },
        },
    },
}


def _container(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.com/team/{name}:1.22.4",
        "args": ["--listen=:8080", "--verbose", "--config=/etc/app/config.yaml", "--trace-endpoint=http://trace:4317"],
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "POD_NAME", "valueFrom": {"fieldPath": "metadata.name"}},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "app-credentials", "key": "token"}}},
        ],
        "ports": [{"containerPort": 8080, "name": "http"}, {"containerPort": 9090, "name": "metrics"}],
        "resources": {"limits": {"cpu": 2, "memory": "512Mi"}, "requests": {"cpu": "250m", "memory": "256Mi"}},
    }


OBJECT: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "App",
    "metadata": {"name": "front", "namespace": "default", "labels": {"app": "front"}},
    "spec": {
        "replicas": 3,
        "image": "registry.example.com/team/front:1.22.4",
        "schedule": "*/5 * * * *",
        "labels": {"app": "front", "tier": "web", "team": "payments"},
        "owners": ["ada@example.com", "grace@example.com"],
        "containers": [_container("front"), _container("sidecar")],
        "mode": "Standby",
        "config": {"cache": {"size": 100, "ttl": "5m"}, "features": ["a", "b"]},
    },
    "status": {
        "observedGeneration": 4,
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "MinimumReplicasAvailable",
                "message": "The deployment has minimum availability and all its replicas have been updated.",
                "lastTransitionTime": "2026-01-05T10:11:12Z",
            },
            {
                "type": "Progressing",
                "status": "False",
                "reason": "Complete",
                "lastTransitionTime": "2026-01-05T10:11:12Z",
            },
        ],
    },
}


def cost(work: Callable[[Any], object], body: bytes, rounds: int) -> float:
    """Microseconds of CPU for one call on a fresh object, decoding left out; the best of five."""
    best = float("inf")
    for _ in range(5):
        objects = [orjson.loads(body) for _ in range(rounds)]
        gc.disable()
        start = time.process_time()
        for obj in objects:
            work(obj)
        best = min(best, time.process_time() - start)
        gc.enable()
    return best / rounds * 1e6


def walks(rounds: int) -> list[Figure]:
    """The cost of each operation on the 2 KB object."""
    body = orjson.dumps(OBJECT)
    schema = Schema.compile(SCHEMA)
    assert schema.admit(orjson.loads(body)) == []
    unknown = orjson.loads(body)
    unknown["spec"]["containers"][1]["unknown"] = 1
    broken = orjson.loads(body)
    broken["spec"]["containers"][1]["ports"][0]["containerPort"] = 0
    print(f"object: {len(body)} bytes")
    work: dict[str, tuple[Callable[[Any], object], bytes, int]] = {
        "admit (prune, default, validate)": (schema.admit, body, rounds),
        "validate alone": (schema.validate, body, rounds),
        "prune alone": (schema.prune, body, rounds),
        "normalize (prune, default)": (schema.normalize, body, rounds),
        "admit with an unknown field": (schema.admit, orjson.dumps(unknown), rounds // 8),
        "admit with an error": (schema.admit, orjson.dumps(broken), rounds // 8),
    }
    sheet = Sheet()
    for name, (run, given, times) in work.items():
        sheet.put(name, cost(run, given, times), "us")
    return sheet


def real() -> list[dict[str, Any]]:
    """The recorded real definitions."""
    found = []
    for file in sorted(REAL.glob("*.json")):
        for step in json.loads(file.read_text())["steps"]:
            if step.get("path") == CRDS and step.get("method") == "POST":
                found.append(step["body"])
                break
    return found


def installs(most: int) -> list[Figure]:
    """Checking, compiling and holding the real definitions."""
    crds = real()[:most]
    if not crds:
        print("no ../shared/conformance here: real definitions are left out")
        return []
    start = time.process_time()
    for crd in crds:
        for version in crd["spec"]["versions"]:
            structural(version["schema"]["openAPIV3Schema"], "spec.validation.openAPIV3Schema", status=False)
    checked = time.process_time()
    schemas = [Schema.from_crd(crd, version["name"]) for crd in crds for version in crd["spec"]["versions"]]
    for schema in schemas:
        schema.admit({"apiVersion": "v1", "kind": "X", "metadata": {}, "spec": {}})
    used = time.process_time()
    print(f"{len(crds)} real CRDs with {len(schemas)} schemas")
    sheet = Sheet()
    sheet.put("check of all real CRDs", checked - start, "s")
    sheet.put("first use of all real CRDs", used - checked, "s")
    bodies = [orjson.dumps(crd) for crd in crds]
    tracemalloc.start()
    sizes = []
    for body in bodies:
        before = tracemalloc.get_traced_memory()[0]
        crd = orjson.loads(body)
        middle = tracemalloc.get_traced_memory()[0]
        held = [Schema.from_crd(crd, version["name"]) for version in crd["spec"]["versions"]]
        sizes.append((tracemalloc.get_traced_memory()[0] - middle, middle - before, crd["metadata"]["name"], held))
    tracemalloc.stop()
    own, given, name, _ = max(sizes, key=lambda size: size[1])
    mean = sum(size[0] for size in sizes) / len(sizes)
    total = sum(size[1] for size in sizes)
    print(f"decoded JSON of a CRD: {total / len(sizes) / 1e6:.2f} MB in the mean, {given / 1e6:.2f} MB for the largest")
    sheet.put("memory of an unused schema beside its JSON", mean / 1e3, "kB")
    sheet.put(f"of the largest, {name}", own / 1e3, "kB")
    return sheet


def main(smoke: bool = False) -> list[Figure]:
    """Print all figures."""
    return [*walks(80 if smoke else 4000), *installs(4 if smoke else 1000)]
