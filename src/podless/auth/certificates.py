"""Client certificates: the common name is the user, the organizations are the groups.

That a certificate is signed by a trusted authority is for TLS to check; whether it has expired is looked at again at
every request, for connections can outlive certificates.
"""

from __future__ import annotations

import ssl
import time
from functools import cached_property
from hashlib import sha256
from typing import Any

from podless.auth.user import AUTHENTICATED, User

CREDENTIAL = "authentication.kubernetes.io/credential-id"


class Certificate:
    """A client's certificate that TLS has verified. der: its bytes; fields: as ssl's `getpeercert` gives them."""

    def __init__(self, der: bytes, fields: dict[str, Any]) -> None:
        self._der = der
        self._fields = fields

    @property
    def user(self) -> User | None:
        """Whose it is; None for one without a common name or out of its time."""
        return self._user if time.time() < self._until else None

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
        told = {CREDENTIAL: (f"X509SHA256={sha256(self._der).hexdigest()}",)}
        return User(names[-1], "", tuple(groups), told)
