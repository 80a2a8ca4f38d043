"""Progress of a command: one line that is updated on a terminal, one line a second elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_TERMINAL, _ELSEWHERE = 0.1, 1.0  # seconds between two updates
_ERASE = "\r\x1b[K"


class Progress:
    """Shows the progress of a command. output: default standard error. elsewhere: also if that is no terminal."""

    def __init__(self, output: TextIO | None = None, *, elsewhere: bool = True) -> None:
        self._output = output or sys.stderr
        self._erase = _ERASE if self._output.isatty() else ""
        self._elsewhere = elsewhere
        self._last = 0.0

    def show(self, text: str) -> None:
        """Show the progress, at most once in an interval."""
        now = time.monotonic()
        if (self._erase or self._elsewhere) and now - self._last >= (_TERMINAL if self._erase else _ELSEWHERE):
            self._last = now
            print(f"{self._erase}{text}", end="" if self._erase else "\n", file=self._output, flush=True)

    def clear(self) -> None:
        """Erase the progress line of a terminal, before other output."""
        if self._erase:
            print(self._erase, end="", file=self._output, flush=True)

    def print_line(self, text: str) -> None:
        """Print a permanent line, such as an error."""
        self.end(f"podless: {text}")

    def end(self, text: str) -> None:
        """Show the result."""
        print(f"{self._erase}{text}", file=self._output, flush=True)
