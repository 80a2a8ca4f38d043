"""Modules that are made from definitions: stable, formatted, and with the verdicts of the schema.

A sample of the definitions is used, and all with `python -m tests.models`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from podless.models import CheckedSchema, crd
from podless.models.render import STYLES, make_module_path, write_modules
from podless.runtime.jsonobject import Object
from tests.models.corpus import EVERY, definitions, make_object

CORPUS = definitions()
WHOLE = bool(os.environ.get(EVERY))
pytestmark = [pytest.mark.slow, pytest.mark.hangs_after(7200 if WHOLE else 400)]
PART = 100  # groups whose modules the type checkers get at once; pyright takes 0.8 GB for them
OBJECTS = 100 if WHOLE else 40  # of each definition
# each as different from the others as can be
CHOSEN = ("gateways", "externalsecrets", "widgets", "crontabs", "gadgets")


def load(text: str, name: str) -> types.ModuleType:
    """A module of a text."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def sampled(count: int) -> list[Object]:
    return CORPUS if WHOLE else random.Random(1).sample(CORPUS, count)


def chosen() -> list[Object]:
    """Definitions for the type checkers."""
    if WHOLE:
        return CORPUS
    return [next(corpu for corpu in CORPUS if corpu["spec"]["names"]["plural"] == plural) for plural in CHOSEN]


@pytest.mark.parametrize("style", STYLES)
def test_the_order_of_definitions_changes_nothing(style: str) -> None:
    given = sampled(20)
    assert write_modules(given, style) == write_modules(given[::-1], style)


@pytest.mark.parametrize("style", STYLES)
def test_modules_are_formatted_and_sorted(style: str, tmp_path: Path) -> None:
    for (group, version), text in write_modules(sampled(60), style).items():
        file = tmp_path / "made" / make_module_path(group, version)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for command in (["format", "--check"], ["check", "--select", "E9,F,I"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", "made"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout[-3000:]


def put_chosen(folder: Path) -> None:
    for style in STYLES:
        for (group, version), text in write_modules(chosen(), style).items():
            file = folder / f"as_{style}" / make_module_path(group, version)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            for place in (file.parent, file.parent.parent):
                (place / "__init__.py").touch()


@pytest.mark.hangs_after(7200 if WHOLE else 900)
def test_mypy_and_pyright_have_nothing_to_say(tmp_path: Path) -> None:
    """basedpyright is pyright as a Python package; "standard" is pyright's own default."""
    put_chosen(tmp_path)
    folders = sorted(folder.relative_to(tmp_path).as_posix() for folder in tmp_path.glob("as_*/*/"))
    for start in range(0, len(folders), PART):
        check_types(tmp_path, folders[start : start + PART])


def check_types(place: Path, folders: list[str]) -> None:
    """Run both type checkers on some folders."""
    source = Path(__file__).parents[2] / "src"
    config = {"typeCheckingMode": "standard", "extraPaths": [str(source)], "include": folders}
    (place / "pyrightconfig.json").write_text(json.dumps(config))
    commands = (
        ["-m", "mypy", "--strict", "--explicit-package-bases", "--cache-dir", str(place / "cache"), *folders],
        ["-m", "basedpyright", "--pythonpath", sys.executable],
    )
    running = [
        subprocess.Popen(
            [sys.executable, *command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for command in commands
    ]
    for process in running:
        told, _ = process.communicate()
        assert process.returncode == 0, told[-3000:]


def verdict(work: Any) -> bool:
    """Whether an object is accepted. One that has not even the form of the class is not."""
    try:
        return not work()
    except (TypeError, ValueError) as error:
        REFUSED.append(error)
        return False


REFUSED: list[Exception] = []


@pytest.mark.parametrize("style", STYLES)
def test_objects_are_accepted_and_refused_as_the_schema_does(style: str) -> None:
    chance, counted = random.Random(7), {True: 0, False: 0}
    for definition in sampled(40):
        for (group, name), text in write_modules([definition], style).items():
            version = next(entry for entry in definition["spec"]["versions"] if entry["name"] == name)
            node = (version.get("schema") or {}).get("openAPIV3Schema")
            if node is None:
                continue
            module = load(text, f"made_{style}_{group.replace('.', '_').replace('-', '_')}_{name}")
            exact = CheckedSchema(node)
            kind = definition["spec"]["names"]["kind"]
            for _ in range(OBJECTS):
                obj = make_object(definition, version, chance)
                wanted = verdict(lambda: exact.check(obj))  # noqa: B023 (called here)
                if style == "typeddict":
                    check = next(value for key, value in vars(module).items() if key.startswith("check_"))
                    found = verdict(lambda: check(obj))  # noqa: B023
                else:
                    found = verdict(lambda: getattr(module, kind).from_dict(obj).check())  # noqa: B023
                assert found == wanted, (definition["metadata"]["name"], name, obj, exact.check(obj), REFUSED[-1:])
                counted[wanted] += 1
    assert min(counted.values()) > 100


def plain(node: Any, *, names: bool = False, root: bool = True) -> Any:
    """A schema without what classes do not say: descriptions, the form of apiVersion and kind, orders."""
    if isinstance(node, list):
        return [plain(item, root=False) for item in node]
    if not isinstance(node, dict):
        return node
    made = {
        key: plain(value, names=not names and key == "properties", root=False)
        for key, value in node.items()
        if names or key != "description"
    }
    if not names and isinstance(made.get("required"), list):
        made["required"] = sorted(made["required"])
    if root:
        made["properties"] = {"metadata": {"type": "object"}, **made.get("properties", {})}
        for name in ("apiVersion", "kind"):
            made["properties"].pop(name, None)
        made["required"] = [name for name in made.get("required", ()) if name not in ("apiVersion", "kind", "metadata")]
    return {key: value for key, value in made.items() if value not in ([], {}) or names or key == "default"}


# the fields of spec.names; the server drops all others
NAMES = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


@pytest.mark.parametrize("style", ["pydantic", "dataclass"])
def test_a_definition_comes_back_from_its_classes(style: str) -> None:
    for definition in sampled(60):
        kind = definition["spec"]["names"]["kind"]
        for (group, name), text in write_modules([definition], style).items():
            version = next(entry for entry in definition["spec"]["versions"] if entry["name"] == name)
            if not version.get("schema"):
                continue
            module = load(text, f"back_{style}_{group.replace('.', '_').replace('-', '_')}_{name}")
            cls = getattr(module, kind)
            if not version.get("storage"):
                cls.__podless_kind__.given["version"]["storage"] = True
            made = crd(cls)
            assert plain(made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]) == plain(
                version["schema"]["openAPIV3Schema"]
            ), definition["metadata"]["name"]
            usual = {"singular": kind.lower(), "listKind": f"{kind}List"}
            assert made["spec"]["names"] == usual | {
                name: value for name, value in definition["spec"]["names"].items() if value and name in NAMES
            }
