"""Commands about the console: whether its assets are fresh, their sizes, pictures of its pages."""

from __future__ import annotations

import sys

from podless.console import list_assets, pack_bytes
from tests.console import fresh


def print_sizes() -> int:
    """Print the bytes of each file, as they are and compressed, and those of the first load."""
    assets = list_assets()
    page = assets[""].body.decode()
    total = 0
    print(f"{'file':<48}{'bytes':>10}{'gzip':>10}")
    for name, one in sorted(assets.items(), key=lambda item: -len(item[1].body)):
        packed = len(pack_bytes(one.body))
        first = name == "" or name in page
        total += packed if first else 0
        print(f"{name or 'index.html':<48}{len(one.body):>10}{packed:>10}{'  first load' if first else ''}")
    print(f"{'first load':<48}{'':>10}{total:>10}")
    return 0


def check_fresh() -> int:
    """Print what is stale. Returns 1 where something is."""
    wrong = fresh.find_stale()
    print("\n".join(wrong) or "the assets are fresh")
    return 1 if wrong else 0


def take_pictures() -> int:
    """Write the pictures of docs/how-to/console.md; needs chromium, chromedriver and selenium."""
    from tests.console.screenshots import write_screenshots

    return write_screenshots()


COMMANDS = {"fresh": check_fresh, "sizes": print_sizes, "screenshots": take_pictures}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m tests.console {'|'.join(COMMANDS)}")
    sys.exit(COMMANDS[sys.argv[1]]())
