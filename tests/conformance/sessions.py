"""Replay recorded sessions with kubectl and compare what it prints; record what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.recorded import Recording

_CONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s", %s}}]
users: [{name: u, user: {token: "%s"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""
INSECURE = "insecure-skip-tls-verify: true"
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
    """Hide uids, times, ages, resource versions, paths and the widths of columns in what kubectl printed."""
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return "\n".join(_SPACES.sub(" ", _AGE.sub("AGE", line)).rstrip() for line in text.splitlines())


def mask_prose(text: str, own: str) -> str:
    """Hide what `kubectl explain` prints of fields that the session's files do not describe: the server's own words."""
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


def play(session: Recording, server: str, token: str, tls: str = INSECURE) -> list[str]:
    """Run a session's commands. Returns a few lines for each command that printed something else than recorded."""
    own = " ".join(" ".join(session.get("files", {}).values()).split())
    wrong = []
    try:
        for command, got in _shown(session, server, token, tls):
            want = dict(command["expect"])
            if "explain" in command["run"]:
                got["out"], want["out"] = mask_prose(got["out"], own), mask_prose(want["out"], own)
            if got != want:
                parts = [field_name for field_name in ("rc", "out", "err") if got[field_name] != want[field_name]]
                told = [f"   {part} got:  {got[part]!r}\n   {part} want: {want[part]!r}" for part in parts]
                wrong.append("\n".join([f"$ {command['run']}", *told]))
    except subprocess.TimeoutExpired as error:
        wrong.append(f"$ {error.cmd[-1]}\n   did not end within {error.timeout} s")
    return wrong


def record(session: Recording, server: str, token: str, tls: str = INSECURE) -> Recording:
    """Run a session's commands and return it with what they printed.

    tls: how to verify the server, as in the `cluster` of a kubeconfig. Raises TimeoutExpired.
    """
    told = {id(command): shown for command, shown in _shown(session, server, token, tls)}
    commands = [
        {key: value for key, value in command.items() if key != "expect"}
        | ({"expect": told[id(command)]} if id(command) in told else {})
        for command in session["commands"]
    ]
    return session | {"commands": commands}


def _shown(session: Recording, server: str, token: str, tls: str) -> Iterator[tuple[Recording, Shown]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        lay_out(session, server, token, home, tls)
        try:
            for command in session["commands"]:
                got = run_command(command, home, server)
                if not command.get("quiet"):  # quiet ones prepare: nothing to compare
                    yield command, got
        finally:
            tidy(session, home)


def lay_out(session: Recording, server: str, token: str, home: Path, tls: str = INSECURE) -> None:
    """Write the files of a session and its kubeconfig into a folder."""
    for name, text in {"kubeconfig": _CONFIG % (server, tls, token), **session.get("files", {})}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


def tidy(session: Recording, home: Path) -> None:
    """Run the commands that a session ends with."""
    for text in session.get("cleanup", []):
        _bash(text, home)


def run_command(command: Recording, home: Path, server: str) -> Shown:
    """Run a command of a session, and return what it printed. Raises TimeoutExpired."""
    deadline = time.monotonic() + command.get("until_seconds", 0)
    while True:
        done = _bash(command["run"], home)
        out, err = (normalise(_hide_server(text, server)) for text in (done.stdout, done.stderr))
        shown: Shown = {"rc": done.returncode, "out": out, "err": err}
        is_reached = "until" not in command or re.search(command["until"], shown["out"] + shown["err"])
        if is_reached or time.monotonic() > deadline:
            return shown
        time.sleep(0.1)


def _hide_server(text: str, server: str) -> str:
    """Hide the server's address, which may be any; the rules know those on loopback only."""
    return text.replace(server, "SERVER").replace(urllib.parse.urlsplit(server).netloc, "SERVER")


def _bash(text: str, home: Path) -> subprocess.CompletedProcess[str]:
    own = {"KUBECONFIG": str(home / "kubeconfig"), "HOME": str(home), "KUBECTL_EXPLAIN_OPENAPIV3": "true"}
    own["GOMAXPROCS"] = "1"  # threads that look for work take a sixth of kubectl's processor time
    environment = {**os.environ, **own}
    environment.pop("CI", None)
    command = ["bash", "-c", text]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=60, check=False)
