"""What checking files costs: many objects, and the published definitions of real projects."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from bench.install import definitions
from bench.record.figure import Figure, Sheet

_ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "integer"}}}
_SPEC = {
    "type": "object",
    "properties": {"size": {"type": "integer"}, "text": {"type": "string"}, "items": {"type": "array", "items": _ITEM}},
    "x-kubernetes-validations": [{"rule": "self.size < 10"}],
}
_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _SPEC}}},
            }
        ],
    },
}


def gadget(number: int) -> str:
    """An object of about 1 KB, as a document of YAML."""
    metadata = {"name": f"gadget-{number}", "namespace": "default", "annotations": {"note": "some text " * 20}}
    items = [{"name": f"item{place}", "value": place} for place in range(6)]
    spec = {"size": 3, "text": "other text " * 30, "items": items}
    obj = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": metadata, "spec": spec}
    return yaml.dump(obj, Dumper=yaml.CSafeDumper, sort_keys=False)


def check(*paths: Path) -> tuple[float, str]:
    """Seconds of one run of the command, and the last line that it prints."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "podless", "check", *map(str, paths)], capture_output=True, text=True, check=False
    )
    return time.perf_counter() - began, done.stdout.splitlines()[-1]


def main(smoke: bool = False) -> list[Figure]:
    sheet = Sheet()
    objects = 400 if smoke else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "crd.json").write_text(json.dumps(_CRD))
        for file in range(20):
            texts = [gadget(file * objects + place) for place in range(objects // 20)]
            (folder / f"{file}.yaml").write_text("---\n".join(texts))
        seconds, said = check(folder)
        print(said)
        sheet.put(f"{objects:,} objects of 1 KB in 20 files, one definition with a rule", seconds, "s")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        sheet.put("largest process of that", peak, "MB")
        real = folder / "real"
        real.mkdir()
        for place, body in enumerate(definitions()[: 8 if smoke else None]):
            (real / f"{place}.yaml").write_text(yaml.dump(json.loads(body), Dumper=yaml.CSafeDumper, sort_keys=False))
        if any(real.iterdir()):
            seconds, said = check(real)
            print(said)
            sheet.put("the published definitions of real projects, as YAML", seconds, "s")
    return sheet
