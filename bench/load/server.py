"""A `podless serve` in a process of its own, over TLS with SQLite on disk, and what it takes of the machine."""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.load import process
from bench.load.client import Target


class Served:
    """A running server; a context manager. folder: where its data is, a temporary one without. more: options.

    program: what the interpreter runs, which takes the arguments of podless.
    """

    def __init__(
        self,
        folder: Path | None = None,
        tls: bool = True,
        more: Sequence[str] = (),
        program: Sequence[str] = ("-m", "podless"),
    ) -> None:
        self._program = program
        self._scratch = tempfile.TemporaryDirectory(prefix="podless-bench-") if folder is None else None
        self.folder = folder or Path(self._scratch.name if self._scratch else "")
        self._tls = tls
        self._more = more
        self.ready = 0.0  # seconds from start to the first answer
        self.ended = 0.0  # seconds from SIGTERM to the end

    def __enter__(self) -> Self:
        _files()
        serve = ("serve", "--data", str(self.folder), "--port", "0", *self._more)
        command = [sys.executable, *self._program, *serve]
        if not self._tls:
            command.append("--insecure-http")
        began = time.perf_counter()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_compiled())
        try:
            self._reach()
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        self.ready = time.perf_counter() - began
        return self

    def _reach(self) -> None:
        assert self._process.stdout is not None
        words = self._process.stdout.readline().split()
        if not words:
            raise RuntimeError("the server did not start")
        url = urllib.parse.urlsplit(words[-1])
        token = (self.folder / "token").read_text().strip()
        self.target = Target(url.hostname or "", url.port or 0, token, self._tls)
        self._connection = self._connect()
        self.send("GET", "/readyz")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        began = time.perf_counter()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        self.ended = time.perf_counter() - began
        if self._scratch is not None:
            self._scratch.cleanup()

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self.target.host, self.target.port
        if not self._tls:
            return http.client.HTTPConnection(host, port, timeout=120)
        return http.client.HTTPSConnection(host, port, timeout=120, context=ssl._create_unverified_context())

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.folder / "kubeconfig"

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        media: str = "application/json",
        accept: str = "application/json",
    ) -> bytes:
        """One request over a kept connection; the answer's body. Raises RuntimeError for an answer that is not 2xx."""
        headers = {"Authorization": f"Bearer {self.target.token}", "Content-Type": media, "Accept": accept}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self._connection.request(method, path, data, headers)
        answer = self._connection.getresponse()
        raw = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {raw[:500].decode('utf-8', 'replace')}")
        return raw

    def install(self, definition: dict[str, Any]) -> None:
        """Make a definition and wait until its objects are served."""
        self.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        spec = definition["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}?limit=1"
        self.send("GET", path)  # in force for the very next request

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def rss(self) -> float:
        """MB of resident memory."""
        return process.rss(self.pid)

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        return process.cpu(self.pid)


def _compiled() -> dict[str, str]:
    """The environment, in which what was compiled is kept, as it is where podless is installed."""
    environment = dict(os.environ)
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):
        environment.setdefault("PYTHONPYCACHEPREFIX", f"{tempfile.gettempdir()}/podless-bench-compiled-{os.getuid()}")
    return environment


def _files() -> None:
    """Thousands of watchers need as many file descriptors, in the server and in the client."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard > 0 else 65536, hard))
