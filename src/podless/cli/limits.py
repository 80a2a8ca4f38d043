"""Options of `podless serve` about what clients may cost."""

from __future__ import annotations

import argparse

from podless.http.limits import Limits

_DEFAULT = Limits()


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("limits", "what is over them waits, or gets 429 and is to be tried again")
    group.add_argument(
        "--max-requests-inflight", metavar="N", type=_count, default=_DEFAULT.in_flight, help="requests at work at once"
    )
    group.add_argument("--max-watches", metavar="N", type=_count, default=_DEFAULT.watches, help="watches at once")
    group.add_argument(
        "--max-connections", metavar="N", type=_count, default=_DEFAULT.connections, help="connections at once"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError("a number above 0")
    return int(text)


def read(options: argparse.Namespace) -> Limits:
    """What the options say."""
    return Limits(
        connections=options.max_connections, in_flight=options.max_requests_inflight, watches=options.max_watches
    )
