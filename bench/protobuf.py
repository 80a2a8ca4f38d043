"""What protobuf costs beside JSON: reading and writing objects, lists, and a create over HTTP.

Run: python -m bench protobuf
"""

from __future__ import annotations

import http.client
import ssl
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from bench.record.figure import Figure
from podless import Server
from podless.codec import serializer
from podless.structs import protobuf, structs
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
NAMESPACE = load_struct("core/v1", "Namespace")

MAPS = "/api/v1/namespaces/default/configmaps"


def namespace() -> dict[str, Any]:
    metadata = {
        "name": "team-a",
        "uid": "203cf3a1-ae63-449b-b3f6-a4603eee5a52",
        "resourceVersion": "1234",
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "labels": {"kubernetes.io/metadata.name": "team-a", "team": "a"},
    }
    spec, status = {"finalizers": ["kubernetes"]}, {"phase": "Active"}
    return {"kind": "Namespace", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}


def config_map(name: str = "settings") -> dict[str, Any]:
    data = {f"key{number}": "value " * 16 for number in range(8)}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "labels": {"a": "b"}}, "data": data}


def definition() -> dict[str, Any]:
    """A definition of 440 fields in forty parts."""
    leaf = {"type": "string", "description": "What this field is for, in one plain sentence.", "maxLength": 63}
    part = {"type": "object", "properties": {f"field{number}": leaf for number in range(10)}}
    schema = {"type": "object", "properties": {f"part{number}": part for number in range(40)}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "g.io", "names": {"plural": "as", "kind": "A"}, "scope": "Cluster", "versions": [version]}
    obj = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "metadata": {"name": "as.g.io"}}
    return obj | {"spec": spec}


def timed(run: Callable[[], Any], seconds: float) -> float:
    """Microseconds for one run: the best of five rounds."""
    run()
    start = time.perf_counter()
    run()
    count = max(1, int(seconds / 5 / max(time.perf_counter() - start, 1e-7)))
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            run()
        best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6


def _read_json(struct: Struct, text: bytes) -> Any:
    return structs.decode_struct(struct, orjson.loads(text))


def codecs(seconds: float) -> list[Figure]:
    kinds: list[tuple[str, Struct, dict[str, Any]]] = [
        ("Namespace", NAMESPACE, namespace()),
        ("ConfigMap", CONFIG_MAP, config_map()),
        ("CRD, 440 fields", CUSTOM_RESOURCE_DEFINITION, definition()),
    ]
    found = []
    print(f"{'us':<18}{'bytes':>8}{'JSON':>8} {'read':>8}{'JSON':>8} {'write':>8}{'JSON':>8}")
    for name, struct, given in kinds:
        obj = structs.decode_struct(struct, given)
        text, raw = serializer.encode_json(obj), protobuf.write_object(struct, obj)
        reads = (partial(protobuf.read_object, raw, struct), partial(_read_json, struct, text))
        writes = (partial(protobuf.write_object, struct, obj), partial(serializer.encode_json, obj))
        spent = [timed(run, seconds) for run in (*reads, *writes)]
        labels = ("read protobuf", "read JSON", "write protobuf", "write JSON")
        found += [Figure(f"{name}: {label}", value, "us") for label, value in zip(labels, spent, strict=True)]
        shown = "{:8.1f}{:8.1f} {:8.1f}{:8.1f}".format(*spent)
        print(f"{name:<18}{len(raw):8}{len(text):8} {shown}")
    items = [protobuf.encode_message(NAMESPACE, namespace())] * 10_000
    joined = timed(lambda: protobuf.pack_list("v1", "NamespaceList", {"resourceVersion": "1"}, items), seconds)
    print(f"a list of 10,000 from their messages: {joined / 1000:.2f} ms")
    return [*found, Figure("a list of 10,000 from their messages", joined / 1000, "ms")]


def first_message() -> None:
    """Time and memory of a process's first message."""
    code = (
        "import resource, time, podless.app, podless.structs.structfiles as t, podless.structs.protobuf as p\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "before, start = peak(), time.perf_counter()\n"
        "p.encode_message(t.load_struct('core/v1', 'Namespace'), {})\n"
        "print(f'{(time.perf_counter() - start) * 1000:.0f} ms and {peak() - before:.1f} MB')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"the first message of a process: {done.stdout.strip()}")


def creates(count: int) -> list[Figure]:
    """Creates one after the other over one connection."""
    found = []
    with Server() as server:
        url = urllib.parse.urlsplit(server.url)
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(url.hostname or "", url.port, context=context)
        for media in ("application/json", protobuf.MEDIA):
            wired = media == protobuf.MEDIA
            headers = {"Authorization": f"Bearer {server.token}", "Content-Type": media, "Accept": media}
            bodies = [config_map(f"{'pb' if wired else 'js'}-{number}") for number in range(count)]
            sent = [
                protobuf.write_object(CONFIG_MAP, body) if wired else serializer.encode_json(body) for body in bodies
            ]
            start = time.perf_counter()
            for body in sent:
                connection.request("POST", MAPS, body, headers)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 201, answer.status
            spent = (time.perf_counter() - start) / count
            print(f"create a ConfigMap as {media}: {spent * 1e6:.0f} us")
            found.append(Figure(f"create a ConfigMap as {media}", spent * 1e6, "us"))
    return found


def main(smoke: bool = False) -> list[Figure]:
    first_message()
    return [*codecs(0.01 if smoke else 0.3), *creates(50 if smoke else 2000)]
