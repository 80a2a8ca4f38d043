"""How many runs a minute an exploration makes, for controllers in each language.

Run it with: python -m bench.explore
"""

from __future__ import annotations

from tests.explore.programs import PROGRAMS, build_programs

from bench.record.figure import Sheet

# mended forms, in which nothing is found that would be shrunk
_CONTROLLERS = {"python": "missed_delete", "go": "create_twice", "rust": "forgotten_requeue"}
_RUNS = 30


def main(smoke: bool = False) -> Sheet:
    """Measure it; with smoke, a few runs of one language."""
    sheet = Sheet()
    for language, name in _CONTROLLERS.items():
        if smoke and language != "python":
            continue
        if missing := build_programs(language):
            print(f"left out: {language}: {missing}")
            continue
        for workers in (2,) if smoke else (1, 2):
            report = PROGRAMS[name].explore(mended=True, runs=4 if smoke else _RUNS, workers=workers)
            sheet.put(f"{language}, {workers} workers: runs", 60 * report.runs / report.seconds, "/min", more=True)
    return sheet


if __name__ == "__main__":
    main()
