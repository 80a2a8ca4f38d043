"""What installing real CRDs costs: time through a server, and the memory that each takes while it is not used."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import orjson

from bench.schema import CRDS, REAL


def definitions() -> list[bytes]:
    """The bodies of the recorded real CRDs, the smallest first."""
    found = []
    for file in sorted(REAL.glob("*.json")):
        steps = json.loads(file.read_text())["steps"]
        found += [orjson.dumps(step["body"]) for step in steps if step.get("path") == CRDS and "body" in step][:1]
    return sorted(found, key=len)


def resident(process: int) -> float:
    """MB."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0]) / 1024


def main() -> None:
    bodies = definitions()
    if not bodies:
        print("the recorded CRDs are not beside this checkout")
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "podless", "serve", "--data", folder, "--port", "0", "--insecure-http"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = urllib.parse.urlsplit(process.stdout.readline().split()[-1])
            headers = {"Authorization": f"Bearer {Path(folder, 'token').read_text().strip()}"}
            client = http.client.HTTPConnection(url.hostname or "", url.port)
            sizes, began, spent = [resident(process.pid)], time.perf_counter(), []
            for body in bodies:
                start = time.perf_counter()
                client.request("POST", CRDS, body, {**headers, "Content-Type": "application/json"})
                answer = client.getresponse()
                answer.read()
                assert answer.status == 201, answer.status
                spent.append(time.perf_counter() - start)
                sizes.append(resident(process.pid))
            total = time.perf_counter() - began
            process.terminate()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = urllib.parse.urlsplit(process.stdout.readline().split()[-1])
            client = http.client.HTTPConnection(url.hostname or "", url.port)
            client.request("GET", CRDS + "?limit=1", headers=headers)
            client.getresponse().read()
            again = resident(process.pid) - sizes[0]
            process.terminate()
    grown = sizes[-1] - sizes[0]
    stored = sum(map(len, bodies)) / 2**20
    print(f"{len(bodies)} real CRDs installed and established in {total:.2f} s; the slowest took {max(spent):.2f} s")
    print(f"resident memory grew by {grown:.1f} MB, {grown / len(bodies):.2f} MB each; their JSON is {stored:.1f} MB")
    print(f"the five largest ({', '.join(f'{len(body) / 2**20:.2f}' for body in bodies[-5:])} MB of JSON) grew it by")
    steps = [f"{after - before:.2f}" for before, after in zip(sizes[-6:-1], sizes[-5:], strict=True)]
    print(f"  {', '.join(steps)} MB, what the allocator keeps of the work included")
    print(f"after a restart it is {again:.1f} MB more than that of an empty server, {again / len(bodies):.2f} MB each")
