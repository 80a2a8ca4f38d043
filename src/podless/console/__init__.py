"""The browser console: its built page, and one-time links that log in the administrator.

The sources of the page are in console/ at the root of the repository; `make console` builds them into assets/.
"""

from __future__ import annotations

import gzip
import hashlib
import secrets
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from podless.runtime import clock
from podless.runtime.dataclass import dataclass

FOLDER = Path(__file__).parent / "assets"
INDEX = "index.html"
HASHED = "assets/"  # names of files below this folder contain a hash of the content
_MEDIA = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_SMALL = 1 << 10  # bytes; smaller files are not compressed
LIFETIME = 600.0  # seconds in which a one-time code can be used
_MAX = 16  # maximum number of codes; the oldest is dropped


@dataclass(frozen=True)
class Asset:
    """A file of the page, read at its first request.

    hashed: its name contains a hash of the content, so browsers can cache it forever.
    """

    file: Path
    media: bytes
    hashed: bool

    @cached_property
    def body(self) -> bytes:
        """The content."""
        return self.file.read_bytes()

    @property
    def pays(self) -> bool:
        """Whether compressing the file saves enough."""
        return len(self.body) > _SMALL

    @cached_property
    def tag(self) -> str:
        """The ETag."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'


def pack_bytes(body: bytes) -> bytes:
    """Compress bytes with gzip. Equal bytes give equal results."""
    return gzip.compress(body, 6, mtime=0)


def list_assets() -> dict[str, Asset]:
    """Return the files of the page by their path in the folder. "" is the page itself."""
    assets = {}
    for file in sorted(FOLDER.rglob("*")):
        media = _MEDIA.get(file.suffix)
        if media is not None:
            name = file.relative_to(FOLDER).as_posix()
            assets["" if name == INDEX else name] = Asset(file, media, name.startswith(HASHED))
    return assets


class Links:
    """One-time codes that log the administrator in. Only the digests of unused codes are kept."""

    def __init__(self, now: Callable[[], float] = clock.time) -> None:
        self._now = now
        self._ends: dict[bytes, float] = {}

    def make_code(self) -> str:
        """Return a new code."""
        while len(self._ends) >= _MAX:
            del self._ends[next(iter(self._ends))]
        code = secrets.token_urlsafe(24)
        self._ends[_hash_code(code)] = self._now() + LIFETIME
        return code

    def use_code(self, code: str) -> bool:
        """Use up a code. Returns False if it is unknown, used or expired."""
        end = self._ends.pop(_hash_code(code), None)
        return end is not None and self._now() < end


def _hash_code(code: str) -> bytes:
    return sha256(code.encode("utf-8", "replace")).digest()
