"""Reads the stack of another thread without touching its frames.

`sys._current_frames` returns frame objects of running code, and CPython 3.11 crashes if they are followed at the wrong
moment. `faulthandler` writes the same stack as text while it holds the GIL, and makes no object.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import re
from contextlib import suppress
from typing import NamedTuple

from podless.runtime.lazy import compile_late

_THREAD = compile_late(rb"^(?:Current thread|Thread) 0x([0-9a-f]+)[^\n]*\n((?:  [^\n]*\n)*)", re.MULTILINE)
_CALL = compile_late(rb'^  File "([^\n]*)", line (\d+|\?\?\?) in ([^\n]*)$', re.MULTILINE)
_DEEPEST = 100
"""Calls that faulthandler writes of a stack, the innermost."""
_MAX = 1 << 21
"""Bytes of the file that can be read; faulthandler writes up to 100 calls of each thread."""
_REWIND = 1 << 16
"""Bytes of stacks after which the file is written from its start again."""


class StackFrame(NamedTuple):
    """A called function, and its present line."""

    file: str
    line: int
    function: str

    @property
    def function_key(self) -> tuple[str, str]:
        """The file and the name of the function."""
        return self.file, self.function


class Stacks:
    """Reads stacks through a file in memory. Call `close` at the end.

    The file is mapped, because each system call of `os` releases the GIL. Getting it back from a busy thread takes a
    switch of threads, which costs that thread more than the stack.
    """

    def __init__(self) -> None:
        self._file = _open_file()
        self._text: mmap.mmap | None = None
        with suppress(OSError):  # a limit of the size of files holds in memory, too: then no stack is found
            os.truncate(self._file, _MAX)
            self._text = mmap.mmap(self._file, _MAX)
        self._end = 0  # where faulthandler writes next; only zeros follow

    def close(self) -> None:
        """Free the file."""
        if self._text is not None:
            self._text.close()
        os.close(self._file)

    def read_stack(self, thread: int) -> list[StackFrame]:
        """Return the calls of a thread by its identifier, innermost first, at most 100. Empty for an unknown thread."""
        text = self._text
        if text is None:
            return []
        if self._end > _REWIND:
            os.lseek(self._file, 0, os.SEEK_SET)
            text[: self._end] = bytes(self._end)
            self._end = 0
        start = self._end
        faulthandler.dump_traceback(self._file)
        end = text.find(b"\0", start)
        self._end = end if end >= 0 else _MAX
        for match in _THREAD.finditer(text[start : self._end]):
            if int(match[1], 16) == thread:
                return [
                    StackFrame(os.fsdecode(file), int(line) if line.isdigit() else 0, function.decode(errors="replace"))
                    for file, line, function in _CALL.findall(match[2])
                ]
        return []


def is_whole(calls: list[StackFrame]) -> bool:
    """Return whether a stack includes its outermost calls."""
    return len(calls) < _DEEPEST


def _open_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("podless-stacks")
    import tempfile  # imported late: only systems without files in memory need it

    descriptor, name = tempfile.mkstemp()
    os.unlink(name)
    return descriptor
