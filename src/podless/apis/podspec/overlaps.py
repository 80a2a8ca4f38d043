"""Warns of overlapping files in projected volumes: equal paths, or a file where another path has a directory.

Source: Kubernetes' pkg/api/pod (warnings.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podless.codec.gotext import quote
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_MOST = 256  # the maximum number of warnings about a volume


class File(NamedTuple):
    """A file, and its source."""

    path: str
    source: str

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def warn_of_overlaps(spec: Object) -> Iterator[str]:
    """Yield warnings about files that overlap in the volumes of a pod."""
    for volume in spec.get("volumes") or ():
        name = quote(volume.get("name", ""))
        for kind, key, shown in (("configMap", "name", "ConfigMap"), ("secret", "secretName", "Secret")):
            source = volume.get(kind)
            if source is not None:
                described = f"{shown} {quote(source.get(key, ''))}"
                yield from _clashes(_files(source, ""), f"volume {name} ({described})")
        if volume.get("downwardAPI") is not None:
            yield from _clashes(_files(volume["downwardAPI"], ""), f"volume {name} (DownwardAPI)")
        if volume.get("projected") is not None:
            sources = volume["projected"].get("sources") or ()
            for one in each(sources):
                if not any(value is not None for value in one.values()):
                    yield f"volume {name} (Projected) has no sources provided"
            files = [file for one in sources for file in _projected(one)]
            yield from _clashes(files, f"volume {name} (Projected)")


def _files(source: Object, named: str) -> list[File]:
    return [File(item.get("path", ""), named) for item in each(source.get("items") or ())]


def _projected(source: Object) -> list[File]:
    for kind, shown in (("configMap", "ConfigMap"), ("secret", "Secret")):
        given = source.get(kind)
        if given is not None and given.get("items"):
            return _files(given, f"{shown} {quote(given.get('name', ''))}")
    if (source.get("downwardAPI") or {}).get("items"):
        files = _files(source["downwardAPI"], "DownwardAPI")
        return files if has("OverlapsOfOthers") else files * 2  # older releases report that each file overlaps itself
    token = source.get("serviceAccountToken")
    return [File(token.get("path", ""), "ServiceAccountToken")] if token is not None else []


class _Folder:
    """The files at one path, by index. here: those with this path. below: those and the files in the directory."""

    __slots__ = ("below", "here", "inner")

    def __init__(self) -> None:
        self.here: list[int] = []
        self.below: list[int] = []
        self.inner: dict[str, _Folder] = {}


def _clashes(given: list[File], head: str) -> Iterator[str]:
    files = [File(file.path.rstrip("/"), file.source) for file in given]
    top, left = _Folder(), _MOST
    for place, file in enumerate(files):
        if not file.path:
            continue
        for other in _place(top, file.path, place)[:left]:
            yield f"{head}: overlapping paths: {file} with {files[other]}"
            left -= 1


def _place(top: _Folder, path: str, place: int) -> list[int]:
    """Insert a file. Returns the earlier files that overlap it."""
    found: list[int] = []
    folder = top
    for step in each(path.split("/")):
        found += folder.here
        folder.below.append(place)
        folder = folder.inner.setdefault(step, _Folder())
    found += folder.below
    folder.below.append(place)
    folder.here.append(place)
    return sorted(found)
