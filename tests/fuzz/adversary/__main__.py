"""python -m tests.fuzz.adversary: run pairs, tell of each that fails, and go on.

A line tells how to see one of them again. The exit code is 1 where any failed.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.adversary import run
from tests.fuzz.adversary.pairs import Pair


def main() -> int:
    """Run them. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.adversary", description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--seed", default=str(secrets.randbelow(1 << 32)), help="of the first (default: a random one)")
    parser.add_argument("--pair", action="append", help="the seed of a single pair; repeatable")
    parser.add_argument("--whole", action="store_true", help="make no smaller pairs of those that fail")
    parser.add_argument("--dump", type=Path, help="write the requests of the last pair to a file, and run nothing")
    parser.add_argument("--verbose", action="store_true", help="tell of each pair")
    parser.add_argument("--trace", action="store_true", help="tell of each request")
    options = parser.parse_args()
    chosen = options.pair or run.seeds(options.seed, options.pairs)
    if options.dump:
        run.dump(options.dump, Pair.draw(chosen[-1]))
        return 0
    print(f"python -m tests.fuzz.adversary --seed {options.seed} --pairs {len(chosen)}", flush=True)
    began, failed, longest, codes = time.monotonic(), 0, 0.0, Counter[int]()
    setups = Counter[int]()
    say: Callable[[str], object] = print if options.trace else lambda text: None
    with run.Runs() as runs:
        for seed in chosen:
            report = runs.run(Pair.draw(seed), say)
            longest = max(longest, report.longest)
            codes.update(report.codes)
            setups.update(report.setup)
            if options.verbose:
                told = f"{report.longest * 1e3:6.0f} ms {report.kept:5.0f} MB"
                print(f"{told}  {report.pair}  {report.setup[:4]} {report.codes}", flush=True)
            if report.faults:
                failed += 1
                print(run.tell(report), flush=True)
                if not options.whole:
                    small = runs.shrink(report)
                    print(f"    smaller: {small.pair}\n        {small.faults[0]}", flush=True)
    took = time.monotonic() - began
    print(f"{len(chosen)} pairs in {took:.0f} s, {failed} failed; the longest step {longest * 1e3:.0f} ms")
    print(f"set-ups were answered {dict(setups.most_common())}, requests {dict(codes.most_common())}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
