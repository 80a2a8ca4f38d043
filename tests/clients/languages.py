"""Client programs in other languages: whose toolchain is here is built, and runs on a server of its own.

A program prints a line for each step, `ok STEP`, `none STEP: why` for
what its library does not have, or `FAILED STEP: why`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from podless import Server

HERE = Path(__file__).parent
MADE = HERE.parent.parent / ".clients"  # what is downloaded and built; not in git

STEPS = (
    "definition",
    "informer",
    "resync",
    "apply",
    "finalizers",
    "status",
    "watch-cut",
    "watch-expired",
    "leader-election",
    "controller",
)
_RUN_TIME = 120.0  # seconds that a program may take
_ENDS = {"cut": "watch-cut", "expired": "watch-expired"}  # namespaces in which watches end early, and whose step it is


@dataclass(frozen=True)
class Program:
    """One client. fetch: downloads what is needed; build: needs no network. The commands run in the folder."""

    name: str
    folder: Path
    tools: Sequence[str]
    fetch: Sequence[str]
    build: Sequence[str]
    run: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


PYTHON = MADE / "python/bin/python"
LIBRARIES = ("kubernetes", "kubernetes_asyncio", "lightkube", "kr8s", "pykube-ng", "kopf")  # of Python


def _python(library: str) -> Program:
    """The program of a library of Python. All of them have one environment."""
    wanted = HERE / "python/requirements.txt"
    fetch = f"[ -x {PYTHON} ] || {sys.executable} -m venv {MADE}/python; {PYTHON} -m pip install -q -r {wanted}"
    module = f"tests.clients.python.with_{library.replace('-ng', '')}"
    return Program(library, HERE.parent.parent, ("sh",), ("sh", "-c", fetch), (), (str(PYTHON), "-m", module))


PROGRAMS = {
    program.name: program
    for program in (
        *map(_python, LIBRARIES),
        Program(
            "node",
            HERE / "node",
            ("node", "npm"),
            ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"),
            (),
            ("node", "main.mjs"),
        ),
        Program(
            "java",
            HERE / "java",
            ("java", "javac", "mvn"),
            ("mvn", "-q", "-B", "-ntp", "-Dmaven.main.skip=true", "compile"),
            ("mvn", "-q", "-B", "-ntp", "-o", "compile"),
            ("sh", "-c", 'exec java -cp "target/classes:$(cat target/classpath)" clients.Main'),
        ),
        Program(
            "go",
            HERE / "go",
            ("go",),
            ("go", "mod", "download"),
            ("go", "build", "-mod=readonly", "-o", str(MADE / "go"), "."),
            (str(MADE / "go"),),
            {"GOTOOLCHAIN": "local"},
        ),
        Program(
            "rust",
            HERE / "rust",
            ("cargo", "rustc"),
            ("cargo", "fetch", "--locked", "--quiet"),
            ("cargo", "build", "--locked", "--offline", "--quiet", "--target-dir", str(MADE / "rust")),
            (str(MADE / "rust/debug/clients"),),
        ),
    )
}


@dataclass
class Report:
    """What became of a client. left_out: why it did not run; results: the word and the reason of each step.

    version: of what came with it.
    """

    name: str
    version: str = ""
    left_out: str = ""
    results: dict[str, tuple[str, str]] = field(default_factory=dict)
    built_in: float = 0.0  # seconds
    took: float = 0.0  # seconds

    @property
    def failures(self) -> list[str]:
        """The steps that went wrong, with their reasons."""
        return [f"{step}: {why}" for step, (word, why) in self.results.items() if word == "FAILED"]

    def show(self) -> str:
        """What is told of it."""
        if self.left_out:
            return f"left out: {self.name}, {self.left_out}"
        lines = [f"{self.name}: built in {self.built_in:.0f} s, ran for {self.took:.0f} s"]
        well = [step for step, (word, _) in self.results.items() if word == "ok"]
        if well:
            lines.append(f"  ok {', '.join(well)}")
        lines += [f"  {word} {step}: {why}" for step, (word, why) in self.results.items() if word != "ok"]
        return "\n".join(lines)


def take(program: Program, until: float) -> Report:
    """Build and run one program. until: the clock's seconds (time.monotonic) when its build is given up."""
    report = Report(program.name)
    missing = [tool for tool in program.tools if shutil.which(tool) is None]
    if missing:
        report.left_out = f"{', '.join(missing)} is not on this machine"
        return report
    began = time.monotonic()
    for what, command in (("download", program.fetch), ("build", program.build)):
        if not command:
            continue
        try:
            done = run(command, program, max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            report.left_out = f"its {what} was given up after {time.monotonic() - began:.0f} s"
            return report
        if done.returncode:
            said = " ".join((done.stdout + done.stderr).split())[-500:]
            if what == "download":
                report.left_out = f"its packages cannot be downloaded: {said}"
            else:
                report.results["build"] = ("FAILED", said)
            return report
    report.built_in = time.monotonic() - began
    walk(program, report)
    return report


def walk(program: Program, report: Report) -> None:
    """Run a program against a server on which watches end early in two namespaces."""
    began = time.monotonic()
    with Server() as server:
        plural = "widgets.clients.example.com"
        faults = {
            "cut": server.faults.add(verb="watch", resource=plural, namespace="cut", cut_after=2, times=3),
            "expired": server.faults.add(verb="watch", resource=plural, namespace="expired", expire_after=2, times=3),
        }
        try:
            done = run(program.run, program, _RUN_TIME, KUBECONFIG=str(server.kubeconfig))
            said, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as error:
            said, code = (error.stdout or b"").decode(), -1
            report.results["run"] = ("FAILED", f"it did not end in {_RUN_TIME:.0f} s")
        happened = {namespace: fault.injected for namespace, fault in faults.items()}
    report.took = time.monotonic() - began
    report.results |= read(said)
    for step in STEPS:
        report.results.setdefault(step, ("FAILED", "the program did not tell of it"))
    for namespace, step in _ENDS.items():
        if report.results[step][0] == "ok" and not happened[namespace]:
            report.results[step] = ("FAILED", "no watch was ended early")
    if code and not report.failures:
        report.results["run"] = ("FAILED", f"it ended with {code}")


def read(said: str) -> dict[str, tuple[str, str]]:
    """The steps in what a program printed."""
    found = {}
    for line in said.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("ok", "none", "FAILED"):
            step, _, why = rest.partition(": ")
            found[step] = (word, why)
    return found


def run(
    command: Sequence[str], program: Program, seconds: float, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a program's folder; all that it started ends with it. Raises subprocess.TimeoutExpired."""
    MADE.mkdir(exist_ok=True)
    return finished(command, program.folder, seconds, {**program.environment, **environment})


def finished(
    command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a session of its own. Raises subprocess.TimeoutExpired."""
    popen = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = popen.communicate(timeout=seconds)
    except BaseException:
        os.killpg(popen.pid, signal.SIGKILL)
        popen.communicate(timeout=30)
        raise
    return subprocess.CompletedProcess(command, popen.returncode, out, err)
