"""Limits on sizes, times and numbers of requests. The body limit and its error text are kube-apiserver's."""

from __future__ import annotations

from podless.runtime.dataclass import dataclass
from podless.runtime.option import option, parse_memory, parse_positive


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one connection and of all connections; each field's help text describes it."""

    in_flight: int = option(
        "--max-requests-inflight",
        "requests that are processed at the same time. One user can use at most half of it while others are active",
        value=400,
        metavar="N",
        parse=parse_positive,
    )
    watches: int = option(
        "--max-watches",
        "open watches. One user can have at most half of them",
        value=20_000,
        metavar="N",
        parse=parse_positive,
    )
    connections: int = option(
        "--max-connections",
        "open connections, including those in their TLS handshake",
        value=20_000,
        metavar="N",
        parse=parse_positive,
    )
    head: int = option("", "size of request line and headers in bytes", value=64 * 1024)
    body: int = option("", "size of a request body in bytes", value=3 * 1024 * 1024)
    held: int = option(
        "--max-held-megabytes",
        "memory held for clients, in MiB: request bodies, unread responses and unread watch events. One "
        "user can use at most half of it",
        value=128 * 1024 * 1024,
        metavar="MB",
        parse=parse_memory,
        default="128",
    )
    pipeline: int = option("", "pipelined requests that can wait on one connection", value=32)
    buffer: int = option("", "unread watch events of one client, in bytes", value=8 * 1024 * 1024)
    handshake_time: float = option("", "timeout of a TLS handshake, in seconds", value=10.0)
    head_time: float = option("", "timeout for request line and headers, in seconds", value=30.0)
    body_time: float = option("", "timeout for a request body, in seconds", value=60.0)
    read_time: float = option("", "timeout for decoding a long body, in seconds", value=10.0)
    write_time: float = option("", "seconds within which a client must read data that waits for it", value=30.0)
    idle_time: float = option("", "idle timeout of a connection, in seconds", value=180.0)
    handshakes: int = option("", "TLS handshakes in progress; beyond the limit the oldest is closed", value=1000)
    queue: int = option("", "queued requests of one user", value=1000)
    wait: float = option("", "time that a request can be queued, in seconds", value=15.0)
