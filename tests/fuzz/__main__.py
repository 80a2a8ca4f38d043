"""python -m tests.fuzz: what is random in tests/fuzz and tests/faults, with other seeds, until the time is over.

Each round prints how to repeat it; the first one that fails is the last.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import subprocess
import sys
import time

_MAX = 1200  # seconds of a round, which hangs after that
_WHAT = ("tests/fuzz", *(f"tests/faults/test_{name}.py" for name in ("disk", "kill", "linearizable")))


def main() -> int:
    """Run rounds; returns the exit code of the last."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="no round begins that would not end in this time")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32), help="of the first round")
    parser.add_argument(
        "--held",
        type=float,
        default=0.1,
        help="a round fails where something holds the event loop for longer (seconds of the processor); 0: never",
    )
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    last, seed = 0.0, options.seed
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "fresh", "FUZZ_HELD": str(options.held)}
    while time.monotonic() + last < end:
        began = time.monotonic()
        arguments = ["-m", "pytest", "-m", "", "-n", "auto", *_WHAT, f"--hypothesis-seed={seed}"]
        print(f"HYPOTHESIS_PROFILE=fresh FUZZ_HELD={options.held} python {shlex.join(arguments)}", flush=True)
        try:
            code = subprocess.run([sys.executable, *arguments], env=environment, check=False, timeout=_MAX).returncode
        except subprocess.TimeoutExpired:
            print(f"not over after {_MAX} s")
            code = 1
        if code:
            print(f"to see it again: python -m tests.fuzz --seconds 1 --seed {seed}")
            return code
        last, seed = time.monotonic() - began, seed + 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
