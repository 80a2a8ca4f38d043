"""The house: imports point down the list of layers only (docs/architecture.md)."""

from __future__ import annotations

import ast
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "podless"
# from the door to the foundation; a layer may import what stands below it
LAYERS = [
    "__main__",
    "__init__",
    "cli",
    "server",
    "app",
    "http",
    "console",
    "controllers",
    "verbs",
    "admission",
    "auth",
    "publish",
    "kinds",
    "cache",
    "fields",
    "schema",
    "cel",
    "store",
    "remote",
    "meta",
]


def layer(file: pathlib.Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(file: pathlib.Path) -> set[str]:
    """The layers that a file imports, TYPE_CHECKING blocks and function bodies included."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            if (node.module or "") == "podless":
                found |= {alias.name for alias in node.names}
            elif (node.module or "").startswith("podless."):
                found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("podless.")}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_down(file: pathlib.Path) -> None:
    own = layer(file)
    for other in imports(file):
        if other in ("__version__",):
            continue
        assert other in LAYERS, f"{file} imports podless.{other}, which is no layer"
        assert LAYERS.index(other) >= LAYERS.index(own), f"{file} ({own}) may not import podless.{other}"


def test_every_room_is_on_the_plan() -> None:
    rooms = {layer(file) for file in FILES}
    assert rooms <= set(LAYERS), f"not a layer: {rooms - set(LAYERS)}"
