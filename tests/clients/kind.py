"""Takes the place of pytest-kind for a suite that asks for it: the cluster is there, and KUBECONFIG says where."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any


class KindCluster:
    """What KUBECONFIG leads to."""

    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        self.name = name
        self.kubeconfig_path = Path(os.environ["KUBECONFIG"])
        self.kubectl_path = shutil.which("kubectl")

    def create(self) -> None:
        """It is there."""

    def delete(self) -> None:
        """It ends with the server."""

    def kubectl(self, *arguments: str) -> str:
        """What kubectl prints. Raises subprocess.CalledProcessError."""
        command = ["kubectl", "--kubeconfig", str(self.kubeconfig_path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def pytest_addoption(parser: Any) -> None:
    """The option that the suite gives."""
    parser.addoption("--keep-cluster", action="store_true")
