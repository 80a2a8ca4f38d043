"""Three servers over three etcd members, clients that go on at another server, and what is done to all of them.

`python -m tests.faults.fleet [OPERATIONS [SEED [OPTION...]]]` does it for long, with options for the servers, and says
whether what the clients saw is linearizable.
"""

from __future__ import annotations

import http.client
import itertools
import json
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.faults.linearizable import UNKNOWN, Operation, wrong
from tests.faults.proxy import Proxies
from tests.processes import send
from tests.store.etcd.cluster import LEASH, Member, ports

_MAPS = "/api/v1/namespaces/default/configmaps"
_CLIENTS = 8
_PATIENCE = 2.0  # seconds that a client waits for a server
_KNOWN = (200, 201, 404, 409)  # answers that say what has happened
_CONTEXT = ssl._create_unverified_context()


class Members:
    """An etcd cluster of three; servers and members reach each member through proxies, which can cut it off."""

    def __init__(self, proxies: Proxies) -> None:
        self.all = [Member() for _ in range(3)]
        self._peers = [proxies.add(_port(one.address)) for one in self.all]
        self._clients = [proxies.add(_port(one.url)) for one in self.all]
        whole = ",".join(f"m{number}=http://127.0.0.1:{peer.port}" for number, peer in enumerate(self._peers))
        for number, (member, peer) in enumerate(zip(self.all, self._peers, strict=True)):
            advertised = f"http://127.0.0.1:{peer.port}"
            member.more = ("--name", f"m{number}", "--initial-cluster", whole)
            member.more += ("--initial-advertise-peer-urls", advertised)
        self.urls = [f"http://127.0.0.1:{client.port}" for client in self._clients]

    def start(self) -> None:
        for member in self.all:
            member.start()
        for member in self.all:
            member.ready()

    def stop(self) -> None:
        for member in self.all:
            member.stop()
            member.folder.cleanup()

    def cut(self, number: int) -> None:
        for proxies in (self._peers, self._clients):
            proxies[number].cut()

    def mend(self, number: int) -> None:
        for proxies in (self._peers, self._clients):
            proxies[number].mend()


def _port(url: str) -> int:
    return urllib.parse.urlsplit(url).port or 0


class Server:
    """A `podless serve` of its own, which can be killed and started again at the same place."""

    def __init__(self, folder: Path, etcd: list[str], more: Sequence[str] = ()) -> None:
        self._folder = folder
        self._more = more
        (self._port,) = ports(1)
        self._etcd = ",".join(etcd)
        self._process: subprocess.Popen[str] | None = None
        self.token = ""

    def start(self) -> None:
        command = [
            *LEASH,
            sys.executable,
            "-m",
            "podless",
            "serve",
            "--data",
            str(self._folder),
            "--port",
            str(self._port),
        ]
        command += ["--store", "etcd", "--etcd-servers", self._etcd, "--profile", "crds", *self._more]
        self._folder.mkdir(exist_ok=True)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)

    def ready(self) -> None:
        """Wait until it serves."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, (self._folder / "log").read_text()[-2000:]
        while not self.token:
            self._process.stdout.readline()  # the kubeconfig is there
            self.token = json.loads((self._folder / "kubeconfig").read_text())["users"][0]["user"]["token"]

    def again(self) -> None:
        """Start it, with the data that it has."""
        self.start()
        self.ready()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=_PATIENCE, context=_CONTEXT)

    def signal(self, number: int) -> None:
        assert self._process is not None
        send(self._process, number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None


class Traffic:
    """Clients and what they saw. history: what they did, of lists what was said of each key."""

    def __init__(self, servers: list[Server], seed: int, keys: int) -> None:
        self.history: list[Operation] = []
        self.answers: Counter[int] = Counter()
        self.revisions: dict[str, set[str]] = {}  # by value
        self._keys = [f"k{number}" for number in range(keys)]
        self._values = itertools.count(1)
        self._servers = servers
        self._over = threading.Event()
        self._told = threading.Condition()
        self._faults: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(number, random.Random(seed * 1000 + number)), daemon=True)
            for number in range(_CLIENTS)
        ]

    def __enter__(self) -> Traffic:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for each in self._threads:
            each.join(30)

    def more(self, count: int, *, sure: bool = False) -> None:
        """Wait until so much more was done; sure: and answered."""

        def done() -> int:
            return sum(self.answers[code] for code in (_KNOWN if sure else [*self.answers]))

        with self._told:
            goal = done() + count
            assert self._told.wait_for(lambda: bool(self._faults) or done() >= goal, 90), self.answers
        if self._faults:
            raise self._faults[0]

    def _run(self, number: int, chance: random.Random) -> None:
        client = _Client(self._servers, number)
        seen: dict[str, tuple[str, str]] = {}  # by key, value and revision that this client saw last
        try:
            while not self._over.is_set():
                code = self._do(client, chance, seen)
                with self._told:
                    self.answers[code] += 1
                    self._told.notify_all()
        except BaseException as error:
            with self._told:
                self._faults.append(error)
                self._told.notify_all()
        finally:
            client.close()

    def _do(self, client: _Client, chance: random.Random, seen: dict[str, tuple[str, str]]) -> int:
        """Do one thing, and write down what came of it. Returns the answer's code, 0 for none."""
        key = chance.choice(self._keys)
        kind = chance.choices(("get", "list", "create", "update", "delete"), (30, 8, 22, 28, 12))[0]
        if kind == "update" and key not in seen:
            kind = "get"
        value, path = str(next(self._values)), f"{_MAPS}/{key}"
        sent: dict[str, Any] = {"metadata": {"name": key}, "data": {"value": value}}
        expect, start = "", time.monotonic()
        if kind == "list":
            return self._list(client, start)
        if kind == "get":
            code, body = client.send("GET", path)
        elif kind == "delete":
            code, body = client.send("DELETE", path)
        elif kind == "create":
            code, body = client.send("POST", _MAPS, sent)
        else:
            expect, sent["metadata"]["resourceVersion"] = seen.pop(key)
            code, body = client.send("PUT", path, sent)
        ok, end = code in (200, 201), time.monotonic() if code in _KNOWN else UNKNOWN
        if ok and kind != "delete":
            value = self._note(seen, key, body)
        if end != UNKNOWN or kind != "get":
            ok = ok or end == UNKNOWN
            self.history.append(Operation(key, kind, ok, start, end, value if ok else "", expect, code == 404))
        return code

    def _note(self, seen: dict[str, tuple[str, str]], key: str, obj: dict[str, Any]) -> str:
        value, revision = obj["data"]["value"], obj["metadata"]["resourceVersion"]
        seen[key] = value, revision
        self.revisions.setdefault(value, set()).add(revision)
        return str(value)

    def _list(self, client: _Client, start: float) -> int:
        code, body = client.send("GET", _MAPS)
        if code == 200:
            end = time.monotonic()
            found = {one["metadata"]["name"]: self._note({}, "", one) for one in body["items"]}
            for key in self._keys:
                self.history.append(Operation(key, "get", key in found, start, end, found.get(key, "")))
        return code


class _Client:
    """Asks one server after the other: the next one where one does not answer, or cannot."""

    def __init__(self, servers: list[Server], first: int) -> None:
        self._servers = servers
        self._at = first
        self._connection: http.client.HTTPSConnection | None = None

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The code of the answer and its body; 0 for none. What was sent may have happened then, too."""
        server = self._servers[self._at % len(self._servers)]
        try:
            if self._connection is None:
                self._connection = server.connect()
            data = json.dumps(body).encode() if body is not None else None
            headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            code, told = answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            code, told = 0, None
        if code not in _KNOWN:
            assert code in (0, 429, 503, 504), (method, path, code, told)
            self.close()
            self._at += 1
        return code, told

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Fleet:
    """All of it. faults: by name, what goes wrong, and how it is mended."""

    def __init__(self, members: Members, servers: list[Server]) -> None:
        self.members = members
        self.servers = servers

    def faults(self, number: int) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
        member, server = self.members.all[number], self.servers[number]
        return {
            "member stopped": (member.stop, member.start),
            "member paused": (lambda: member.signal(signal.SIGSTOP), lambda: member.signal(signal.SIGCONT)),
            "member cut off": (lambda: self.members.cut(number), lambda: self.members.mend(number)),
            "server killed": (server.kill, server.again),
            "server paused": (lambda: server.signal(signal.SIGSTOP), lambda: server.signal(signal.SIGCONT)),
        }


@contextmanager
def fleet(*more: str) -> Iterator[Fleet]:
    """Three members and three servers that serve. more: options of the servers."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
        proxies = Proxies()
        stack.callback(proxies.close)
        members = Members(proxies)
        stack.callback(members.stop)
        members.start()
        servers = []
        for number in range(3):
            server = Server(folder / str(number), members.urls[number:] + members.urls[:number], more)
            stack.callback(server.kill)
            servers.append(server)
            server.start()
            if not number:
                server.ready()  # it makes what all share
        for server in servers[1:]:
            server.ready()
        yield Fleet(members, servers)


def torment(over: Fleet, traffic: Traffic, rounds: int, each: int, seed: int) -> None:
    """Have each kind of fault in every round, while so many things are done and for as many after it."""
    chance = random.Random(seed)
    for _ in range(rounds):
        names = list(over.faults(0))
        chance.shuffle(names)
        for name in names:
            begin, mend = over.faults(chance.randrange(3))[name]
            traffic.more(each, sure=True)
            begin()
            try:
                traffic.more(each)
            finally:
                mend()
    traffic.more(each, sure=True)


def main(arguments: Sequence[str]) -> int:
    """Do so many things, and judge. Returns the exit code."""
    count = int(arguments[0]) if arguments else 10_000
    seed, more = int(arguments[1]) if len(arguments) > 1 else 1, arguments[2:]
    began = time.monotonic()
    with fleet(*more) as over:
        print(f"started after {time.monotonic() - began:.1f} s", flush=True)
        with Traffic(over.servers, seed, 40) as traffic:
            rounds = 0
            while traffic.answers.total() < count:
                torment(over, traffic, 1, max(count // 100, 40), seed + rounds)
                rounds += 1
        took = time.monotonic() - began
    unknown = sum(one.end == UNKNOWN for one in traffic.history)
    print(f"{traffic.answers.total()} operations in {took:.0f} s, {rounds} rounds of faults: {dict(traffic.answers)}")
    began = time.monotonic()
    bad = wrong(traffic.history)
    many = [value for value, revisions in traffic.revisions.items() if len(revisions) > 1]
    print(
        f"{len(traffic.history)} facts, {unknown} writes of unknown outcome; judged in {time.monotonic() - began:.1f} s"
    )
    print(f"not linearizable: {bad or 'none'}; values with two revisions: {many or 'none'}")
    return 1 if bad or many else 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
