"""Client certificates: the common name is the user, the organizations are the groups.

The TLS handshake verifies the signatures. The validity period is checked for every request, because connections can
outlive certificates.
"""

from __future__ import annotations

import ssl
from functools import cached_property
from hashlib import sha256
from typing import Any

from podless.auth.user import AUTHENTICATED, User
from podless.runtime import clock

CREDENTIAL = "authentication.kubernetes.io/credential-id"


class Certificate:
    """A client's certificate. der: its bytes. fields: from ssl's `getpeercert`. trusted: a trusted CA has signed it."""

    def __init__(self, der: bytes, fields: dict[str, Any], *, trusted: bool = True) -> None:
        self._der = der
        self._fields = fields
        self._trusted = trusted

    @property
    def is_current(self) -> bool:
        """Whether the certificate is valid now."""
        return self._trusted and clock.time() < self._until

    @property
    def user(self) -> User | None:
        """The user; None for an invalid certificate, or one without a common name."""
        return self._user if self.is_current else None

    @cached_property
    def _until(self) -> float:
        end = self._fields.get("notAfter")
        return ssl.cert_time_to_seconds(end) if end else 0.0

    @cached_property
    def _user(self) -> User | None:
        subject = [pair for relative in self._fields.get("subject", ()) for pair in relative]
        names = [value for key, value in subject if key == "commonName"]
        groups = [value for key, value in subject if key == "organizationName"]
        if not names or not names[-1]:
            return None
        if AUTHENTICATED not in groups:
            groups.append(AUTHENTICATED)
        extra = {CREDENTIAL: (f"X509SHA256={sha256(self._der).hexdigest()}",)}
        return User(names[-1], "", tuple(groups), extra)
