"""What the tests that need a running server share."""

from __future__ import annotations

import gc
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"  # the only plugin is trio's, and imports all of trio into each process

from hypothesis import settings
from hypothesis.internal.conjecture import providers

from podless import Server
from podless.runtime.memo import Draft
from tests.hanging import pytest_configure as pytest_configure  # a hook
from tests.hanging import pytest_runtest_protocol as pytest_runtest_protocol  # a hook
from tests.inside import inside as inside  # a fixture
from tests.leftout import pytest_terminal_summary as pytest_terminal_summary  # a hook
from tests.workers import pytest_addoption as pytest_addoption  # a hook
from tests.workers import pytest_runtestloop as pytest_runtestloop  # a hook

if TYPE_CHECKING:
    from tests.auth.provider import Provider

# How much is tried at random: the same few examples every time, more of them in CI, others with each run, many. On a
# second Python as few as show that it works there.
# A time is never a fault: machines are shared.
settings.register_profile("few", max_examples=5, derandomize=True, deadline=None)
settings.register_profile("quick", max_examples=15, derandomize=True, deadline=None)
settings.register_profile("ci", max_examples=30, derandomize=True, deadline=None)
settings.register_profile("fresh", max_examples=100, database=None, print_blob=True, deadline=None)
settings.register_profile("long", max_examples=2000, deadline=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
settings.load_profile(PROFILE)
if PROFILE in ("few", "quick", "ci") and hasattr(providers, "_get_local_constants"):
    # Examples have constants of all modules that happen to be imported in them. Without these they are the same
    # whatever ran before, and the source is not read for them.
    providers._get_local_constants = lambda: providers._local_constants

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# what a fixture of a file gets from the shared server: the file's tests may come in two runs, with others in between
AGAIN = (201, 409)
SHARED = Path(__file__).parent.parent.parent / "shared"


# what work off the loop makes there should have been made before: nothing of that is forgotten
Draft.strict = True

# kubectl, etcd and helm live for a moment or hold little: their collector takes a quarter of their processor time
os.environ.setdefault("GOGC", "400")

# what is here at the start stays until the end: the collector need not look through it again and again
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # as a server has it
    gc.enable()


LEFT_OUT = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(slow|clients|kine)\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules of which nothing is to run are not even read, unless they are asked for by name."""
    fast = config.option.markexpr == "not slow and not clients and not kine" and collection_path.suffix == ".py"
    return True if fast and LEFT_OUT.search(collection_path.read_text()) else None


# what takes longest is begun first: else others wait for it at the end
LONGEST = ("test_adversary.py", "test_corpus.py", "test_examples.py", "test_pytest_plugin.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


def tries(count: int) -> int:
    """How many examples a test tries that needs this many where others try a hundred."""
    return max(1, count * settings().max_examples // 100)


@dataclass
class Answer:
    """What came back: status, headers and the decoded body."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Client:
    """Talks JSON to a server, over one connection."""

    def __init__(self, url: str, token: str) -> None:
        self._url = urllib.parse.urlsplit(url)
        self._token = token
        self._connection: http.client.HTTPConnection | None = None

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=60)
        return http.client.HTTPSConnection(host, port, timeout=60, context=ssl._create_unverified_context())

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        sent = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request(method, path, data, {k: v for k, v in sent.items() if v})
        answer = self._connection.getresponse()
        raw = answer.read()
        is_json = "json" in (answer.headers.get("Content-Type") or "")
        return Answer(answer.status, dict(answer.headers), json.loads(raw) if is_json and raw else raw)

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("POST", path, body, **headers)

    def merge(self, path: str, body: Any) -> Answer:
        return self.send("PATCH", path, body, Content_Type="application/merge-patch+json")

    def events(self, path: str, count: int) -> list[dict[str, Any]]:
        """The first events of a watch, which is left then; its own time need not be over."""
        connection = self._connect()
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
        answer = connection.getresponse()
        seen = [json.loads(answer.readline()) for _ in range(count)]
        connection.close()
        return seen

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def definition(group: str, plural: str = "gadgets", kind: str = "Gadget", **version: Any) -> dict[str, Any]:
    """A CustomResourceDefinition that keeps all fields, unless told otherwise."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}} | version
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [one],
        },
    }


def gadget(group: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": {"name": name}} | fields


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """An OpenID Connect provider with the users ann and bob."""
    from tests.auth.provider import Provider  # its imports cost all other tests 50 ms

    made = Provider(tmp_path_factory.mktemp("provider"), ("ann", "bob"))
    yield made
    made.server.shutdown()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server in memory for all tests; each takes an API group of its own. TLS has tests of its own."""
    with Server(tls=False) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = Client(server.url, server.token)
    yield client
    client.close()


@dataclass
class Process:
    """A `podless serve` of its own."""

    popen: subprocess.Popen[str]
    url: str
    token: str
    folder: Path
    lines: list[str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """Starts `podless serve` with arguments; stopped at the end of the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str, folder: Path = tmp_path / "data") -> Process:
        command = [sys.executable, "-m", "podless", "serve", "--data", str(folder), "--port", "0", *arguments]
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        popen = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=buffered)
        running.append(popen)
        assert popen.stdout is not None
        lines = [popen.stdout.readline().strip() for _ in range(2)]
        assert lines[1].startswith("export KUBECONFIG="), lines
        token = json.loads((folder / "kubeconfig").read_text())["users"][0]["user"]["token"]
        return Process(popen, lines[0].split()[-1], token, folder, lines)

    yield start
    for popen in running:
        popen.kill()
        popen.wait()


@pytest.fixture
def kubectl(server: Server, tmp_path: Path) -> Any:
    """Runs kubectl against the server; returns what it printed, both streams together."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not on this machine")
    return kubectl_runner("kubectl", server, tmp_path)


def kubectl_runner(binary: str, server: Server, folder: Path) -> Callable[..., str]:
    """Runs a kubectl in a folder that is its home, too."""

    def run(*arguments: str, stdin: str = "", kubeconfig: Path = server.kubeconfig) -> str:
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(folder)}
        done = subprocess.run(
            [binary, *arguments],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=folder,
            timeout=60,
            check=False,
        )
        return done.stdout

    return run
