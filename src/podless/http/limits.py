"""What clients may cost: sizes, times and numbers. Body size and its text are kube-apiserver's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one connection, and of all together.

    head: bytes of request line and headers. body: bytes of a request body. bodies: bytes of all bodies that are held,
    of which a user may have half. pipeline: requests that may wait behind the one at work. buffer: bytes that may wait
    for a client that does not read its watch, before it is cut off. Times in seconds: handshake_time for TLS, head_time
    for a request's head, body_time for its body, idle_time between requests. connections: how many there may be, and
    handshakes: how many of them in their TLS handshake. in_flight: requests at work, watches: watches that run; no
    user has more than half of either where others ask too. queue: requests of one user that may wait, wait: for so many
    seconds.
    """

    head: int = 64 * 1024
    body: int = 3 * 1024 * 1024
    bodies: int = 256 * 1024 * 1024
    pipeline: int = 32
    buffer: int = 8 * 1024 * 1024
    handshake_time: float = 10.0
    head_time: float = 30.0
    body_time: float = 60.0
    idle_time: float = 180.0
    connections: int = 20_000
    handshakes: int = 1000
    in_flight: int = 400
    watches: int = 20_000
    queue: int = 400
    wait: float = 15.0
