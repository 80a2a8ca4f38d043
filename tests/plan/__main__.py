"""`python -m tests.plan`: count the sets of the corpus that `kubectl diff` cannot judge, two at a time."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from podless import Server
from tests.plan.corpus import CASES, Case, Judged, compare_diff

_TOGETHER = 2


def _judge(case: Case) -> Judged:
    with tempfile.TemporaryDirectory() as home, Server(garbage_delay=0.0) as server:
        return asyncio.run(compare_diff(case, server, Path(home)))


def main() -> int:
    """Print the counts."""
    with ProcessPoolExecutor(_TOGETHER) as pool:
        found = dict(zip((case.name for case in CASES), pool.map(_judge, CASES), strict=True))
    failed = [name for name, one in found.items() if not one.by_diff]
    alone = [name for name in failed if found[name].by_plan]
    print(f"kubectl diff fails on {len(failed)} of {len(CASES)} sets: {', '.join(failed)}")
    print(f"{len(alone)} of these are applied without an error, as the plan says: {', '.join(alone)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
