"""Executes the shell sessions of a page, as its reader types them: one shell, one folder, one server.

Output is compared line by line. `...` within a line stands for anything; a line that is only `...` for any lines.
Blanks at the end of lines and runs of blanks are not compared, because the columns of kubectl move. A command whose
output the page does not show must succeed; any other may fail, since its output says so.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.pages.blocks import Block, Command, Page, read_commands

ROOT = Path(__file__).parent.parent.parent
SHELL = ("console",)
PATIENCE = 120.0  # seconds for one command
_HOST = "127.0.0.1"
_PORT = "6443"  # of the pages' servers, unless they give one; the real ones take free ports


class SessionFailure(AssertionError):
    """A command failed, or printed something else than its page shows."""


def matches(shown: str, printed: str) -> bool:
    """Whether printed output is what a page shows."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            parts = [r"\s+".join(map(re.escape, segment.split(" "))) for segment in " ".join(line.split()).split("...")]
            pattern += r"\s*" + ".*".join(parts) + r"[^\S\n]*\n"
    return re.fullmatch(pattern, f"{_plain(printed)}\n") is not None


def _plain(printed: str) -> str:
    return "\n".join(" ".join(line.split()) for line in printed.strip("\n").splitlines())


class Shell:
    """A bash in a folder of its own; commands run one after the other, and everything ends with it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )

    def run(self, text: str, patience: float = PATIENCE) -> tuple[int, str]:
        """Run a command; return its exit status and what it printed on both streams."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        mark = secrets.token_hex(8)
        self._process.stdin.write(f"{text.rstrip()}\necho {mark} $?\n".encode())
        self._process.stdin.flush()
        end = re.compile(rf"{mark} (\d+)\n$".encode())
        found, until = b"", time.monotonic() + patience
        while not (ended := end.search(found)):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                raise SessionFailure(f"{text}does not end in {patience:.0f} s:\n{found.decode(errors='replace')}")
            found += more
        return int(ended[1]), found[: ended.start()].decode(errors="replace")

    def close(self) -> None:
        """End the shell and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def environment(folder: Path, podless: Path | None = None) -> dict[str, str]:
    """Return the environment of a session. podless: the command to test, instead of that of this checkout."""
    programs = folder / ".programs"
    programs.mkdir()
    home = folder / ".home"
    home.mkdir()
    names = {"podless": "podless", "python": "", "python3": "", "pytest": "pytest", "kopf": "kopf"}
    for name, module in names.items():
        if podless is None:
            command = f'"{sys.executable}"' + (f" -m {module}" if module else "")
        elif not (podless.parent / name).exists():
            continue
        else:
            command = f'"{podless.parent / name}"'
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    names_kept = ("PATH", "LANG", "GOPATH", "GOCACHE", "GOPROXY", "GOGC")
    kept = {name: os.environ[name] for name in names_kept if name in os.environ}
    kept |= {"PATH": f"{programs}:{kept['PATH']}", "HOME": str(home), "TMPDIR": str(home), "NO_COLOR": "1"}
    kept |= {"PYTHONPATH": f"{ROOT / 'src'}"} if podless is None else {}
    return kept | {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"}


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return str(probe.getsockname()[1])


class Reader:
    """Someone who follows a page in an empty folder. Raises SessionFailure for what is not as the page says."""

    def __init__(self, page: Page, folder: Path, podless: Path | None = None) -> None:
        self._page = page
        self._folder = folder
        self._shell = Shell(folder, environment(folder, podless))
        self._ports: dict[str, str] = {}  # of the page: those of the real servers
        self._servers = 0
        self.seen: list[tuple[Block, str, str]] = []  # the commands, each with its block and what it printed

    def follow(self) -> int:
        """Save the files, type the commands, and return how many there were."""
        count = 0
        try:
            if self._page.server is not None:
                self._serve(" ".join(["podless serve --memory", *self._page.server]))
                self._must("export KUBECONFIG=$PWD/.kubeconfig")
            for block in self._page.blocks:
                if block.title:
                    place = self._folder / block.title
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(block.text)
                if block.unrun or block.title:
                    continue
                if block.language in SHELL:
                    for command in read_commands(block):
                        self._type(block, command)
                        count += 1
                elif block.language == "python":
                    (self._folder / ".example.py").write_text(block.text)
                    self._type(block, Command(block.line, "python .example.py\n", ""))
                    count += 1
        finally:
            self._shell.close()
        return count

    def _must(self, text: str) -> str:
        status, printed = self._shell.run(text)
        if status:
            raise SessionFailure(f"{text}: exit status {status}: {printed}")
        return printed

    def _type(self, block: Block, command: Command) -> None:
        where = f"{self._page.path.name}:{command.line}: {command.text.strip()}"
        if command.text.startswith("podless serve"):
            status, printed = 0, self._serve(command.text.strip().removesuffix("&"))
        else:
            status, printed = self._shell.run(self._real(command.text))
        printed = printed.replace(str(self._folder), "/home/you")
        printed = re.sub(r"(?m)^.* held the (?:event )?loop for .*\n", "", printed)  # a busy machine, not the page
        for shown, real in self._ports.items():
            printed = printed.replace(f"{_HOST}:{real}", f"{_HOST}:{shown}")
        self.seen.append((block, command.text, printed))
        if command.output and not matches(command.output, printed):
            raise SessionFailure(f"{where}\nthe page shows:\n{command.output}\nit prints ({status}):\n{printed[:3000]}")
        if not command.output and status:
            raise SessionFailure(f"{where}\nexit status {status}:\n{printed[:3000]}")

    def _real(self, text: str) -> str:
        """Replace the ports of a page by those of its servers. An etcd gets free ports."""
        if text.startswith("etcd "):
            for port in re.findall(rf"(?<={_HOST}:)\d+", text):
                self._ports.setdefault(port, _free_port())
        return re.sub(rf"(?<={_HOST}:)\d+", lambda port: self._ports.get(port[0], port[0]), text)

    def _serve(self, command: str) -> str:
        """Start a server in the background, and return what it prints once it serves."""
        self._servers += 1
        log = self._folder / f".server-{self._servers}.log"
        errors = log.with_suffix(".err")  # has the log, of which a terminal shows less
        given = re.search(r" --port (\d+)", command)
        port = given[1] if given else _PORT
        command = self._real(command.replace(given[0], "") if given else command)
        if self._page.server is not None:
            command += " --kubeconfig .kubeconfig"
        # a server that starts again keeps its address
        self._must(f"{command} --port {self._ports.get(port, '0')} > {log} 2> {errors} &")
        until = time.monotonic() + PATIENCE
        while "export KUBECONFIG" not in (text := log.read_text() if log.exists() else ""):
            if time.monotonic() > until:
                raise SessionFailure(f"{command} does not serve:\n{text}{errors.read_text()}")
            time.sleep(0.02)
        if found := re.search(rf"serves https?://{_HOST}:(\d+)", text):
            self._ports[port] = found[1]
        return text


def kubectl_is_here() -> bool:
    """Whether the sessions can run on this machine."""
    return shutil.which("kubectl") is not None


def pages(*folders: str) -> Iterator[Path]:
    """The README and all pages that have something to run."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if "```console" in (text := path.read_text()) or "```python" in text:
            yield path
