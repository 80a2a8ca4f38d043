"""Files that all servers of a store have."""

from __future__ import annotations

from pathlib import Path

from podless.store import share
from tests.store.late import LateStore


async def test_all_servers_have_the_files_of_the_first(tmp_path: Path) -> None:
    store = LateStore()
    await store.open()
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        paths = [folder / "ca.crt", folder / "ca.key"]

        def make(paths: list[Path] = paths, number: int = number) -> None:
            for path in paths:
                path.write_text(f"{path.name} of {number}")

        await share.share_files(store, paths, make)
        assert [path.read_text() for path in paths] == ["ca.crt of 0", "ca.key of 0"]
    await store.close()


async def test_a_server_that_has_others_takes_the_common_ones(tmp_path: Path) -> None:
    store = LateStore()
    await store.open()
    path = tmp_path / "ca.key"
    path.write_text("first")
    await share.share_files(store, [path], lambda: None)
    path.write_text("another")
    await share.share_files(store, [path], lambda: None)
    assert path.read_text() == "first"
    await store.close()
