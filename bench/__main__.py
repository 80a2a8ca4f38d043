"""python -m bench [NAME ...]: run benchmarks by name, all of them without one."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import bench


def main() -> int:
    known = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_"))
    parser = argparse.ArgumentParser(prog="python -m bench", description="Print what things cost on this machine.")
    parser.add_argument("name", nargs="*", choices=[*known, []], metavar="NAME", help=f"one of: {', '.join(known)}")
    for name in parser.parse_args().name or known:
        print(f"== {name}")
        importlib.import_module(f"bench.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
