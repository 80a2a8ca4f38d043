"""A server that hostile clients talk to, and what may not come back from it."""

from __future__ import annotations

import http.client
import json
import logging
import re
import urllib.parse
from typing import Any

from hypothesis import HealthCheck, settings

from podless import Server
from tests.conftest import tries

GROUP = "fuzz.example.com"
many = settings(
    max_examples=tries(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
UNKNOWN = "see the server's log"  # said of an error that nobody has thought of


_HELD = re.compile(r"held the loop for (\d+) ms")


class Log(logging.Handler):
    """What the server has to say of what nobody has thought of. held: what held its event loop for longest, in ms."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []
        self.held = 0, ""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.ERROR:
            self.said.append(text)
        elif found := _HELD.search(text):
            self.held = max(self.held, (int(found[1]), text))


LOG = Log()


def clear(answer: http.client.HTTPResponse, raw: bytes) -> None:
    """A real server says InternalError for some of what clients get wrong; it is never without a text."""
    if answer.status >= 500:
        media = answer.headers["Content-Type"]
        told = json.loads(raw)["message"] if media == "application/json" else raw
        assert told, (answer.status, raw)


class Wire:
    """Sends anything, and looks at the answer: a clear one, with a Status where something is wrong."""

    def __init__(self, server: Server) -> None:
        self._url = urllib.parse.urlsplit(server.url)
        self._token = server.token
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, target: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """The answer, which was found to be a clear one."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port, timeout=60)
        sent = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in sent.items():
            self._connection.putheader(name, value.encode("utf-8", "replace"))
        if body is not None:
            self._connection.putheader("Content-Length", str(len(body)))
        self._connection.endheaders(body)
        answer = self._connection.getresponse()
        raw = answer.read()
        told = raw.decode("utf-8", "replace")
        assert UNKNOWN not in told, told
        assert not LOG.said, LOG.said
        clear(answer, raw)
        if answer.will_close:
            self.close()
        return answer.status, raw

    def watch(self, target: str, **headers: str) -> None:
        """Begin a watch, and go away."""
        connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port, timeout=60)
        try:
            sent = {"Authorization": f"Bearer {self._token}"}
            connection.request(
                "GET", target, headers=sent | {key.replace("_", "-"): text for key, text in headers.items()}
            )
            answer = connection.getresponse()
            if answer.status >= 500:
                clear(answer, answer.read())
            assert not LOG.said, LOG.said
        finally:
            connection.close()

    def json(self, method: str, target: str, body: Any, **headers: str) -> tuple[int, bytes]:
        return self.send(method, target, json.dumps(body).encode(), **headers)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
