"""A cheap client: prepared requests over kept connections, answers counted and thrown away.

It runs in a process of its own (driver.py), with one epoll loop over plain or TLS sockets and nothing between, so that
it costs little of what it measures.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count

from bench.load import process

_CHUNK = 1 << 18
_PAUSE = 0.06  # seconds between single writes; a server may gather what comes sooner
_END = b"\r\n0\r\n\r\n"  # of an answer in chunks
_APART = 4_500  # requests ahead of what is asked elsewhere: what is as it was before is no write, and no event
_PATIENCE = 60.0  # seconds without any answer until a run is given up


class Broken(Exception):
    """The server answered something else than success, or not at all."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the server is. tls: its certificate is not verified. others: hosts and ports of servers beside it."""

    host: str
    port: int
    token: str = ""
    tls: bool = True
    others: tuple[tuple[str, int], ...] = ()

    def each(self) -> list[Target]:
        """It and the others."""
        return [self, *(replace(self, host=host, port=port) for host, port in self.others)]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. Each %d in path and body, in this order, is a number that changes from request to request.

    numbers: for each of them, where it begins and how many there are before it begins again; they all have the same
    number of digits. %% is a percent sign.
    """

    method: str
    path: str
    body: str = ""
    media: str = "application/json"
    accept: str = "application/json"
    numbers: tuple[tuple[int, int], ...] = ()

    def requests(self, target: Target, skip: int = 0) -> Iterator[bytes]:
        """The bytes of one request after the other. skip: so many of them."""
        firsts = tuple(first for first, _ in self.numbers)
        in_path = self.path.replace("%%", "").count("%d")
        length = len((self.body % firsts[in_path:]).encode())
        body = f"Content-Type: {self.media}\r\nContent-Length: {length}\r\n" if self.body else ""
        token = f"Authorization: Bearer {target.token}\r\n" if target.token else ""
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: {target.host}\r\n{token}Accept: {self.accept}\r\n{body}\r\n"
        )
        template = (head + self.body).encode()
        for number in count(skip):
            yield template % tuple([first + number % many for first, many in self.numbers])


@dataclass(frozen=True, slots=True)
class Load:
    """What came back: answers, the seconds that took, milliseconds of each in order of size, bytes of bodies."""

    requests: int
    seconds: float
    times: tuple[float, ...]
    size: int

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.requests / self.seconds

    def at(self, share: float) -> float:
        """Milliseconds within which this share of the answers came."""
        return self.times[min(len(self.times) - 1, int(share * len(self.times)))]


class Line:
    """One connection, with at most one request under way."""

    __slots__ = ("began", "chunked", "left", "sock", "start", "whole")

    def __init__(self, target: Target) -> None:
        plain = socket.create_connection((target.host, target.port), timeout=_PATIENCE)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock: socket.socket = plain
        if target.tls:
            self.sock = _context().wrap_socket(plain, server_hostname=target.host)
        self.sock.setblocking(False)
        self.began = 0.0
        self.left = -1  # bytes of the body still to come; -1: the head is not whole
        self.start = b""
        self.whole = 0
        self.chunked = False

    def ask(self, request: bytes) -> None:
        """Send a request; it is small against the socket's buffer."""
        self.left, self.start, self.chunked = -1, b"", False
        self.began = time.perf_counter()
        self.sock.sendall(request)

    def answered(self) -> bool:
        """Take what has come; whether the answer is whole. Raises Broken."""
        while True:
            data = self.read()
            if data is None:
                return False
            if self.left < 0:
                data = self._head(data)
                if data is None:
                    continue
            if self.chunked:
                self.whole += len(data)
                self.start = (self.start + data)[-len(_END) :]
                if self.start == _END:  # no JSON has a line's end of these two bytes in it
                    return True
                continue
            self.left -= len(data)
            if self.left <= 0:
                return True

    def read(self) -> bytes | None:
        """What has come, None for nothing yet. Raises Broken where the server has hung up."""
        try:
            data = self.sock.recv(_CHUNK)
        except (ssl.SSLWantReadError, BlockingIOError):
            return None
        if not data:
            raise Broken("the server closed a connection")
        return data

    def _head(self, data: bytes) -> bytes | None:
        """The first bytes of the body, once the head is whole."""
        data = self.start + data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            self.start = data
            return None
        if data[9:10] != b"2":
            raise Broken(data[:1000].decode("utf-8", "replace"))
        place = data.find(b"Content-Length: ", 0, end)
        if place < 0:
            if data.find(b"Transfer-Encoding: chunked", 0, end) < 0:
                raise Broken("an answer without a length")
            self.left, self.whole, self.start, self.chunked = 0, 0, b"\r\n", True
            return data[end + 4 :]
        self.left = self.whole = int(data[place + 16 : data.find(b"\r", place)])
        return data[end + 4 :]


@cache
def _context() -> ssl.SSLContext:
    return ssl._create_unverified_context()  # kept, as making it takes longer than a handshake


def _mixed(most: Iterator[bytes], some: Iterator[bytes], every: int) -> Iterator[bytes]:
    for number in count(1):
        yield next(some if number % every == 0 else most)


def hammer(
    target: Target,
    ask: Ask,
    connections: int,
    seconds: float = 1e9,
    most: int = 1 << 40,
    other: tuple[Ask, int] | None = None,
) -> Load:
    """Ask over some connections, one request at a time on each, for some seconds or a number of requests.

    The connections are spread over all servers. other: what is asked as every so manieth request.

    Raises Broken for an answer that is not 2xx.
    """
    feed = ask.requests(target)
    if other is not None:
        feed = _mixed(feed, other[0].requests(target), other[1])
    servers = target.each()
    lines = [Line(servers[number % len(servers)]) for number in range(min(connections, most))]
    poll, by_number = _poll(lines)
    times: list[float] = []
    size, sent = 0, len(lines)
    start = now = time.perf_counter()
    stop = start + seconds
    for line in lines:
        line.ask(next(feed))
    while len(times) < sent:
        ready = poll.poll(_PATIENCE)
        if not ready:
            raise Broken("no answer comes any more")
        for number, _ in ready:
            line = by_number[number]
            if not line.answered():
                continue
            now = time.perf_counter()
            times.append((now - line.began) * 1000)
            size += line.whole
            if now < stop and sent < most:
                sent += 1
                line.ask(next(feed))
    _close(poll, lines)
    return Load(len(times), now - start, tuple(sorted(times)), size)


def version(target: Target, path: str) -> str:
    """The resourceVersion of a list, for a watch that begins now."""
    address = (target.host, target.port)
    plain = http.client.HTTPConnection(*address, timeout=_PATIENCE)
    connection = http.client.HTTPSConnection(*address, timeout=_PATIENCE, context=_context()) if target.tls else plain
    connection.request("GET", f"{path}?limit=1", headers={"Authorization": f"Bearer {target.token}"})
    with connection.getresponse() as answer:
        found: str = json.load(answer)["metadata"]["resourceVersion"]
    connection.close()
    return found


@dataclass(frozen=True, slots=True)
class Fan:
    """What watchers saw.

    rate: events a second while writes came as fast as they went. lags: milliseconds from the sending of a single write
    until the last watcher had its event. cpu, cpu_single: seconds that the server took for each event in a row and for
    each of a single write, its share of the write included. memory: the server's, in MB, with all watchers there.
    """

    rate: float
    lags: tuple[float, ...]
    cpu: float
    cpu_single: float
    memory: float

    @property
    def lag(self) -> float:
        """The middle one."""
        return sorted(self.lags)[len(self.lags) // 2]


class _Watcher(Line):
    """A connection with a watch; counts the lines that end an event, wherever reads cut them."""

    __slots__ = ("open", "seen")

    def __init__(self, target: Target, request: bytes) -> None:
        super().__init__(target)
        self.seen = 0
        self.open = False
        self.ask(request)

    def take(self) -> None:
        while (data := self.read()) is not None:
            if not self.open:
                self.start += data
                end = self.start.find(b"\r\n\r\n")
                if end < 0:
                    continue
                if self.start[9:12] != b"200":
                    raise Broken(self.start[:1000].decode("utf-8", "replace"))
                self.open, data, self.start = True, self.start[end + 4 :], b""
            self.seen += data.count(b"}\n") + (self.start == b"}" and data[:1] == b"\n")
            self.start = data[-1:]


class Crowd:
    """Watchers, and one connection that writes. watch: an Ask from a resourceVersion that is given."""

    def __init__(self, target: Target, watch: Ask, write: Ask, watchers: int) -> None:
        request = next(watch.requests(target))
        self._feed = write.requests(target, _APART)
        self._writer = Line(target)
        self._watchers = [_Watcher(target, request) for _ in range(watchers)]
        self._poll, self._by_number = _poll([self._writer, *self._watchers])
        self._late = 0
        self._idle = True
        self._run(lambda: all(watcher.open for watcher in self._watchers))

    def writes(self, number: int) -> float:
        """Write so often, each as soon as the one before is answered; seconds until all have seen all."""
        for watcher in self._watchers:
            watcher.seen = 0
        start = time.perf_counter()
        for _ in range(number):
            self._writer.ask(next(self._feed))
            self._idle = False
            self._run(lambda: self._idle)
        self._run(lambda: all(watcher.seen >= number for watcher in self._watchers))
        if any(watcher.seen > number for watcher in self._watchers):
            raise Broken("watchers saw more events than there were writes")
        return time.perf_counter() - start

    def _run(self, done: Callable[[], bool]) -> None:
        while not done():
            ready = self._poll.poll(_PATIENCE)
            if not ready:
                raise Broken("events are missing")
            for number, _ in ready:
                line = self._by_number[number]
                if isinstance(line, _Watcher):
                    line.take()
                elif line.answered():
                    self._idle = True

    def close(self) -> None:
        """Hang up."""
        _close(self._poll, [self._writer, *self._watchers])


def fanout(target: Target, watch: Ask, write: Ask, watchers: int, updates: int, server: int, single: int = 5) -> Fan:
    """Let watchers see single writes, then a number of updates in a row. server: its process.

    Raises Broken where a watcher misses an event.
    """
    crowd = Crowd(target, watch, write, watchers)
    began = process.cpu(server)
    lags = []
    for _ in range(single):
        lags.append(crowd.writes(1) * 1000)
        time.sleep(_PAUSE)
    before = process.cpu(server)
    seconds = crowd.writes(updates)
    ended, memory = process.cpu(server), process.rss(server)
    crowd.close()
    events = watchers * updates
    each = ((ended - before) / events, (before - began) / (watchers * single))
    return Fan(events / seconds, tuple(lags), *each, memory)


def _poll(lines: list[Line]) -> tuple[select.epoll, dict[int, Line]]:
    poll = select.epoll()
    for line in lines:
        poll.register(line.sock, select.EPOLLIN)
    return poll, {line.sock.fileno(): line for line in lines}


def _close(poll: select.epoll, lines: list[Line]) -> None:
    poll.close()
    for line in lines:
        line.sock.close()
