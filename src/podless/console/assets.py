"""The files of the built page."""

from __future__ import annotations

import gzip
import hashlib
from functools import cached_property
from pathlib import Path

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
