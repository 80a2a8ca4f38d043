"""Plays recorded sessions with kubectl, and says what a person would have seen otherwise."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.recorded import Recording

_CONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: "%s"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""
_RULES = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"), "TIME"),
    (re.compile(r'(resourceVersion"?: ?"?)\d+'), r"\1RV"),
    (re.compile(r"(Resource Version:\s+)\d+"), r"\1RV"),
    (re.compile(r"https?://127\.0\.0\.1:\d+"), "SERVER"),
    (re.compile(r"127\.0\.0\.1:\d+"), "SERVER"),
    (re.compile(r"(?m)^[EWI]\d{4} .*\n?"), ""),  # the client's own log lines come and go
    (re.compile(r"/tmp/[^\s\"']+"), "PATH"),
]
_AGE = re.compile(r"(?<=[ ])\d+(ms|s|m|h|d)(\d+s|\d+m|\d+h)?(?=\s|$)")
_SPACES = re.compile(r" +")
Shown = dict[str, Any]


def normalise(text: str) -> str:
    """What was printed, without uids, times, ages, versions, places and the widths of columns."""
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return "\n".join(_SPACES.sub(" ", _AGE.sub("AGE", line)).rstrip() for line in text.splitlines())


def mask_prose(text: str, own: str) -> str:
    """What `kubectl explain` tells of fields that the session's files do not describe is the server's own words."""
    lines: list[str] = []
    block: list[str] = []

    def end() -> None:
        words = " ".join(" ".join(block).split())
        lines.extend(block if not block or words in own or words.startswith("<") else [" ITS OWN WORDS"])
        block.clear()

    for line in text.splitlines():
        if line.startswith(" ") and "\t<" not in line and line.strip():
            block.append(line)
        else:
            end()
            lines.append(line)
    end()
    return "\n".join(lines)


def play(session: Recording, server: str, token: str) -> list[str]:
    """Run a session's commands; a few lines for each that showed something else than was recorded."""
    own = " ".join(" ".join(session.get("files", {}).values()).split())
    wrong = []
    try:
        for command, got in _shown(session, server, token):
            want = dict(command["expect"])
            if "explain" in command["run"]:
                got["out"], want["out"] = mask_prose(got["out"], own), mask_prose(want["out"], own)
            if got != want:
                parts = [part for part in ("rc", "out", "err") if got[part] != want[part]]
                told = [f"   {part} got:  {got[part]!r}\n   {part} want: {want[part]!r}" for part in parts]
                wrong.append("\n".join([f"$ {command['run']}", *told]))
    except subprocess.TimeoutExpired as error:
        wrong.append(f"$ {error.cmd[-1]}\n   did not end within {error.timeout} s")
    return wrong


def _shown(session: Recording, server: str, token: str) -> Iterator[tuple[Recording, Shown]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name, text in {"kubeconfig": _CONFIG % (server, token), **session.get("files", {})}.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        try:
            for command in session["commands"]:
                got = _run(command, home)
                if not command.get("quiet"):  # quiet ones prepare: nothing to compare
                    yield command, got
        finally:
            for text in session.get("cleanup", []):
                _bash(text, home)


def _run(command: Recording, home: Path) -> Shown:
    deadline = time.monotonic() + command.get("until_seconds", 0)
    while True:
        done = _bash(command["run"], home)
        shown: Shown = {"rc": done.returncode, "out": normalise(done.stdout), "err": normalise(done.stderr)}
        is_reached = "until" not in command or re.search(command["until"], shown["out"] + shown["err"])
        if is_reached or time.monotonic() > deadline:
            return shown
        time.sleep(0.1)


def _bash(text: str, home: Path) -> subprocess.CompletedProcess[str]:
    own = {"KUBECONFIG": str(home / "kubeconfig"), "HOME": str(home), "KUBECTL_EXPLAIN_OPENAPIV3": "true"}
    environment = {**os.environ, **own}
    environment.pop("CI", None)
    command = ["bash", "-c", text]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=60, check=False)
