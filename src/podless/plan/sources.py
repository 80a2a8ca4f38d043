"""Starting points without a running API: a new cluster, and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from podless.check.sources import CannotCheck, find_sources
from podless.plan.baseline import Baseline
from podless.plan.manifests import Item, read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.run import Say
from podless.plan.simulation import LoadedRecord
from podless.store import backup
from podless.store.keys import OWN

_BACKUP = b'{"backup":"podless"'


class EmptySource:
    """A new cluster."""

    async def fetch(self, items: Sequence[Item], options: PlanOptions, say: Say) -> Baseline:
        """Return the state of a new cluster."""
        return Baseline("a new cluster")


class Dump:
    """A backup, an export, or manifests that count as applied. path: file or folder. display_name: for messages."""

    def __init__(self, path: str, display_name: str = "") -> None:
        self._path = path
        self._display_name = display_name

    async def fetch(self, items: Sequence[Item], options: PlanOptions, say: Say) -> Baseline:
        """Return the state in the files. Raises CannotPlan."""
        baseline = _read_dump(self._path)
        baseline.source = self._display_name or baseline.source
        return baseline


def _read_dump(path: str) -> Baseline:
    """Return the state in a file or folder. Raises CannotPlan."""
    baseline = Baseline(path)
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
