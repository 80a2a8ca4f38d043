"""How long `podless serve` takes from its start to its first answer, and how much memory it holds when idle."""

from __future__ import annotations

import json
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path


def first_answer(folder: str) -> tuple[float, float, float]:
    """Seconds to the first answer of /readyz, resident memory in MB then, and seconds that the end took."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "podless", "serve", "--data", folder, "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    context = ssl._create_unverified_context()
    with urllib.request.urlopen(f"{url}/readyz", context=context) as answer:
        assert answer.read() == b"ok"
    ready = time.perf_counter() - began
    kubeconfig = json.loads(Path(folder, "kubeconfig").read_text())
    token = kubeconfig["users"][0]["user"]["token"]
    request = urllib.request.Request(f"{url}/api/v1/namespaces", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, context=context) as answer:
        assert len(json.load(answer)["items"]) >= 4
    memory = int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[0]) / 1024
    ending = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    process.wait()
    return ready, memory, time.perf_counter() - ending


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ready, memory, ended = first_answer(folder)
        print(f"first start, certificates made: {ready * 1000:.0f} ms to the first answer")
        runs = [first_answer(folder) for _ in range(5)]
    print(f"later starts: {min(run[0] for run in runs) * 1000:.0f} ms (best of {len(runs)})")
    print(f"memory when idle: {memory:.1f} MB at the first start, {runs[0][1]:.1f} MB at a later one")
    print(f"SIGTERM to the end: {max(ended, *(run[2] for run in runs)) * 1000:.0f} ms (worst)")
