"""Reloads changed server certificates, and renews generated ones before they expire."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from podless.http.clientcertificates import TLSContext, deferred_context
from podless.http.tls import BadCertificate, Certificates

log = logging.getLogger("podless")

State = list[tuple[int, int, int] | None]

_INTERVAL = 10.0  # seconds between two checks of the files


class CertificateRotation:
    """A server's TLS context, made from its files at first use and updated when they change.

    names: DNS names and addresses for the server's own certificate. clients: a file of CAs for client certificates.
    context: for connections.
    """

    def __init__(self, certificates: Certificates, names: Sequence[str], clients: Path | None = None) -> None:
        self._certificates = certificates
        self._names = names
        self._clients = clients
        self._last_state: State | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.context = deferred_context(self._load_context)

    def _load_context(self) -> TLSContext:
        self._certificates.create_missing(self._names)
        self._last_state = self._read_state()
        return self._certificates.make_context(self._clients)

    def make_context(self) -> None:
        """Make the context now. Raises BadCertificate, OSError."""
        self.context.reload_files()

    def start(self) -> None:
        """Start to check the files regularly."""
        self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._reload_clients)

    def stop(self) -> None:
        """Stop watching the files."""
        if self._timer is not None:
            self._timer.cancel()

    def _reload_clients(self) -> None:
        self.reload_changed()
        self.start()

    def reload_changed(self) -> None:
        """Load certificates that have changed since they were loaded.

        If the new ones are invalid, the former ones stay in use, and an error is logged.
        """
        if self._last_state is None:
            return
        try:
            self._certificates.create_missing(self._names)
            if self._read_state() != self._last_state:
                self.context.reload_files()
                log.info("tls: reloaded the server's certificate: %s", self._certificates.files[0])
        except (BadCertificate, OSError) as error:
            log.error("tls: kept the former server certificate: %s", error)

    def _read_state(self) -> State:
        return [_identify_file(path) for path in self._certificates.files]


def _identify_file(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
