"""Keeps the packed recordings equal to their origin, the folder `shared/conformance` beside the checkout."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.recorded import FOLDER, KUBECTL, REALWORLD, RELEASES, Recording, pack, read_recordings

# the programs that the replays here do the same as, by their digests
PROGRAMS = FOLDER / "programs.json"


def sync(origin: Path, check: bool = False) -> list[str]:
    """Pack what is in the origin. Returns what differed, a line each; with `check` nothing is written."""
    told = []
    wanted = dict(_packs(origin))
    for file, recordings in wanted.items():
        if not file.exists() or read_recordings(file) != recordings:
            told.append(f"{file.relative_to(FOLDER)} differs")
            if not check:
                pack(file, recordings)
    for file in sorted({*FOLDER.rglob("*.jsonl.xz")} - {*wanted}):
        told.append(f"{file.relative_to(FOLDER)} is not in {origin}")
        if not check:
            file.unlink()
    digests = {name: hashlib.sha256((origin / name).read_bytes()).hexdigest() for name in ("run.py", "kubectl.py")}
    known = json.loads(PROGRAMS.read_text()) if PROGRAMS.exists() else {}
    told += [f"{name} has changed: do here what it does now" for name in digests if known.get(name) != digests[name]]
    if not check:
        PROGRAMS.write_text(json.dumps(digests, indent=1) + "\n")
    return told


def _packs(origin: Path) -> Iterator[tuple[Path, list[Recording]]]:
    """Each packed file and what belongs into it."""
    for folder in sorted((origin / "scenarios").iterdir()):
        if folder.is_dir():
            yield FOLDER / "scenarios" / f"{folder.name}.jsonl.xz", _documents(folder)
    for file in sorted((origin / "corpus").glob("*.jsonl.gz")):
        yield FOLDER / "corpus" / f"{file.name.removesuffix('.gz')}.xz", read_recordings(file)
    yield KUBECTL, _documents(origin / "kubectl")
    if (origin / "versions").is_dir():
        yield RELEASES, _of_releases(origin / "versions")


def _of_releases(folder: Path) -> list[Recording]:
    """What older releases answered, with equal conversations beside each other and without how the answers differ."""
    found = [
        {"version": file.name.removesuffix(".jsonl.gz")} | one
        for file in sorted(folder.glob("*.jsonl.gz"))
        for one in read_recordings(file)
    ]
    kept = [{key: value for key, value in one.items() if key != "differs"} for one in found]
    return sorted(kept, key=lambda one: (one["area"], one["name"], one["version"]))


def _documents(folder: Path) -> list[Recording]:
    return [_own(json.loads(file.read_text())) for file in sorted(folder.glob("*.json"))]


def _own(recording: dict[str, Any]) -> Recording:
    """Which documentation something is about, without where its copy was."""
    if "source" in recording:
        recording["source"] = recording["source"].removeprefix("seed: ")
    return _without_descriptions(recording) if recording.get("area") == REALWORLD else recording


def _without_descriptions(value: Any, *, schema: bool = False) -> Any:
    """Leave out what other projects say of their fields: names, types and rules are facts, their texts are theirs."""
    if isinstance(value, list):
        return [_without_descriptions(item, schema=schema) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_descriptions(item, schema=schema or name == "openAPIV3Schema")
        for name, item in value.items()
        if not (schema and name == "description" and isinstance(item, str))
    }
