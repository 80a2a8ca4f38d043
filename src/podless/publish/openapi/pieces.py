"""Documents in pieces: entries are kept, or filled in when they are sent, and never joined to one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

_TOGETHER = 1 << 16  # bytes of entries after which they are joined and sent, to limit the copies in memory


class DocumentPiece(Protocol):
    """One entry of a document, its name and value: bytes, or an object that makes them."""

    def __len__(self) -> int: ...

    def __bytes__(self) -> bytes: ...


class DocumentBody:
    """A document: texts, and between them the entries of its areas. between: the separator of two entries.

    size: in bytes. It can be iterated any number of times.
    """

    __slots__ = ("_between", "_runs", "size")

    def __init__(self, runs: Sequence[bytes | Sequence[DocumentPiece]], between: bytes = b",") -> None:
        self._runs = runs
        self._between = between
        self.size = 0
        for run in runs:
            if isinstance(run, bytes):
                self.size += len(run)
            elif run:
                self.size += sum(map(len, run)) + (len(run) - 1) * len(between)

    def __iter__(self) -> Iterator[bytes]:
        pending: list[bytes] = []
        size = 0
        for run in self._runs:
            if isinstance(run, bytes):
                pending.append(run)
                continue
            lead = b""
            for piece in run:
                text = bytes(piece)
                pending += lead, text
                lead = self._between
                size += len(text)
                if size >= _TOGETHER:
                    yield b"".join(pending)
                    pending, size = [], 0
        if pending:
            yield b"".join(pending)

    def __bytes__(self) -> bytes:
        return b"".join(self)
