"""A database that an earlier state of podless wrote opens, and serves what was stored.

`stored/format-N.db.xz` has the definition and the object of docs/examples, a ConfigMap and a Deployment. When the
format changes, keep a database of the one before: have a server of it make the same, and compress the file.
"""

from __future__ import annotations

import lzma
import sqlite3
from pathlib import Path

import pytest

from podless import Server
from podless.store import StoreDamaged
from podless.store.sqlite import SQLiteStore
from podless.store.sqlite.format import FORMAT

STORED = sorted((Path(__file__).parent / "stored").glob("*.db.xz"))


def test_there_is_one_of_the_format_before() -> None:
    assert f"format-{FORMAT - 1}.db.xz" in {one.name for one in STORED}


@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.name.removesuffix(".db.xz"))
def test_a_stored_database_opens(stored: Path, tmp_path: Path) -> None:
    database = tmp_path / "podless.db"
    database.write_bytes(lzma.decompress(stored.read_bytes()))
    with Server(data=tmp_path, tls=False) as server:
        crontab = server.get("crontab", "my-new-cron-object")
        assert crontab is not None
        assert crontab["spec"] == {"cronSpec": "* * * * */5", "image": "my-awesome-cron-image", "replicas": 1}
        kept = server.get("configmap", "kept")
        assert kept is not None
        assert kept["data"] == {"a": "1"}
        before = int(kept["metadata"]["resourceVersion"])
        web = server.get("deployment", "web")
        assert web is not None
        assert web["spec"]["replicas"] == 1
        written = server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}})[0]
        assert int(written["metadata"]["resourceVersion"]) > before
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE log SET value = CAST(replace(CAST(value AS TEXT), 'my-awesome', 'my-Awesome') AS BLOB)",
        "UPDATE log SET revision = 'x' WHERE sequence = 3",
        "UPDATE state SET compacted = compacted + 1",
    ],
)
async def test_a_changed_row_of_an_older_database_is_told_and_nothing_is_replaced(change: str, tmp_path: Path) -> None:
    database = tmp_path / "podless.db"
    database.write_bytes(lzma.decompress((Path(__file__).parent / "stored" / "format-3.db.xz").read_bytes()))
    with sqlite3.connect(database) as connection:
        connection.execute(change)
    connection.close()
    store = SQLiteStore(database)
    with pytest.raises(StoreDamaged):
        await store.open()
    await store.close()
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    connection.close()
