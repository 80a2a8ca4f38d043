"""Finds manifests: files, folders, patterns, standard input, Git revisions, and definitions and objects of an API."""

from __future__ import annotations

import asyncio
import glob
import io
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import takewhile
from pathlib import Path

from podless.codec import serializer
from podless.codec.documents import SUFFIXES
from podless.runtime.dataclass import dataclass
from podless.runtime.files import BadInput, describe_fault, read_path, read_standard_input
from podless.runtime.jsonobject import Object

STDIN = "-"
_GIT = "git:"


CannotCheck = BadInput
"""The check could not be done. The text is one line."""
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file. name: as findings show it. size: in bytes. read: returns the bytes; raises CannotCheck."""

    name: str
    size: int
    read: Callable[[], bytes]

    @classmethod
    def of(cls, name: str, raw: bytes) -> SourceFile:
        """Return a source with these bytes."""
        return cls(name, len(raw), lambda: raw)


def find_sources(paths: Sequence[str] | str, exclude: Sequence[str] = (), *, needed: bool = True) -> list[SourceFile]:
    """Return the files of paths, or of one path, each once, in order. exclude: patterns of names to skip in folders.

    Raises CannotCheck for a path that does not exist, cannot be read or, if needed, has no manifests.
    """
    sources: dict[str, SourceFile] = {}
    for path in [paths] if isinstance(paths, str) else paths:
        try:
            if path == STDIN:
                raw = read_standard_input()
                if needed and not raw.strip():  # the command before the pipe may have failed
                    raise CannotCheck("standard input is empty")
                sources[path] = SourceFile.of("<stdin>", raw)
                continue
            files = {
                str(file): SourceFile(str(file), file.stat().st_size, partial(read_path, file))
                for file in _find_files(path, exclude)
            }
        except OSError as error:
            raise CannotCheck(describe_fault(error, path)) from None
        if not files and needed:
            raise CannotCheck(_explain_no_manifests(path, exclude))
        for name, file in files.items():
            sources.setdefault(name, file)
    return list(sources.values())


def _explain_no_manifests(path: str, exclude: Sequence[str]) -> str:
    ends = f"no file ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
    if Path(path).is_dir():
        return f"{path}: no manifests found: {ends}{', except excluded ones' if exclude else ''}"
    return f"{path}: no manifests found: the pattern matches only folders"


def _find_files(path: str, exclude: Sequence[str]) -> Iterator[Path]:
    start = Path(path)
    if start.is_dir():
        yield from _walk_folder(start, exclude, set())
    elif start.exists():
        yield start
    else:
        names = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
        if not names:
            raise CannotCheck(f'the path "{path}" does not exist')
        for name in names:
            if not (folder_path := Path(name)).is_dir():
                yield folder_path


def _walk_folder(folder: Path, exclude: Sequence[str], seen: set[Path]) -> Iterator[Path]:
    """Yield the manifests in a folder and below it, without hidden ones.

    seen: gets the real paths of the folders, each of which is read once: links can lead in circles.
    """
    real = folder.resolve()
    if real in seen:
        return
    seen.add(real)
    for entry in sorted(folder.iterdir()):
        if _is_left_out(entry, exclude):
            continue
        if entry.is_dir():
            yield from _walk_folder(entry, exclude, seen)
        elif entry.suffix in SUFFIXES:
            yield entry


def _is_left_out(entry: Path, exclude: Sequence[str]) -> bool:
    return entry.name.startswith(".") or any(
        fnmatch(entry.name, pattern) or fnmatch(str(entry), pattern) for pattern in exclude
    )


def former_files(text: str, paths: Sequence[str], exclude: Sequence[str] = ()) -> list[SourceFile]:
    """Return earlier versions of files: those of a path, or for `git:REVISION` those of `paths` in the revision.

    Raises CannotCheck.
    """
    if not text.startswith(_GIT):
        return find_sources([text], exclude, needed=False)
    revision = text.removeprefix(_GIT)
    if not revision or revision.startswith("-"):
        raise CannotCheck(f"{text}: not a Git revision")
    results: list[SourceFile] = []
    for path in paths:
        if path == STDIN:
            raise CannotCheck("standard input has no Git revision: name a file")
        results += _find_archived(revision, path, exclude)
    return results


def _find_archived(revision: str, path: str, exclude: Sequence[str]) -> Iterator[SourceFile]:
    """Yield the manifests of a path in a revision; none if the path did not exist."""
    pattern_path = Path(path)
    fixed = Path(*takewhile(lambda name: not glob.has_magic(name), pattern_path.parts))
    folder = next(parent for parent in (fixed, *fixed.parents) if parent.is_dir())
    pattern = fixed.relative_to(folder).as_posix()
    command = ["git", "-C", str(folder), "archive", "--format=tar", revision]
    if pattern != ".":
        command += ["--", pattern]
    process = subprocess.run(command, capture_output=True, check=False)
    if process.returncode:
        error_lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        if error_lines and "did not match any files" in error_lines[-1]:
            return
        raise CannotCheck(f"git: {error_lines[-1] if error_lines else f'ended with {process.returncode}'}")
    with tarfile.open(fileobj=io.BytesIO(process.stdout)) as archive:
        for member in archive:
            name = folder / member.name
            if glob.has_magic(path):
                is_wanted = fnmatch(str(name), path)
            else:
                inner_entries = [entry for entry in (name, *name.parents) if fixed in entry.parents]
                is_wanted = not any(_is_left_out(entry, exclude) for entry in inner_entries)
            if member.isfile() and name.suffix in SUFFIXES and is_wanted:
                content = archive.extractfile(member)
                yield SourceFile.of(f"{revision}:{name}", content.read() if content is not None else b"")


def fetch_definitions(config: Path | None, context: str) -> list[Object]:
    """Return all CustomResourceDefinitions of a server. context: of the kubeconfig, "" for the current one.

    Raises CannotCheck.
    """
    listed = _send_requests(config, context, [_DEFINITIONS])[0]
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return [head | item for item in listed["items"]]


def fetch_objects(config: Path | None, context: str, definitions: Sequence[Object]) -> list[SourceFile]:
    """Return the custom resources of some definitions on a server, each kind as a file. Raises CannotCheck."""
    paths = []
    for definition in definitions:
        spec = definition["spec"]
        version = next(version_entry["name"] for version_entry in spec["versions"] if version_entry.get("served"))
        paths.append(f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
    return [
        SourceFile.of(path, serializer.encode_json(listed))
        for path, listed in zip(paths, _send_requests(config, context, paths), strict=True)
    ]


def _send_requests(config: Path | None, context: str, paths: Sequence[str]) -> list[Object]:
    """Return the server's responses to GET requests. Raises CannotCheck."""
    from podless.remote import RemoteError
    from podless.remote import kubeconfig as configs
    from podless.remote.cluster import RemoteCluster

    async def fetch_all() -> list[Object]:
        async with RemoteCluster(access, "podless-check") as cluster:
            return [await cluster.send("GET", path) for path in paths]

    try:
        access = configs.read_kubeconfig(config or configs.find_kubeconfig(), context)
        return asyncio.run(fetch_all())
    except (configs.BadKubeconfig, RemoteError) as error:
        raise CannotCheck(str(error)) from None
