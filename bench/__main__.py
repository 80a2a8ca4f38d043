"""python -m bench [NAME ...]: run benchmarks by name, all of them without one; keep and show their figures."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Sequence

import bench
from bench.record import book, plot, table
from bench.record.book import Entry, Place
from bench.record.figure import Figure


def benchmarks() -> list[str]:
    """The names of all."""
    return sorted(
        found.name
        for found in pkgutil.iter_modules(bench.__path__)
        if not found.ispkg and not found.name.startswith("_")
    )


def run(names: Sequence[str], smoke: bool) -> dict[str, Sequence[Figure]]:
    """Run benchmarks, one after the other, and give their figures back."""
    figures: dict[str, Sequence[Figure]] = {}
    for name in names:
        print(f"== {name}", flush=True)
        began = time.perf_counter()
        figures[name] = importlib.import_module(f"bench.{name}").main(smoke=smoke)
        print(f"   {time.perf_counter() - began:.1f} s", flush=True)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says. Returns the exit code."""
    known = benchmarks()
    parser = argparse.ArgumentParser(prog="python -m bench", description="Show what things cost on this machine.")
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"one of: {', '.join(known)}")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--smoke", action="store_true", help="a few moments of each, to see that it works")
    what.add_argument("--record", action="store_true", help=f"add the figures to {book.BOOK.name}")
    what.add_argument(
        "--table", type=int, nargs="?", const=5, metavar="LAST", help="show the last commits and run nothing"
    )
    what.add_argument("--plot", action="store_true", help="draw bench/plots/*.json and run nothing")
    options = parser.parse_args(arguments)
    if unknown := set(options.name) - set(known):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    if options.table is not None:
        print(table.render(book.entries(), options.table, options.name))
    elif options.plot:
        print(*plot.draw_all(), sep="\n")
    else:
        place = Place.here()
        figures = run(options.name or known, options.smoke)
        if options.record:
            book.append(Entry(place, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
