"""The address of a webhook: the clientConfig of a definition or configuration."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Target:
    """A webhook's address.

    url: without a query. authority: certificates (PEM) of the CAs for the webhook; b"" for those of the system.
    service: namespace/name:port if the webhook is behind a Service, else "".
    """

    url: str
    authority: bytes = b""
    service: str = ""

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Target:
        """Return the target of a clientConfig that has been validated: url or service, and caBundle as base64."""
        authority = base64.b64decode(config.get("caBundle") or "").strip()
        service = config.get("service")
        if not service:
            # as in a real server, without query, fragment and user
            parts = urlsplit(config["url"])
            return cls(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_clean(unquote(parts.path))}", authority)
        namespace, name, port = service["namespace"], service["name"], service.get("port") or 443
        url = f"https://{name}.{namespace}.svc:{port}{_clean(service.get('path') or '')}"
        return cls(url, authority, f"{namespace}/{name}:{port}")


def _clean(path: str) -> str:
    """Normalize a path as Go's client does: absolute, without empty segments, dots or a trailing slash.

    Some clients, such as controller-runtime's envtest, write two slashes before the path.
    """
    return quote("/" + posixpath.normpath(f"/{path}").lstrip("/"), safe="$&+,/:;=@")
