"""The storage engines, by their names for `--store`.

A new engine is a folder with an `EngineModule`, a row in ENGINES, and a field in EngineOptions if it has options.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from podless.runtime.dataclass import dataclass
from podless.runtime.option import Section, StartError, declared_options, section
from podless.store.contract import Store
from podless.store.etcd.settings import Etcd
from podless.store.history import HistoryBounds, Keep

if TYPE_CHECKING:
    from podless.store.etcd.layout import KeyLayout


DATABASE = "podless.db"  # the file of an engine that is not shared, in the data folder


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine. help: what it is, for `--store`.

    module: imported at first use. skipped: revisions that a restore leaves out after that of the backup, as clients may
    have seen later ones before the data was lost. shared: servers can share its data. expires: Events expire in it.
    """

    help: str
    module: str
    skipped: int
    shared: bool = False
    expires: bool = False


ENGINES: Mapping[str, Engine] = {
    "sqlite": Engine("a SQLite database of this server", "podless.store.sqlite.store", 1_000_000),
    "etcd": Engine(
        "an etcd cluster that servers can share",
        "podless.store.etcd.store",
        20_000,  # each skipped one costs a write
        shared=True,
        expires=True,
    ),
}


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """The options of engines: a section for each engine that has some, in a field with the engine's name."""

    etcd: Etcd | None = section(Etcd, "etcd", "for `--store etcd`; the names are kube-apiserver's", any_of=("servers",))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The settings from which an engine makes a store."""

    database: Path | None = None  # the file of a server's own database, None for memory
    options: Any = None  # the engine's section of the settings
    keep: Keep = field(default_factory=Keep)  # the window of history for watches
    bounds: HistoryBounds = field(default_factory=HistoryBounds)  # how much is kept beyond it
    authors: bool = True  # whether to record the authors of writes
    needs_log: bool = False  # opening fails if the store can have no change log
    compacting: bool = True  # whether the store limits its history by itself
    times: Mapping[str, float] = field(default_factory=dict)  # lifetime in seconds of keys under a prefix
    # returns the place of built-in kinds below the prefix of a shared store; None: they are placed like custom kinds
    layout: Callable[[str], KeyLayout] | None = None


class EngineModule(Protocol):
    """The functions of an engine's module. One whose data is shared needs no `reject_foreign`."""

    def make_store(self, settings: StoreSettings) -> Store:
        """Return a store, not opened yet."""

    def reject_foreign(self, path: Path) -> None:
        """Raise StoreDamaged if another engine or program wrote the file."""


def validate_engine(name: str, options: EngineOptions) -> None:
    """Raise StartError for an unknown engine, missing options, and options of another engine."""
    if name not in ENGINES:
        raise StartError(f"unknown store {name!r}: use one of {', '.join(ENGINES)}")
    for engine, declared in option_sections().items():
        chosen = getattr(options, engine)
        if (name == engine) != (chosen is not None and any(getattr(chosen, field) for field in declared.any_of)):
            flags = {
                field: option.flag
                for field, _, option in declared_options(declared.of)
                if not isinstance(option, Section)
            }
            raise StartError(f"--store {engine} and {flags[declared.any_of[0]]} require each other")


def option_sections() -> dict[str, Section]:
    """Return the sections of options by engine."""
    return {name: declared for name, _, declared in declared_options(EngineOptions) if isinstance(declared, Section)}


def import_engine(name: str) -> EngineModule:
    """Import the module of an engine."""
    return cast("EngineModule", importlib.import_module(ENGINES[name].module))
