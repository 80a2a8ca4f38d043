"""Servers of tests on each engine: the embedded one, one that answers late and that others write to, and etcd."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podless import Server
from podless.apis.layout import key_layout
from podless.store import Store
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore
from podless.store.history import HistoryBounds, Keep
from podless.store.sqlite import SQLiteStore
from tests.store.etcd import kine
from tests.store.etcd.cluster import shared
from tests.store.late import LateStore


def _store(url: str, path: Path | None, bounds: HistoryBounds | None = None) -> EtcdStore:
    """A store at a server of etcd's API; the same for the same path. bounds: of its change log."""
    below = hashlib.sha256(str(path).encode()).hexdigest()[:16] if path is not None else uuid.uuid4().hex
    return EtcdStore(Etcd(servers=(url,), prefix=f"/{below}"), key_layout(f"/{below}"), bounds=bounds)


def _etcd(path: Path | None = None, **_: object) -> EtcdStore:
    """A store of its own in the etcd that all tests share."""
    return _store(shared().url, path, HistoryBounds(Keep()))


def _kine(database: str) -> Callable[..., EtcdStore]:
    """Return what makes stores of their own in a kine over a database."""

    def make(path: Path | None = None, **_: object) -> EtcdStore:
        return _store(kine.shared(database).url, path)

    return make


ENGINES: dict[str, Callable[..., Store]] = {"sqlite": SQLiteStore, "late": LateStore, "etcd": _etcd}
ENGINES |= {f"kine-{database}": _kine(database) for database in kine.DATABASES}
# etcd is another program; what the late one finds is most of what it would find
QUICK = ["sqlite", "late"]
SLOW = [pytest.param("etcd", marks=pytest.mark.slow)]
KINE = [pytest.param(f"kine-{database}", marks=pytest.mark.kine) for database in kine.DATABASES]


# what has little to do with the store, or takes long for other reasons, is tried on one engine
ONCE = {"test_calls", "test_expiry", "test_floats", "test_graph", "test_matching", "test_reading", "test_validating"}
ONCE |= {"test_any_kind", "test_conversion", "test_options", "test_ready", "test_sliced_expressions"}
ONCE |= {"test_leader", "test_controller", "test_servers", "test_storage"}  # these have engines of their own


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test on every engine, but for those that are named."""
    if metafunc.module.__name__.rpartition(".")[2] not in ONCE:
        left_out = metafunc.config.option.markexpr  # thousands of tests that would not run are not even made
        engines = [*QUICK, *(() if "not slow" in left_out else SLOW), *(() if "not kine" in left_out else KINE)]
        metafunc.parametrize("engine", engines, indirect=True, scope="package")


@pytest.fixture(scope="package", autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """All servers that are started meanwhile have this engine."""
    name = getattr(request, "param", "sqlite")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("podless.store.sqlite.store.SQLiteStore", ENGINES[name])
        yield name


@pytest.fixture(scope="package")
def server(engine: str) -> Iterator[Server]:
    """One server in memory for the tests of a folder; each takes an API group of its own."""
    with Server(tls=False) as running:
        yield running
