"""Settings for an etcd cluster, named as kube-apiserver's flags."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import urlsplit

from podless.runtime.dataclass import dataclass
from podless.runtime.option import StartError, file_option, join_lists, option, parse_duration


def parse_endpoints(text: str) -> tuple[str, ...]:
    """Return the URLs in a comma-separated list. Raises ValueError."""
    endpoints = tuple(filter(None, (segment.strip() for segment in text.split(","))))
    for endpoint in endpoints:
        url = urlsplit(endpoint)
        if url.scheme not in ("http", "https") or not url.netloc or url.path not in ("", "/"):
            raise ValueError("expected https://HOST:PORT,...")
    return endpoints


def parse_prefix(text: str) -> str:
    """Return a key prefix with a leading slash and no trailing one. Raises ValueError."""
    name = text.strip("/")
    if not name or not name.isascii() or not name.isprintable():
        raise ValueError("expected a prefix such as /registry")
    return f"/{name}"


def parse_interval(text: str) -> float:
    """Return seconds, 0 for never. Raises ValueError."""
    return 0.0 if text in ("0", "0s") else parse_duration(text)


@dataclass(frozen=True, slots=True)
class Etcd:
    """The settings of an etcd cluster. servers: URLs. compaction: seconds. Raises StartError for bad combinations."""

    servers: Sequence[str] = option(
        "--etcd-servers",
        "addresses of the etcd members",
        value=(),
        metavar="URL,...",
        parse=parse_endpoints,
        combine=join_lists,
    )
    cafile: str | os.PathLike[str] | None = file_option("--etcd-cafile", "PEM file with the CAs of etcd's certificates")
    certfile: str | os.PathLike[str] | None = file_option(
        "--etcd-certfile", "client certificate for etcd; reloaded when it changes"
    )
    keyfile: str | os.PathLike[str] | None = file_option("--etcd-keyfile", "private key of that certificate")
    prefix: str = option(
        "--etcd-prefix", "prefix of all keys in etcd", value="/registry", metavar="PREFIX", parse=parse_prefix
    )
    compaction: float = option(
        "--etcd-compaction-interval",
        "interval between compactions of etcd, by one server for all. Old resource versions stay readable"
        " for one to two intervals; 0 turns compaction off",
        value=300.0,
        metavar="DURATION",
        parse=parse_interval,
        default="5m",
        server_only=True,
    )
    exclusive: bool = option(
        "--etcd-exclusive",
        "assume that only podless writes below the prefix. A single server can then answer reads without "
        "asking etcd; writes of kube-apiserver or etcdctl can appear a moment late",
        value=False,
        values=(True, False),
        server_only=True,
    )

    def __post_init__(self) -> None:
        if bool(self.certfile) != bool(self.keyfile):
            raise StartError("--etcd-certfile and --etcd-keyfile require each other")
        if len({urlsplit(server).scheme for server in self.servers}) > 1:
            raise StartError("--etcd-servers: some are https and some http: give all the same scheme")
        if self.servers and not self.secure and (self.cafile or self.certfile):
            raise StartError("--etcd-cafile and --etcd-certfile require https servers")

    @property
    def secure(self) -> bool:
        """Whether the servers are reached over TLS."""
        return bool(self.servers) and self.servers[0].startswith("https:")
