"""Progress on standard error: one line that is updated on a terminal, one line a second elsewhere."""

from __future__ import annotations

import sys
import time

_TERMINAL, _ELSEWHERE = 0.1, 1.0  # seconds between two updates


class Progress:
    """Shows the progress of a command."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = 0.0

    def say(self, text: str) -> None:
        """Show the progress, at most once in an interval."""
        now = time.monotonic()
        if now - self._last >= (_TERMINAL if self._terminal else _ELSEWHERE):
            self._last = now
            start, end = ("\r\x1b[K", "") if self._terminal else ("", "\n")
            print(f"{start}{text}", end=end, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the progress line of a terminal, before other output."""
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def line(self, text: str) -> None:
        """Print a permanent line, such as an error."""
        print(f"\r\x1b[Kpodless: {text}" if self._terminal else f"podless: {text}", file=sys.stderr, flush=True)

    def end(self, text: str) -> None:
        """Show the result."""
        print(f"\r\x1b[K{text}" if self._terminal else text, file=sys.stderr, flush=True)
