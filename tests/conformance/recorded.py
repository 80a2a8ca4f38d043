"""Where the recordings are: one JSON document a line, packed with xz.

`recordings/scenarios/AREA.jsonl.xz` were written by hand, `recordings/corpus/NAME.jsonl.xz` made at random, and
`recordings/kubectl.jsonl.xz` are sessions with kubectl. The area `realworld`, whose definitions are other projects',
is not part of this repository: it is read from the folder `shared` beside the checkout, where there is one.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.conftest import SHARED

FOLDER = Path(__file__).parent / "recordings"
KUBECTL = FOLDER / "kubectl.jsonl.xz"
ORIGIN = SHARED / "conformance"
REALWORLD = "realworld"
# a conversation: name, area, steps with what was expected of them; or a session with kubectl: name, files, commands
Recording = dict[str, Any]


def areas() -> list[str]:
    """The areas of the scenarios that are here, realworld among them where it is."""
    packed = [file.name.removesuffix(".jsonl.xz") for file in (FOLDER / "scenarios").glob("*.jsonl.xz")]
    return sorted([*packed, REALWORLD] if (ORIGIN / "scenarios" / REALWORLD).is_dir() else packed)


def corpora() -> list[str]:
    return sorted(file.name.removesuffix(".jsonl.xz") for file in (FOLDER / "corpus").glob("*.jsonl.xz"))


def scenarios(*wanted: str) -> list[Recording]:
    """The scenarios of areas, by name; nothing of an area that is not here."""
    here = set(areas())
    return [scenario for area in wanted if area in here for scenario in _scenarios(area)]


def _scenarios(area: str) -> list[Recording]:
    if area == REALWORLD:
        return [json.loads(file.read_text()) for file in sorted((ORIGIN / "scenarios" / area).glob("*.json"))]
    return unpack(FOLDER / "scenarios" / f"{area}.jsonl.xz")


def corpus(name: str) -> list[Recording]:
    return unpack(FOLDER / "corpus" / f"{name}.jsonl.xz")


def sessions() -> list[Recording]:
    return unpack(KUBECTL)


def find(area: str, name: str) -> Recording:
    """One recording of an area, of a corpus as `corpus/NAME`, or of `kubectl`. Raises KeyError."""
    return next((one for one in everything(area) if one["name"] == name), None) or _missing(f"{area}/{name}")


def everything(area: str) -> list[Recording]:
    """All recordings of an area, of a corpus as `corpus/NAME`, or of `kubectl`. Raises KeyError."""
    if area == "kubectl":
        return sessions()
    if area.removeprefix("corpus/") in corpora() and area.startswith("corpus/"):
        return corpus(area.removeprefix("corpus/"))
    return scenarios(area) or _missing(area)


def _missing(what: str) -> Any:
    raise KeyError(f"there is no recording {what}")


def unpack(file: Path) -> list[Recording]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def pack(file: Path, recordings: Iterable[Recording]) -> None:
    text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in recordings)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
