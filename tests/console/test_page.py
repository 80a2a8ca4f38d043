from __future__ import annotations

import shutil
from pathlib import Path

from podless.console import FOLDER, list_assets, pack_bytes
from tests.console import fresh

FIRST_LOAD = 250_000  # bytes


def test_assets_are_what_the_sources_build() -> None:
    assert fresh.find_stale() == []


def test_a_change_of_sources_or_assets_is_noticed(tmp_path: Path) -> None:
    assets = tmp_path / "assets"
    shutil.copytree(FOLDER, assets)
    (assets / "index.html").write_text("other")
    sources = tmp_path / "console"
    for name in fresh.TAKEN:
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        one = fresh.SOURCES / name
        (shutil.copytree if one.is_dir() else shutil.copy)(one, sources / name)
    (sources / "src" / "main.tsx").write_text("other")
    assert [line.split(" ")[0] for line in fresh.find_stale(assets, sources)] == [
        "console/",
        "src/podless/console/assets/index.html",
    ]


def test_the_first_load_is_small() -> None:
    assets = list_assets()
    page = assets[""].body.decode()
    first = [one for name, one in assets.items() if name in page and name]
    assert len(first) >= 2
    assert sum(len(pack_bytes(one.body)) for one in first) < FIRST_LOAD


def test_the_page_has_no_inline_script_or_style_and_no_foreign_host() -> None:
    page = list_assets()[""].body.decode()
    assert "<style" not in page
    assert "style=" not in page
    assert page.count("<script") == page.count('<script type="module"') == page.count(' src="/console/assets/')
    assert "//" not in page.replace("<!doctype html>", "")


def test_names_of_built_files_change_with_their_content() -> None:
    assets = list_assets()
    assert not assets[""].hashed
    assert all(one.hashed for name, one in assets.items() if name.endswith((".js", ".css")))
