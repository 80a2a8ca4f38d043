"""What clients may cost: sizes, times and numbers. Body size and its text are kube-apiserver's."""

from __future__ import annotations

from dataclasses import dataclass

from podless.runtime.option import one_or_more, option, parse_megabytes


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one connection, and of all together; each says what it is about."""

    in_flight: int = option(
        "--max-requests-inflight",
        "requests at work at once; one user half of them, where others ask too",
        value=400,
        metavar="N",
        parse=one_or_more,
    )
    watches: int = option(
        "--max-watches", "watches at once; one user half of them", value=20_000, metavar="N", parse=one_or_more
    )
    connections: int = option(
        "--max-connections",
        "connections at once, those in their TLS handshake included",
        value=20_000,
        metavar="N",
        parse=one_or_more,
    )
    head: int = option("", "bytes of request line and headers", value=64 * 1024)
    body: int = option("", "bytes of a request body", value=3 * 1024 * 1024)
    held: int = option(
        "--max-held-megabytes",
        "MiB that are held for clients at once: bodies that come in, answers and watches that are not read; one user "
        "half of them",
        value=128 * 1024 * 1024,
        metavar="MB",
        parse=parse_megabytes,
        default="128",
    )
    pipeline: int = option("", "requests of a connection that may wait behind the one at work", value=32)
    buffer: int = option("", "bytes that may wait for a client that does not read its watch", value=8 * 1024 * 1024)
    handshake_time: float = option("", "seconds for a TLS handshake", value=10.0)
    head_time: float = option("", "seconds for the head of a request", value=30.0)
    body_time: float = option("", "seconds for the body of a request", value=60.0)
    read_time: float = option("", "seconds until a long body is read, that is, decoded", value=10.0)
    write_time: float = option("", "seconds in which a client has to read on of what waits for it", value=30.0)
    idle_time: float = option("", "seconds between two requests of a connection", value=180.0)
    handshakes: int = option("", "TLS handshakes at once; of more, the oldest ends", value=1000)
    queue: int = option("", "requests of one user that may wait for their turn", value=1000)
    wait: float = option("", "seconds that a request may wait for its turn", value=15.0)
