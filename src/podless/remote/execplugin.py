"""Credentials from a program that a kubeconfig names: client.authentication.k8s.io/v1 and v1beta1.

Source: plugin/pkg/client/auth/exec of client-go.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from podless.codec import serializer
from podless.remote.client import RemoteError
from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.runtime.files import describe_fault

_GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")
EXTENSION = f"{_GROUP}/exec"  # the extension of a kubeconfig's cluster that the program gets as its config
_MODES = ("Never", "IfAvailable", "Always")


class BadPlugin(ValueError):
    """A user's `exec` is unusable; the text is one line."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential from the plugin.

    token: "" for none. certificate, key: PEM, b"" for none. expires: seconds since 1970, None if unknown.
    """

    token: str = ""
    certificate: bytes = b""
    key: bytes = b""
    expires: float | None = None


class ExecPlugin:
    """The credential plugin of one user. cluster: its cluster info, None unless provideClusterInfo is set.

    Raises BadPlugin for a configuration that kubectl would also reject.
    """

    def __init__(self, config: Mapping[str, Any], user: str, folder: Path, cluster: Mapping[str, Any] | None) -> None:
        self._version = str(config.get("apiVersion") or "")
        if self._version not in VERSIONS:
            raise BadPlugin(f"exec of user {user}: apiVersion {self._version!r} is not one of {', '.join(VERSIONS)}")
        mode = config.get("interactiveMode")
        if not mode and self._version == VERSIONS[0]:
            raise BadPlugin(f"exec of user {user}: interactiveMode is required with {VERSIONS[0]}")
        self._mode = str(mode or "IfAvailable")
        if self._mode not in _MODES:
            raise BadPlugin(f"exec of user {user}: interactiveMode {self._mode!r} is not one of {', '.join(_MODES)}")
        command = str(config.get("command") or "")
        if not command:
            raise BadPlugin(f"exec of user {user}: command is required")
        # a path is relative to the kubeconfig; a bare name is looked up in PATH
        self._command = str(folder / command) if os.sep in command else command
        self._arguments = [str(item) for item in _as_list(config.get("args"))]
        entries = [item for item in _as_list(config.get("env")) if isinstance(item, Mapping)]
        self._environment = {str(entry.get("name")): str(entry.get("value") or "") for entry in entries}
        self._hint = str(config.get("installHint") or "").strip()
        self._cluster = cluster if config.get("provideClusterInfo") else None
        self._credential: Credential | None = None
        self._running = asyncio.Lock()

    async def get_credential(self, refused: Credential | None = None) -> Credential:
        """Return the credential. Runs the plugin if there is none, or it has expired.

        refused: a credential that the server has rejected. Raises RemoteError.
        """
        async with self._running:
            credential = self._credential
            if (
                credential is None
                or credential is refused
                or (credential.expires is not None and credential.expires <= clock.time())
            ):
                self._credential = credential = self._read_answer(await self._run_command())
            return credential

    async def _run_command(self) -> bytes:
        terminal = sys.stdin is not None and sys.stdin.isatty()
        if self._mode == "Always" and not terminal:
            raise RemoteError(f"{self._command}: interactiveMode is Always, and standard input is not a terminal")
        interactive = terminal and self._mode != "Never"
        spec: dict[str, Any] = {"interactive": interactive}
        if self._cluster is not None:
            spec["cluster"] = self._cluster
        info = serializer.encode_json({"kind": "ExecCredential", "apiVersion": self._version, "spec": spec}).decode()
        environment = {**os.environ, **self._environment, "KUBERNETES_EXEC_INFO": info}
        program = shutil.which(self._command, path=environment.get("PATH"))
        if program is None:
            raise RemoteError(f"executable {self._command} not found" + (f"; {self._hint}" if self._hint else ""))
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *self._arguments,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env=environment,
            )
        except OSError as error:
            raise RemoteError(describe_fault(error, program)) from None
        output, _ = await process.communicate()
        if process.returncode:
            raise RemoteError(f"executable {self._command} failed with exit code {process.returncode}")
        return output

    def _read_answer(self, output: bytes) -> Credential:
        """Parse the output of the program. Raises RemoteError unless it is an ExecCredential of the same version."""
        try:
            answer = serializer.decode_json(output)
        except serializer.JSONError:
            answer = None
        if not isinstance(answer, dict) or answer.get("kind") != "ExecCredential":
            raise self._plugin_error("does not print an ExecCredential")
        if answer.get("apiVersion") != self._version:
            raise self._plugin_error(
                f"answers in version {answer.get('apiVersion')}, and the kubeconfig has {self._version}"
            )
        status = answer.get("status")
        if not isinstance(status, dict):
            raise self._plugin_error("gives no status")
        token, certificate, key, until = (
            str(status.get(name) or "")
            for name in ("token", "clientCertificateData", "clientKeyData", "expirationTimestamp")
        )
        if not token and not certificate and not key:
            raise self._plugin_error("gives neither a token nor a client certificate")
        if bool(certificate) != bool(key):
            raise self._plugin_error("gives a client certificate without its key, or a key without its certificate")
        try:
            expires = datetime.fromisoformat(until).timestamp() if until else None
        except ValueError:
            raise self._plugin_error(f"gives an expirationTimestamp that is no time: {until!r}") from None
        return Credential(token, certificate.encode(), key.encode(), expires)

    def _plugin_error(self, problem: str) -> RemoteError:
        return RemoteError(f"executable {self._command} {problem}")


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
