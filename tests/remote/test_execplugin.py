"""Credentials of a real program: what it is told, what it may answer, and how long that is kept."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from podless.remote.client import RemoteError
from podless.remote.execplugin import VERSIONS, BadPlugin, ExecPlugin

V1, BETA = VERSIONS
PROGRAM = """#!{python}
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
with open(here / "told", "a") as told:
    info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
    told.write(json.dumps([sys.argv[1:], os.environ.get("PLACE"), info]) + "\\n")
print((here / "answer").read_text())
sys.exit(int((here / "code").read_text()))
"""


class Program:
    """A program in a folder, which writes down what it is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        file = folder / "get-token"
        file.write_text(PROGRAM.format(python=sys.executable))
        file.chmod(0o755)
        self.answer({"token": "one"})

    def answer(self, status: Any, *, version: str = V1, code: int = 0, text: str = "") -> None:
        document = {"kind": "ExecCredential", "apiVersion": version, "status": status}
        (self.folder / "answer").write_text(text or json.dumps(document))
        (self.folder / "code").write_text(str(code))

    @property
    def told(self) -> list[Any]:
        file = self.folder / "told"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def plugin(self, cluster: Any = None, **more: Any) -> ExecPlugin:
        config = {"apiVersion": V1, "command": "./get-token", "interactiveMode": "Never", **more}
        return ExecPlugin(config, "me", self.folder, cluster)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


async def test_it_is_told_arguments_environment_and_version(program: Program) -> None:
    plugin = program.plugin(args=["--for", "me"], env=[{"name": "PLACE", "value": "here"}])
    assert (await plugin.get_credential()).token == "one"
    info = {"kind": "ExecCredential", "apiVersion": V1, "spec": {"interactive": False}}
    assert program.told == [[["--for", "me"], "here", info]]


@pytest.mark.parametrize("provided", [True, False])
async def test_it_is_told_of_the_cluster_where_the_user_wants_that(program: Program, provided: bool) -> None:
    cluster = {"server": "https://example.com", "config": {"audience": "a"}}
    await program.plugin(cluster, provideClusterInfo=provided).get_credential()
    assert program.told[0][2]["spec"].get("cluster") == (cluster if provided else None)


async def test_version_v1beta1_needs_no_interactive_mode(program: Program) -> None:
    program.answer({"token": "one"}, version=BETA)
    plugin = program.plugin(apiVersion=BETA, interactiveMode=None)
    assert (await plugin.get_credential()).token == "one"


async def test_a_credential_is_kept_until_it_expires_or_is_refused(program: Program) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    program.answer({"token": "one", "expirationTimestamp": later})
    plugin = program.plugin()
    first = await plugin.get_credential()
    assert await plugin.get_credential() is first
    program.answer({"token": "two", "expirationTimestamp": "2020-01-01T00:00:00Z"})
    assert (await plugin.get_credential(first)).token == "two"
    assert await plugin.get_credential(first) is not first
    assert len(program.told) == 3  # the second one had expired


async def test_a_client_certificate_comes_with_its_key(program: Program) -> None:
    program.answer({"clientCertificateData": "CERT", "clientKeyData": "KEY"})
    found = await program.plugin().get_credential()
    assert (found.certificate, found.key, found.token, found.expires) == (b"CERT", b"KEY", "", None)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"status": {"token": "a"}, "code": 3}, "failed with exit code 3"),
        ({"status": None}, "gives no status"),
        ({"status": {}}, "gives neither a token nor a client certificate"),
        ({"status": {"clientKeyData": "KEY"}}, "gives a client certificate without its key"),
        ({"status": {"token": "a"}, "version": BETA}, f"answers in version {BETA}"),
        ({"status": {"token": "a", "expirationTimestamp": "soon"}}, "gives an expirationTimestamp that is no time"),
        ({"status": {}, "text": "Please log in"}, "does not print an ExecCredential"),
    ],
)
async def test_an_answer_that_is_no_credential_is_told(program: Program, answer: dict[str, Any], told: str) -> None:
    program.answer(answer.pop("status"), **answer)
    with pytest.raises(RemoteError, match=told):
        await program.plugin().get_credential()


async def test_what_to_install_is_told_where_it_is_not_there(program: Program) -> None:
    plugin = program.plugin(command="no-such-program", installHint="Install it with pip.\n")
    with pytest.raises(RemoteError, match=r"executable no-such-program not found; Install it with pip\."):
        await plugin.get_credential()


async def test_a_program_that_must_ask_needs_a_terminal(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", open("/dev/null"))  # noqa: SIM115, ASYNC230
        with pytest.raises(RemoteError, match="interactiveMode is Always, and standard input is not a terminal"):
            await program.plugin(interactiveMode="Always").get_credential()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "is not one of"),
        ({"apiVersion": None}, "apiVersion '' is not one of"),
        ({"interactiveMode": None}, "interactiveMode is required"),
        ({"interactiveMode": "Sometimes"}, "is not one of Never, IfAvailable, Always"),
        ({"command": ""}, "command is required"),
    ],
)
def test_a_configuration_that_kubectl_rejects_is_told(program: Program, more: dict[str, Any], told: str) -> None:
    with pytest.raises(BadPlugin, match=told):
        program.plugin(**more)
