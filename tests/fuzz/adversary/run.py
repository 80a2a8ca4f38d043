"""Run pairs against a server, one after the other, and tell which of them cost more than they may."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.adversary.pairs import Pair, encoded
from tests.fuzz.adversary.served import Stuck, Timed, Told, timed
from tests.fuzz.adversary.stored import ADMIN, GROUP, MERGE, PLAIN, RBAC, Ask, Place
from tests.fuzz.wire import UNKNOWN

_KEPT = 64.0  # MB that may be kept of a pair whose objects are gone
_PATIENCE = 60.0  # seconds that an answer may take
_PROCESSOR = 3.5  # seconds of the processor that an answer may take, with what the process does beside it
_SETTLE = 5.0  # seconds in which memory is to come back
_TRIES = 24  # smaller pairs that are tried for one that fails
http.client._MAXHEADERS = 100_000  # type: ignore[attr-defined]  # a warning for each unknown field is one
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Fault(NamedTuple):
    """What is wrong with a pair. when: during which request. seconds: of the step, else 0."""

    what: str
    when: str
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.what}, at {self.when}"


class Report(NamedTuple):
    """What came of a pair. codes: of all that was asked. longest: seconds of a step."""

    pair: Pair
    faults: list[Fault]
    setup: list[int]
    codes: list[int]
    longest: float
    kept: float


class _Watches:
    """Watches that are open, and whose events are thrown away by a thread each."""

    def __init__(self) -> None:
        self._open: list[socket.socket] = []

    def add(self, port: int, head: bytes) -> int:
        """Begin one; its status."""
        plain = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
        self._open.append(plain)
        plain.sendall(head)
        found = plain.recv(1 << 16)
        threading.Thread(target=self._drain, args=(plain,), daemon=True).start()
        return int(found[9:12] or 0)

    def _drain(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError):
            plain.settimeout(None)
            while plain.recv(1 << 16):
                pass

    def close(self) -> None:
        for plain in self._open:
            with contextlib.suppress(OSError):
                plain.shutdown(socket.SHUT_RDWR)
            plain.close()
        self._open = []


class Site:
    """A server, and what is known of it."""

    def __init__(self, server: Timed) -> None:
        self.server = server
        self._connection: http.client.HTTPConnection | None = None
        self._number = 0
        self.watches = _Watches()
        self._allow()
        self._warm()
        self.server.told()

    def place(self) -> Place:
        """A namespace and a kind that nobody had before."""
        self._number += 1
        return Place(f"s{self._number}", f"things{self._number}")

    def _allow(self) -> None:
        group = "rbac.authorization.k8s.io"
        reference = {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"}
        subjects = [{"kind": "User", "apiGroup": group, "name": ADMIN}]
        body = {"metadata": {"name": "all"}, "subjects": subjects, "roleRef": reference}
        assert self.ask(Ask("POST", f"{RBAC}/clusterrolebindings", body, user=""))[0] == 201

    def _warm(self) -> None:
        """Have it import what pairs need: that takes longer than all that may be asked."""
        pair, place = Pair.of_all(), self.place()
        for ask in (*pair.setup(place), *pair.requests(place)):
            self.ask(ask)
        self.clear(pair, place)

    def ask(self, ask: Ask) -> tuple[int, bytes]:
        """The answer; 0 where there is none."""
        body = encoded(ask)
        if body is None:
            return -1, b""
        token = ask.user or self.server.token
        headers = {"Authorization": f"Bearer {token}", "Content-Type": ask.media, "Accept": ask.accept}
        if ask.watch:
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"GET {ask.path} HTTP/1.1\r\nHost: h\r\n{lines}\r\n".encode()
            return self.watches.add(self.server.port, head), b""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=_PATIENCE)
        try:
            self._connection.request(ask.method, ask.path, body, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            self._connection = None
            return 0, b""

    def clear(self, pair: Pair, place: Place) -> list[tuple[Ask, int, bytes]]:
        """Delete all that a pair has made, and wait until it is gone. What was asked, and the answers."""
        self.watches.close()
        paths = [
            ask.path if "/namespaces/" in ask.path else f"{ask.path}/{ask.body['metadata']['name']}"
            for ask in pair.setup(place)
            if ask.method == "POST" and "customresourcedefinitions" not in ask.path
        ]
        kinds = (
            "apps/v1/*/deployments",
            "networking.k8s.io/v1/*/networkpolicies",
            "autoscaling/v2/*/horizontalpodautoscalers",
        )
        spaced = [f"/apis/{kind.replace('*', f'namespaces/{place.space}')}" for kind in kinds]
        spaced += [f"{place.core}/{plural}" for plural in ("pods", "configmaps", "services", "persistentvolumeclaims")]
        paths = [path for path in dict.fromkeys(paths) if path != f"/api/v1/namespaces/{place.space}"]
        paths = [*paths, *spaced, f"{_CRDS}/{place.plural}.{GROUP}", f"/api/v1/namespaces/{place.space}"]
        done = []
        for path in dict.fromkeys(paths):
            ask = Ask("DELETE", f"{path}?gracePeriodSeconds=0", user="")
            done.append((ask, *self.ask(ask)))
        self._finalize(place)
        end = time.monotonic() + _SETTLE
        gone = [f"{_CRDS}/{place.plural}.{GROUP}", f"/api/v1/namespaces/{place.space}"]
        while gone and time.monotonic() < end:
            gone = [path for path in gone if self.ask(Ask("GET", path, user=""))[0] not in (404, 0)]
            time.sleep(0.005 if gone else 0)
        return done

    def _finalize(self, place: Place) -> None:
        """Take away what keeps objects that are to be deleted: no controller of volumes runs."""
        for plural in ("persistentvolumeclaims", "configmaps"):
            path = f"{place.core}/{plural}"
            code, raw = self.ask(Ask("GET", path, user=""))
            for item in json.loads(raw)["items"] if code == 200 else ():
                change = {"metadata": {"finalizers": None}}
                self.ask(Ask("PATCH", f"{path}/{item['metadata']['name']}", change, MERGE, user=""))

    def memory(self, wanted: float) -> Told:
        """What it tells once its memory is no more than wanted, or does not fall that far."""
        end, told = time.monotonic() + _SETTLE, self.server.told()
        steps, errors = told.steps, told.errors
        while told.memory > wanted and time.monotonic() < end:
            time.sleep(0.1)
            told = self.server.told()
            steps, errors = steps + told.steps, errors + told.errors
        return told._replace(steps=steps, errors=errors)

    def close(self) -> None:
        self.watches.close()
        if self._connection is not None:
            self._connection.close()


def _name(ask: Ask) -> str:
    size = len(encoded(ask) or b"")
    told = f"{ask.method} {ask.path[:100]}" + ("..." if len(ask.path) > 100 else "")
    return f"{told} ({size} bytes)" if size else told


def judge(site: Site, pair: Pair, say: Callable[[str], object] = lambda text: None) -> Report:
    """Run a pair. say: is told of each request."""
    place, longest = site.place(), 0.0
    faults: list[Fault] = []
    codes: dict[str, list[int]] = {"setup": [], "asked": [], "cleared": []}
    before = site.server.told().memory

    def look(part: str, ask: Ask, code: int, raw: bytes) -> None:
        nonlocal longest
        codes[part].append(code)
        when = f"{part}: {_name(ask)} -> {code}"
        told = site.server.told()
        longest = max(longest, told.longest)
        say(f"    {told.longest * 1e3:6.0f} ms {told.processor:5.1f} s {told.memory:6.0f} MB  {when}")
        faults.extend(
            Fault(f"a step of {each.seconds * 1e3:.0f} ms [{each.where}]", when, each.seconds) for each in told.steps
        )
        faults.extend(Fault(f"an error in the log: {each}", when) for each in told.errors)
        if told.processor > _PROCESSOR:
            faults.append(Fault(f"{told.processor:.1f} seconds of the processor", when))
        if code == 500 and UNKNOWN.encode() in raw:  # a real server says 500 for some of what clients get wrong
            faults.append(Fault(f"500: {raw[:300]!r}", when))
        elif code == 0:
            faults.append(Fault(f"no answer in {_PATIENCE:.0f} s", when))

    try:
        for part, asked in (("setup", pair.setup(place)), ("asked", pair.requests(place))):
            for ask in asked:
                look(part, ask, *site.ask(ask))
        for ask, code, raw in site.clear(pair, place):
            look("cleared", ask, code, raw)
        told = site.memory(before + _KEPT)
        faults += [
            Fault(f"a step of {each.seconds * 1e3:.0f} ms [{each.where}]", "the end", each.seconds)
            for each in told.steps
        ]
        kept = told.memory - before
        if kept > _KEPT and (more := _repeated(site, pair, told.memory)) > kept / 2:
            faults.append(Fault(f"{kept:.0f} MB are kept, and {more:.0f} MB when it is run again", "the end"))
    except Stuck as stuck:
        kept = 0.0
        faults.append(Fault(str(stuck), "the server"))
    return Report(pair, faults, codes["setup"], codes["asked"], longest, kept)


def _repeated(site: Site, pair: Pair, before: float) -> float:
    """MB that are kept of a second run of a pair: what malloc holds in reserve serves that as well, a leak grows."""
    place = site.place()
    for ask in (*pair.setup(place), *pair.requests(place)):
        site.ask(ask)
    site.clear(pair, place)
    return site.memory(before).memory - before


@contextlib.contextmanager
def server() -> Iterator[Site]:
    """A fresh one, that has all imported."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens"
        tokens.write_text("".join(f"{user},{user},{user},\n" for user in (ADMIN, PLAIN)))
        with timed(tokens) as running:
            site = Site(running)
            try:
                yield site
            finally:
                site.close()


class Runs:
    """Runs of pairs on one server, which is another one after each that fails. To be closed.

    again: a pair that fails is run on a fresh server too, and only counts if it fails there; and it is made smaller.
    """

    def __init__(self, again: bool = True) -> None:
        self._again = again
        self._stack = contextlib.ExitStack()
        self._site: Site | None = None

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def fresh(self) -> Site:
        """Begin with another server."""
        self._stack.close()
        self._site = self._stack.enter_context(server())
        return self._site

    def run(self, pair: Pair, say: Callable[[str], object] = lambda text: None) -> Report:
        """Run it; a report without faults where a fresh server is fine with it. say: is told of each request."""
        report = judge(self._site or self.fresh(), pair, say)
        if report.faults:
            first = report
            self.fresh()
            if self._again:
                assert self._site is not None
                report = judge(self._site, pair)
                self.fresh()
                report = report if report.faults else first._replace(faults=[])
        return report

    def shrink(self, report: Report) -> Report:
        """The smallest pair found that fails in the same way."""
        kinds = {_sort(each) for each in report.faults}
        tries, end = 0, False
        while not end and tries < _TRIES:
            end = True
            for pair in report.pair.smaller():
                tries += 1
                found = judge(self.fresh(), pair)
                if kinds & {_sort(each) for each in found.faults}:
                    report, end = found, False
                    break
                if tries >= _TRIES:
                    break
        self.fresh()
        return report


def _sort(fault: Fault) -> str:
    return "step" if fault.seconds else fault.what.split()[0]


def tell(report: Report) -> str:
    """What failed, and how to see it again."""
    lines = [f"FAILED {report.pair}", *(f"    {fault}" for fault in report.faults[:6])]
    return "\n".join([*lines, f"    again: python -m tests.fuzz.adversary --pair {report.pair.seed}"])


def seeds(base: str, many: int) -> list[str]:
    return [f"{base}-{number}" for number in range(many)]


def dump(path: Path, pair: Pair) -> None:
    """Write the requests of a pair to a file."""
    place = Place("s1", "things1")
    parts: dict[str, Any] = {"setup": list(pair.setup(place)), "asked": list(pair.requests(place))}
    path.write_text(json.dumps({name: [each._asdict() for each in asked] for name, asked in parts.items()}, indent=1))
