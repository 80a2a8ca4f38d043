"""Files of a volume that are in each other's way: one is where the other has a folder, or both are in one place.

Source: Kubernetes' pkg/api/pod (warnings.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podless.kinds.strategy import Object
from podless.meta.gotext import quote

_MOST = 256  # files of a volume that are compared with each other


class File(NamedTuple):
    """A file, and where it comes from."""

    path: str
    source: str

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def overlaps(spec: Object) -> Iterator[str]:
    """What is said of each volume."""
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
            for one in sources:
                if not any(value is not None for value in one.values()):
                    yield f"volume {name} (Projected) has no sources provided"
            files = [file for one in sources for file in _projected(one)]
            yield from _clashes(files, f"volume {name} (Projected)")


def _files(source: Object, named: str) -> list[File]:
    return [File(item.get("path", ""), named) for item in source.get("items") or ()]


def _projected(source: Object) -> list[File]:
    for kind, shown in (("configMap", "ConfigMap"), ("secret", "Secret")):
        given = source.get(kind)
        if given is not None and given.get("items"):
            return _files(given, f"{shown} {quote(given.get('name', ''))}")
    if (source.get("downwardAPI") or {}).get("items"):
        return _files(source["downwardAPI"], "DownwardAPI")
    token = source.get("serviceAccountToken")
    return [File(token.get("path", ""), "ServiceAccountToken")] if token is not None else []


def _clashes(files: list[File], head: str) -> Iterator[str]:
    before: list[File] = []
    for given in files[:_MOST]:
        file = File(given.path.rstrip("/"), given.source)
        for other in before if file.path else ():
            one, two = f"{file.path}/", f"{other.path}/"
            if other.path and (one.startswith(two) or two.startswith(one)):
                yield f"{head}: overlapping paths: {file} with {other}"
        before.append(file)
