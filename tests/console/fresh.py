"""Whether the committed assets are what the sources of the console build; needs no Node."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from podless.console import FOLDER

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "console"
# as in console/scripts/record.mjs
TAKEN = (
    "src",
    "public",
    "scripts",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
)


def _list(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_sources(folder: Path = SOURCES) -> str:
    """Return the digest of all sources, as console/scripts/record.mjs computes it."""
    files = {file.relative_to(folder).as_posix(): file for name in TAKEN for file in _list(folder / name)}
    lines = [f"{name} {_digest(files[name].read_bytes())}\n" for name in sorted(files)]
    return _digest("".join(lines).encode())


def read_manifest(assets: Path = FOLDER) -> dict[str, Any]:
    """Return what the build recorded."""
    found: dict[str, Any] = json.loads((assets / "manifest.json").read_text())
    return found


def find_stale(assets: Path = FOLDER, sources: Path = SOURCES) -> list[str]:
    """Return what is wrong with the assets, one line each; nothing for fresh ones."""
    recorded = read_manifest(assets)
    wrong = []
    if recorded["sources"] != digest_sources(sources):
        wrong.append("console/ changed after the assets were built: run `make console`")
    there = {file.relative_to(assets).as_posix(): file for file in _list(assets) if file.name != "manifest.json"}
    for name in sorted(there.keys() | recorded["files"].keys()):
        if name not in there or _digest(there[name].read_bytes()) != recorded["files"].get(name):
            wrong.append(f"src/podless/console/assets/{name} is not the file that was built: run `make console`")
    return wrong
