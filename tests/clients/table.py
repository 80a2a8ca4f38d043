"""docs/reference/clients.md: what each client and version can do against podless, as they have shown it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence

from tests.clients.languages import HERE, LIBRARIES, PROGRAMS, STEPS, Report
from tests.clients.versions import HELM, KUBECTL, VERSIONS

PAGE = HERE.parent.parent / "docs" / "reference" / "clients.md"
_BY_HAND = "\n## Suites\n"  # what comes from here on is not of the programs' reports
_WORDS = {"ok": "yes", "none": "–"}


def _go() -> list[tuple[str, str]]:
    text = (HERE / "go/go.mod").read_text()
    return [
        (name, match[1].removeprefix("v"))
        for name in ("client-go", "controller-runtime")
        if (match := re.search(rf"/{name} (v[\d.]+)$", text, re.MULTILINE))
    ]


def _java() -> list[tuple[str, str]]:
    text = (HERE / "java/pom.xml").read_text()
    found = re.search(r"<artifactId>kubernetes-client</artifactId>\s*<version>([\d.]+)</version>", text)
    return [("fabric8 kubernetes-client", found[1])] if found else []


def _rust() -> list[tuple[str, str]]:
    pinned = tomllib.loads((HERE / "rust/Cargo.toml").read_text())["dependencies"]["kube"]["version"]
    return [("kube-rs", pinned.removeprefix("="))]


def _node() -> list[tuple[str, str]]:
    return list(json.loads((HERE / "node/package.json").read_text())["dependencies"].items())


def _python(library: str) -> list[tuple[str, str]]:
    text = (HERE / "python/requirements.txt").read_text()
    return [tuple(line.split("==")) for line in text.split() if line.startswith(f"{library}==")]  # type: ignore[misc]


_PINNED: Mapping[str, Callable[[], list[tuple[str, str]]]] = {"go": _go, "java": _java, "rust": _rust, "node": _node}


def title(name: str) -> str:
    """How a row begins, with the versions that are pinned: the row of a program, or of a version of kubectl."""
    if name not in PROGRAMS:
        return f"kubectl {name.removeprefix('kubectl-')}"
    pinned = _python(name) if name in LIBRARIES else _PINNED[name]()
    return ", ".join(f"{library} {version}" for library, version in pinned)


def row(report: Report) -> str:
    """The line of a table for what a client has shown."""
    steps = STEPS if report.name in PROGRAMS else tuple(KUBECTL)
    return _line([title(report.name), *(_cell(report.results, step) for step in steps)])


def helm_row(report: Report) -> str:
    """The line for the helm that came with a kubectl; "" where none did."""
    if not set(HELM) & set(report.results):
        return ""
    return _line([f"helm {report.version}", *(_cell(report.results, step) for step in HELM)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(results: Mapping[str, tuple[str, str]], step: str) -> str:
    return _WORDS.get(results.get(step, ("", ""))[0], "no")


def rows(report: Report) -> list[str]:
    """All lines that a report makes."""
    return [line for line in (row(report), helm_row(report)) if line]


def misfits(report: Report) -> list[str]:
    """The lines of a report that the page does not have."""
    known = PAGE.read_text().splitlines()
    return [line for line in rows(report) if line not in known]


def write(reports: Sequence[Report]) -> None:
    """Put what was shown into the page; rows of clients that did not run stay where their versions are the same."""
    before, head, after = PAGE.read_text().partition(_BY_HAND)
    lines = [line for line in before.splitlines() if line.startswith("| ")]
    lines += [line for report in reports for line in rows(report)]
    known = {line.split(" | ")[0].removeprefix("| "): line for line in lines}  # the last one of a name counts
    programs = [known[title(name)] for name in PROGRAMS if title(name) in known]
    kubectls = [known[title(version)] for version in VERSIONS if title(version) in known]
    helms = sorted((line for name, line in known.items() if re.match(r"helm \S*\d", name)), key=_numbers)
    PAGE.write_text(
        _PAGE.format(
            programs="\n".join([*_head("library", STEPS), *programs]),
            kubectls="\n".join([*_head("version", tuple(KUBECTL)), *kubectls]),
            helms="\n".join([*_head("version", tuple(HELM)), *helms]),
        )
        + head
        + after
    )


def _numbers(line: str) -> list[int]:
    return [int(segment) for segment in re.findall(r"\d+", line.split(" | ")[0])]


def _head(first: str, steps: Sequence[str]) -> tuple[str, str]:
    return _line([first, *steps]), "|" + " --- |" * (len(steps) + 1)


_PAGE = """# Clients

These tables list the clients that podless is tested with; `make clients ARGS=--write` runs the tests and writes them.
"–" means that the library lacks the feature, or that its program does not try it.

## Libraries

Each row is a program under `tests/clients`, written in the style of its language. Some columns need an explanation:

- `apply`: a server-side apply with a forced conflict.
- `watch-cut`, `watch-expired`: watches end after two events, by a closed connection or with a 410. The client must not
  miss an event.
- `leader-election`: two candidates compete.
- `controller`: the program reconciles objects, recreates deleted dependents and removes a finalizer.

{programs}

fabric8's client watches over WebSocket. kube-rs has no leader election, so its program writes the Lease.
@kubernetes/client-node 2 needs Node 22; the program stays with version 1 to support Node 20.

## kubectl

The server runs with stand-in controllers (`--controllers '*'`), because rollouts need them.

{kubectls}

## helm

The same server gets a chart with a definition, an object of it, a Deployment and a hook, with `--wait`.

{helms}
"""
