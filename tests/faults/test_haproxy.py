"""The example of docs/how-to/scaling.md, for real: HAProxy before three servers over one etcd."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import shutil
import ssl
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from podless import Server
from podless.http.tls import Certificates
from podless.store.etcd.settings import Etcd
from tests.store.etcd.cluster import ports, shared

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "scaling.md"
NAME = "podless.example.com"
MAPS = "/api/v1/namespaces/default/configmaps"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed")]


def example(port: int, servers: list[str]) -> str:
    """The page's configuration, with places of this machine in it."""
    (block,) = re.findall(r"\n((?:    defaults\n)(?:    .*\n)+)", PAGE.read_text())
    text = re.sub(r"^    ", "", block, flags=re.M)
    text, bound = re.subn(r"bind :6443", f"bind 127.0.0.1:{port}", text)
    places = iter(servers)
    text, found = re.subn(r"10\.0\.0\.\d:6443", lambda _: next(places), text)
    assert (bound, found) == (1, 3)
    return text


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Server]]:
    etcd = Etcd(servers=(shared().url,), prefix=f"/haproxy-{uuid.uuid4()}")
    more: dict[str, Any] = {"store": "etcd", "etcd": etcd, "authorization": "RBAC", "tls_names": (NAME,)}
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Server(tmp_path / str(number), **more)) for number in range(3)]


@pytest.fixture
def proxy(servers: list[Server], tmp_path: Path) -> Iterator[int]:
    """HAProxy's port."""
    (port,) = ports(1)
    file = tmp_path / "haproxy.cfg"
    file.write_text(example(port, [urlsplit(server.url).netloc for server in servers]))
    checked = subprocess.run(
        ["haproxy", "-c", "-f", str(file)], capture_output=True, text=True, check=False, timeout=60
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    process = subprocess.Popen(
        ["haproxy", "-db", "-f", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    yield port
    process.kill()
    process.wait()


def ask(
    port: int, server: Server, method: str, path: str, body: Any = None, files: tuple[Path, Path] | None = None
) -> tuple[int, Any]:
    """An answer over a connection of its own, or the code 0. The server's certificate is verified."""
    context = ssl.create_default_context(cafile=server.authority)
    headers = {"Content-Type": "application/json"}
    if files:
        context.load_cert_chain(*files)
    else:
        headers["Authorization"] = f"Bearer {server.token}"
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except OSError:
        return 0, None
    finally:
        connection.close()


def answered(port: int, server: Server, path: str) -> Any:
    """A read, again until the proxy has found a server."""
    end = time.monotonic() + 60
    while (found := ask(port, server, "GET", path))[0] != 200:
        assert time.monotonic() < end, found
    return found[1]


def test_clients_see_one_server(proxy: int, servers: list[Server], tmp_path: Path) -> None:
    first = servers[0]
    answered(proxy, first, "/version")
    for number in range(10):  # each over another connection
        body = {"metadata": {"name": f"a{number}"}}
        assert ask(proxy, first, "POST", MAPS, body)[0] == 201
        assert len(answered(proxy, first, MAPS)["items"]) == number + 1
    for file, data in zip(
        ("crt", "key"), Certificates(first.authority.parent).issue_client("jane", ("team",), 1), strict=True
    ):
        (tmp_path / f"jane.{file}").write_bytes(data)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    code, told = ask(proxy, first, "POST", path, review, (tmp_path / "jane.crt", tmp_path / "jane.key"))
    assert (code, told["status"]["userInfo"]["username"]) == (201, "jane")
    servers[0].__exit__(None, None, None)
    answered(proxy, servers[1], MAPS)
    for number in range(6):
        end = time.monotonic() + 60
        while (code := ask(proxy, servers[1], "POST", MAPS, {"metadata": {"name": f"b{number}"}})[0]) not in (201, 409):
            assert time.monotonic() < end, code
    assert len(answered(proxy, servers[1], MAPS)["items"]) == 16
