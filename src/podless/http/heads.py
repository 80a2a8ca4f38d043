"""Heads whose fields came in before, byte for byte: a client says the same of itself with each request.

Of such a GET only the first line is new. What the bytes behind it say was found by llhttp (parsing.py) when they first
came, alone and with nothing behind them; whatever is not as plain as that goes to llhttp each time.
"""

from __future__ import annotations

_MOST = 256  # sorts of fields that are remembered
_LONGEST = 1 << 12  # bytes of them
_END = b"\r\n\r\n"
_BEFORE, _BEHIND = b"GET ", b" HTTP/1.1"
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?&=%+,:"
_OTHER = frozenset(("content-length", "transfer-encoding", "upgrade", "connection"))


class Heads:
    """The fields of requests without bodies, by their bytes. All who get them share them; nobody changes them."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, dict[str, str]] = {}  # the oldest first

    def find(self, data: bytes) -> tuple[str, dict[str, str]] | None:
        """Target and fields of a GET, where the bytes are one and nothing else, and its fields are known."""
        end = data.find(b"\r\n")
        fields = self._known.get(data[end:])
        target = _target(data, end) if fields is not None else None
        return (target, fields) if target is not None and fields is not None else None

    def keep(self, data: bytes, target: str, fields: dict[str, str]) -> None:
        """Remember the fields of a request without a body, which the bytes were."""
        end = data.find(b"\r\n")
        behind = data[end:]
        if len(behind) > _LONGEST or behind.find(_END) + len(_END) != len(behind) or _target(data, end) != target:
            return
        if not _OTHER.isdisjoint(fields):
            return
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[behind] = fields


def _target(data: bytes, end: int) -> str | None:
    """The target of a GET whose first line ends there, of characters that mean nothing to who reads lines."""
    if not data.startswith(_BEFORE) or not data.endswith(_BEHIND, 0, end) or data[len(_BEFORE)] != 0x2F:
        return None
    target = data[len(_BEFORE) : end - len(_BEHIND)]
    return None if target.translate(None, _PLAIN) else target.decode("ascii")
