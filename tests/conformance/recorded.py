"""Where the recordings are: one JSON document a line, packed with xz.

`recordings/scenarios/AREA.jsonl.xz` were written by hand, `recordings/corpus/NAME.jsonl.xz` made at random, and
`recordings/kubectl.jsonl.xz` are sessions with kubectl. `recordings/releases.jsonl.xz` has what older releases answer,
sorted so that equal answers are beside each other. `recordings/added/*.json` are scenarios that were added since, one a
file.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.conftest import SHARED

FOLDER = Path(__file__).parent / "recordings"
KUBECTL = FOLDER / "kubectl.jsonl.xz"
RELEASES = FOLDER / "releases.jsonl.xz"
ORIGIN = SHARED / "conformance"
REALWORLD = "realworld"  # definitions and examples of other projects: recordings/NOTICE.md
# a conversation: name, area, steps with what was expected of them; or a session with kubectl: name, files, commands
Recording = dict[str, Any]


def areas() -> list[str]:
    """Return the areas of the scenarios."""
    packed = {file.name.removesuffix(".jsonl.xz") for file in (FOLDER / "scenarios").glob("*.jsonl.xz")}
    return sorted(packed | {one["area"] for one in added()})


def corpora() -> list[str]:
    """Return the names of the corpora."""
    return sorted(file.name.removesuffix(".jsonl.xz") for file in (FOLDER / "corpus").glob("*.jsonl.xz"))


def scenarios(*wanted: str) -> list[Recording]:
    """Return the scenarios of some areas; none for an area that does not exist."""
    return [scenario for area in wanted for scenario in _scenarios(area)]


def _scenarios(area: str) -> list[Recording]:
    packed = FOLDER / "scenarios" / f"{area}.jsonl.xz"
    own = [one for one in added() if one["area"] == area]
    return [*(read_recordings(packed) if packed.exists() else ()), *own]


def real_definitions() -> list[Any]:
    """Return the CustomResourceDefinitions of other projects, as they are published."""
    steps = [step for one in scenarios(REALWORLD) for step in one["steps"]]
    return [step["body"] for step in steps if step.get("path", "").endswith("/customresourcedefinitions")]


def added() -> list[Recording]:
    """Return the scenarios that are kept as single files."""
    return [json.loads(file.read_text()) for file in sorted((FOLDER / "added").glob("*.json"))]


def corpus(name: str) -> list[Recording]:
    return read_recordings(FOLDER / "corpus" / f"{name}.jsonl.xz")


def of_release(name: str, every: int = 1) -> Iterator[Recording]:
    """Yield the recordings of an older release, such as 1.33, one by one. every: one of so many."""
    begins, count = json.dumps({"version": name}, separators=(",", ":"))[:-1], 0
    with lzma.open(RELEASES, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(begins):
                count += 1
                if count % every == 0:
                    yield json.loads(line)


def count_releases() -> Counter[str]:
    """Return the number of recordings of each older release. Reads the file once, which takes a second."""
    with lzma.open(RELEASES, "rt", encoding="utf-8") as lines:
        return Counter(json.JSONDecoder().raw_decode(line, len('{"version":'))[0] for line in lines)


def sessions() -> list[Recording]:
    return read_recordings(KUBECTL)


def find(area: str, name: str) -> Recording:
    """Return one recording of an area. Raises KeyError."""
    return next((one for one in everything(area) if one["name"] == name), None) or _missing(f"{area}/{name}")


def everything(area: str) -> list[Recording]:
    """Return all recordings of an area, such as `watch`, `corpus/cel`, `releases/1.33` or `kubectl`, or of a file.

    Raises KeyError.
    """
    if area == "kubectl":
        return sessions()
    if Path(area).is_file():
        return read_recordings(Path(area))
    if area.startswith("releases/"):
        return [*of_release(area.removeprefix("releases/"))] or _missing(area)
    if area.removeprefix("corpus/") in corpora() and area.startswith("corpus/"):
        return corpus(area.removeprefix("corpus/"))
    return scenarios(area) or _missing(area)


def _missing(what: str) -> Any:
    raise KeyError(f"there is no recording {what}")


_OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open}


def read_recordings(file: Path) -> list[Recording]:
    """Return the recordings of a file: one of `.json`, or one a line, also packed (`.jsonl.xz`, `.jsonl.gz`)."""
    with _OPENERS.get(file.suffix, open)(file, "rt", encoding="utf-8") as text:
        return [json.load(text)] if file.suffix == ".json" else [json.loads(line) for line in text]


def pack(file: Path, recordings: Iterable[Recording]) -> None:
    """Write a `.jsonl.xz`."""
    text = "".join(json.dumps(recording, ensure_ascii=False, separators=(",", ":")) + "\n" for recording in recordings)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
