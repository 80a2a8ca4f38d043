from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from podless import Server
from tests.conftest import CRDS, Client, kubectl_runner

CRONTABS = f"{CRDS}/crontabs.stable.example.com"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of their own for each file: short names such as crontabs are to mean one kind only."""
    with Server() as running:
        yield running


class Walk:
    """Someone who follows a document: saves files, and types commands."""

    def __init__(self, run: Callable[..., str], folder: Path, binary: str, *, old: bool) -> None:
        self._run = run
        self._folder = folder
        self.binary = binary
        self.old = old  # kubectl before 1.27, which reads OpenAPI v2 in protobuf

    def save(self, name: str, content: Any) -> None:
        """A file, given as text or as what YAML is to be made of."""
        (self._folder / name).write_text(content if isinstance(content, str) else yaml.safe_dump(content))

    def type(self, command: str, *more: str) -> str:
        """What a command prints, on both streams. more: arguments that hold blanks."""
        return self._run(*command.removeprefix("kubectl ").split(), *more)


@pytest.fixture(params=["kubectl", "kubectl-1.20"])
def walk(request: pytest.FixtureRequest, server: Server, client: Client, tmp_path: Path) -> Iterator[Walk]:
    """A walk with kubectl as it is, and with the one of 1.20 where it is at hand (PODLESS_KUBECTL_OLD, or in PATH)."""
    old = request.param != "kubectl"
    binary = (os.environ.get("PODLESS_KUBECTL_OLD") if old else "") or shutil.which(request.param)
    if not binary:
        pytest.skip(f"{request.param} is not on this machine")
    yield Walk(kubectl_runner(binary, server, tmp_path), tmp_path, binary, old=old)
    if client.send("DELETE", CRONTABS).status == 200:
        while client.get(CRONTABS).status != 404:
            pass
