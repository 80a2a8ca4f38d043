"""The client of the replays: HTTP/1.1, one connection, and watches that are read in the background."""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import Any

Headers = Mapping[str, str | None]


def trust(authority: Path | None, *, insecure: bool) -> ssl.SSLContext | None:
    """Return how to verify a server's certificate: by a CA file, else by the system's CAs; None for not at all."""
    return None if insecure else ssl.create_default_context(cafile=authority)


class Client:
    """Sends requests to one server. context: how to verify its certificate; None for servers on loopback."""

    def __init__(self, server: str, token: str, context: ssl.SSLContext | None = None) -> None:
        self._url = urllib.parse.urlsplit(server)
        self._context = context or ssl._create_unverified_context()
        self._token = token
        self._connection: http.client.HTTPConnection | None = None

    def connect(self, timeout: float = 60) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def headers(self, more: Headers | None) -> dict[str, str]:
        """Return the headers of a request. None removes a header that is sent otherwise."""
        sent: dict[str, str | None] = {"Accept": "application/json", "User-Agent": "conformance"}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        sent.update(more or {})
        return {name: value for name, value in sent.items() if value is not None}

    def send(
        self, method: str, path: str, body: Any = None, headers: Headers | None = None
    ) -> tuple[int, Message, bytes]:
        """Return status, headers and body. Tries once more on a new connection if the old one was closed."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = self.headers(headers)
        if data is not None and not any(name.lower() == "content-type" for name in sent):
            sent["Content-Type"] = "application/json"
        try:
            return self._send(method, path, data, sent)
        except (http.client.HTTPException, OSError):
            self.close()
            return self._send(method, path, data, sent)

    def _send(self, method: str, path: str, data: bytes | None, sent: dict[str, str]) -> tuple[int, Message, bytes]:
        if self._connection is None:
            self._connection = self.connect()
        self._connection.request(method, path, data, sent)
        answer = self._connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Watch(threading.Thread):
    """Reads a watch in the background and puts its events into a queue; None at the end."""

    def __init__(self, client: Client, path: str, headers: Headers | None) -> None:
        super().__init__(daemon=True)
        self.events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._connection = client.connect(timeout=60)
        self._connection.request("GET", path, headers=client.headers(headers))
        self._socket = self._connection.sock
        self._answer = self._connection.getresponse()
        self.status = self._answer.status

    def run(self) -> None:
        try:
            while self.status == http.HTTPStatus.OK and (line := self._answer.readline()):
                if line.strip():
                    self.events.put(json.loads(line))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # closed meanwhile
        self.events.put(None)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the reading thread, which a bare close would not
        self.join(60)
        self._connection.close()
