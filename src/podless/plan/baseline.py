"""The state that a plan starts from, of a new cluster, of files or of an API, and how it is loaded into a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from podless.check.sources import CannotCheck, find_sources
from podless.codec import serializer
from podless.meta import gvk
from podless.plan.manifests import Identity, Item, read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.result import UnreadPart
from podless.plan.secrecy import hide_message
from podless.plan.simulation import LoadedRecord, Simulation, encode_loaded
from podless.remote.resources import APIResource
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.store import backup
from podless.store.keys import OWN

Say = Callable[[str], None]
_DEFINITION = "CustomResourceDefinition"
_BACKUP = b'{"backup":"podless"'


@dataclass(slots=True)
class Baseline:
    """The state of an API, as far as a set can change it or depends on it."""

    source: str = "nothing"  # name of the source, for people
    release: str = ""  # release of Kubernetes, "" if unknown
    objects: list[Object] = field(default_factory=list)  # as the API has them, with uids
    absent: list[Identity] = field(default_factory=list)  # objects that the API certainly lacks
    records: list[LoadedRecord] = field(default_factory=list)  # records of a backup
    manifests: list[Item] = field(default_factory=list)  # to be applied first
    unknown: dict[Identity, str] = field(default_factory=dict)  # objects that could not be read, and why
    missing: list[UnreadPart] = field(default_factory=list)  # everything that could not be read
    requests: dict[str, int] = field(default_factory=dict)  # number of requests, by what they read
    api: Object = field(default_factory=dict)  # url and uid of a running API, {} for other sources
    namespace: str = "default"  # the default for objects without one
    complete: list[APIResource] = field(default_factory=list)  # the resources of which `objects` has all objects
    notes: list[str] = field(default_factory=list)  # more about the reads, for the report


class PlanSource(Protocol):
    """The starting point of a plan."""

    async def fetch(self, items: Sequence[Item], options: PlanOptions, say: Say) -> Baseline:
        """Return the state that a set can touch. say: called with each progress text. Raises CannotPlan."""


class EmptySource(PlanSource):
    """A new cluster."""

    async def fetch(self, items: Sequence[Item], options: PlanOptions, say: Say) -> Baseline:
        return Baseline("a new cluster")


class Dump(PlanSource):
    """A backup, an export, or manifests that count as applied. path: file or folder. display_name: for messages."""

    def __init__(self, path: str, display_name: str = "") -> None:
        self._path = path
        self._display_name = display_name

    async def fetch(self, items: Sequence[Item], options: PlanOptions, say: Say) -> Baseline:
        path, baseline = self._path, Baseline(self._display_name or self._path)
        try:
            if _is_backup(Path(path)):
                baseline.records = _read_backup(Path(path))
                return baseline
            items, faults = read_set(find_sources([path]))
        except CannotCheck as error:
            raise CannotPlan(str(error)) from None
        except backup.BadBackup as error:
            raise CannotPlan(f"{path}: {error}") from None
        except OSError as error:
            raise CannotPlan(f"{path}: {error.strerror}") from None
        if faults:
            fault = faults[0]
            line, column = fault.place.find_fault(fault.message)
            raise CannotPlan(f"{fault.place.file}:{line}:{column}: {fault.safe_message}")
        for item in items:
            if item.metadata.get("uid"):
                baseline.objects.append(item.obj)
            else:
                baseline.manifests.append(item)
        return baseline


def _is_backup(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_BACKUP)) == _BACKUP


def _read_backup(path: Path) -> list[LoadedRecord]:
    """Return the records of a complete backup. Raises BadBackup."""
    with path.open("rb") as file:
        backup.check_backup(file)
    with path.open("rb") as file:
        return [
            LoadedRecord(record.key, record.stored)
            for record in backup.read_records(file)
            if not record.key.startswith(OWN)
        ]


async def load_baseline(simulation: Simulation, baseline: Baseline) -> list[UnreadPart]:
    """Load a state into a server. Returns the objects that could not be loaded, with the errors."""
    await simulation.load(baseline.records)
    definitions = [obj for obj in baseline.objects if obj.get("kind") == _DEFINITION]
    faults = await _load_objects(simulation, definitions)
    other_objects = [obj for obj in baseline.objects if obj.get("kind") != _DEFINITION]
    faults += await _load_objects(simulation, [*other_objects, *_make_owners(baseline.objects)])
    removals = [LoadedRecord(key, None) for key in await _list_others(simulation, baseline)]
    for identity in baseline.absent:
        kind = simulation.find_kind(identity.api_version, identity.kind)
        if kind is not None:
            removals.append(LoadedRecord(kind.key(identity.namespace, identity.name), None))
    await simulation.load(removals)
    await simulation.settle()
    return faults


async def _list_others(simulation: Simulation, baseline: Baseline) -> list[str]:
    """Return the keys of objects that a new cluster has and the API lacks, in resources that were read completely."""
    wanted_keys: set[str] = set()
    resources = set()
    for resource in baseline.complete:
        kind = simulation.find_kind(resource.api_version, resource.kind)
        if kind is not None:
            resources.add(kind.key("", "").rpartition("/")[0])
            objects = [obj for obj in baseline.objects if obj["kind"] == resource.kind]
            wanted_keys |= {kind.key("", obj["metadata"]["name"]) for obj in objects}
    if not resources:
        return []
    keys = [record.key for record in await simulation.read_records()]
    return [key for key in keys if key not in wanted_keys and key.rpartition("/")[0] in resources]


async def _load_objects(simulation: Simulation, objects: Sequence[Object]) -> list[UnreadPart]:
    """Store objects as they are. Of several with one key, the first counts."""
    faults: list[UnreadPart] = []
    records: dict[str, LoadedRecord] = {}
    for obj in objects:
        label = str(Identity.of(obj))
        kind = simulation.find_kind(str(obj.get("apiVersion")), str(obj.get("kind")))
        if kind is None:
            if not obj.get("spec") and "status" not in obj and obj["metadata"].keys() <= {"name", "namespace", "uid"}:
                continue  # its owner has a kind that the plan does not read
            faults.append(UnreadPart(label, f"podless does not serve {obj.get('kind')} of {obj.get('apiVersion')}"))
            continue
        try:
            record = encode_loaded(kind, serializer.copy_value(obj))
        except ValueError as error:
            message = hide_message(Identity.of(obj), f"it cannot be read: {error}", obj)
            faults.append(UnreadPart(label, message))
            continue
        records.setdefault(record.key, record)
    await simulation.load([*records.values()])
    return faults


def _make_owners(objects: Sequence[Object]) -> list[Object]:
    """Return placeholders for owners that were not read, so that their dependents are not garbage collected."""
    known_uids = {obj["metadata"].get("uid") for obj in objects}
    owners: dict[str, Object] = {}
    for obj in objects:
        for owner in obj["metadata"].get("ownerReferences") or ():
            uid = owner.get("uid")
            if uid in known_uids or uid in owners or gvk.parse_api_version(owner.get("apiVersion", "")) is None:
                continue
            metadata = {"name": owner["name"], "uid": uid}
            if namespace := obj["metadata"].get("namespace"):
                metadata["namespace"] = namespace
            owners[uid] = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "metadata": metadata}
    return [*owners.values()]
