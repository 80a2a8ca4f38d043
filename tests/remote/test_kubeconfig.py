from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from podless.remote.kubeconfig import BadKubeconfig, kubeconfig_paths, read_kubeconfig
from tests.webhooks import _certificate


def config(path: Path, *, cluster: Any = None, user: Any = None, **more: Any) -> Path:
    document = {
        "clusters": [{"name": "c", "cluster": {"server": "https://example.com:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {"token": "secret"}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "here",
        **more,
    }
    file = path / "config"
    file.write_text(json.dumps(document))
    return file


def test_the_current_context(tmp_path: Path) -> None:
    access = read_kubeconfig(config(tmp_path))
    assert (access.url, access.token) == ("https://example.com:6443", "secret")
    assert access.context is not None
    assert access.context.verify_mode == ssl.CERT_REQUIRED


def test_certificates_as_data_and_as_files(tmp_path: Path) -> None:
    certificate, key = _certificate(("localhost",))
    (tmp_path / "client.crt").write_bytes(certificate)
    (tmp_path / "client.key").write_bytes(key)
    user = {"client-certificate": "client.crt", "client-key": "client.key"}
    cluster = {"certificate-authority-data": base64.b64encode(certificate).decode()}
    access = read_kubeconfig(config(tmp_path, cluster=cluster, user=user))
    assert access.context is not None
    assert len(access.context.get_ca_certs()) + access.context.cert_store_stats()["x509"] >= 1


async def test_a_plugin_beside_a_kubeconfig_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "one"}}
    plugin = tmp_path / "get-token"
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    plugin.chmod(0o755)
    called = {"apiVersion": answer["apiVersion"], "command": "./get-token", "interactiveMode": "Never"}
    config(tmp_path, user={"exec": called})
    monkeypatch.chdir(tmp_path)
    access = read_kubeconfig(Path("config"))
    assert access.plugin is not None
    assert (await access.plugin.get_credential()).token == "one"


def test_a_token_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    assert read_kubeconfig(config(tmp_path, user={"tokenFile": "token"})).token == "from-file"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"current-context": "elsewhere"}, "no context 'elsewhere'"),
        ({"current-context": ""}, "no current context"),
        ({"clusters": []}, "no cluster 'c'"),
        ({"clusters": [{"name": "c", "cluster": {}}]}, "no server in cluster c"),
        ({"users": [{"name": "u", "user": {"exec": {}}}]}, "exec of user u: apiVersion '' is not one of "),
        (
            {"users": [{"name": "u", "user": {"username": "a"}}]},
            "username of user u is not supported here; give a token",
        ),
        ({"users": [{"name": "u", "user": {"tokenFile": "none"}}]}, "[Errno 2] No such file or directory"),
        ({"clusters": [{"name": "c", "cluster": {"server": "https://x", "proxy-url": "socks5://x"}}]}, "proxy-url: "),
        (
            {"clusters": [{"name": "c", "cluster": {"server": "https://x", "certificate-authority-data": "eHk="}}]},
            "certificates: ",
        ),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, more: dict[str, Any], told: str) -> None:
    path = config(tmp_path, **more)
    with pytest.raises(BadKubeconfig) as caught:
        read_kubeconfig(path)
    assert str(caught.value).startswith(f"{path}: {told}")


def test_where_it_is_looked_for() -> None:
    assert kubeconfig_paths({"KUBECONFIG": "/a:/b"}) == [Path("/a"), Path("/b")]
    assert kubeconfig_paths({"HOME": "/home/me"}) == [Path("/home/me/.kube/config")]
