"""What a plan costs: 500 objects against an API with 5,000, in processes of their own.

Run it with: python -m bench.plan
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.record.figure import Sheet
from podless import Server
from podless.codec import serializer

STORED, PLANNED, SPACES = 5_000, 500, 10
_RUN = (
    "import resource, sys; from podless.cli import main; main(sys.argv[1:]); "
    "used = resource.getrusage(resource.RUSAGE_SELF); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)"
)


def make_deployment(number: int, image: str) -> dict[str, Any]:
    labels = {"app": f"d{number}"}
    container = {"name": "app", "image": image, "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"d{number}", "namespace": f"n{number % SPACES}"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def make_configmap(number: int, value: str) -> dict[str, Any]:
    metadata = {"name": f"c{number}", "namespace": f"n{number % SPACES}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": value, "long": "x" * 200}}


def main(smoke: bool = False) -> Sheet:
    """Measure it; with smoke, a tenth of it once."""
    size = 10 if smoke else 1
    stored, planned = STORED // size, PLANNED // size
    sheet = Sheet()
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"n{place}"}} for place in range(SPACES)]
    half, quarter = planned // 2, planned // 4
    wanted = [make_deployment(number, "app:2") for number in range(half)]
    wanted += [make_configmap(number, "new") for number in (*range(quarter), *range(stored, stored + quarter))]
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        server.apply(spaces, manager="kubectl")
        server.apply([make_deployment(number, "app:1") for number in range(stored // 2)], manager="kubectl")
        server.apply([make_configmap(number, "old") for number in range(stored // 2)], manager="kubectl")
        (Path(folder) / "set.yaml").write_bytes(b"---\n".join(map(serializer.encode_yaml, wanted)))
        command = [sys.executable, "-c", _RUN, "plan", folder, "--kubeconfig", str(server.kubeconfig)]
        runs = [_plan(command) for _ in range(1 if smoke else 3)]
    for name, unit, values in zip(
        ("wall", "processor", "memory"), ("s", "s", "MB"), zip(*runs, strict=True), strict=True
    ):
        sheet.put(f"{planned} objects against {stored}: {name}", min(values), unit)
    return sheet


def _plan(command: list[str]) -> tuple[float, float, float]:
    """Return seconds, seconds of CPU and MB of one run of the command."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    spent, used = done.stderr.splitlines()[-1].split()
    return seconds, float(spent), float(used)


if __name__ == "__main__":
    main()
