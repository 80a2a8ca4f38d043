"""The reference is complete: what is public is documented, and what is generated is up to date."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import podless
from podless import cli
from podless.app import Settings
from podless.controllers import standins
from podless.runtime.option import Option, Section, declared_options
from tests.pages import reference

MODULES = (
    "podless",
    "podless.testing",
    "podless.check",
    "podless.schema",
    "podless.cel",
    "podless.client",
    "podless.hooks",
    "podless.models",
    "podless.plan",
    "podless.explore",
)
PYTHON = (reference.DOCS / "reference" / "python.md").read_text()
# documented as sections of the arguments of Server, or plain values
ELSEWHERE = {"Audit", "Etcd", "Limits", "OIDC", "__version__", "crd", "explore", "plan"}


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_generated_page_is_what_the_code_gives(name: str) -> None:
    written = (reference.DOCS / "reference" / name).read_text()
    assert written == reference.PAGES[name](), "write it again with python -m tests.pages write"


def test_every_section_of_options_is_a_public_name() -> None:
    """The page of the options names them as podless.NAME, which podless/__init__.py lists three times."""
    classes = {told.of for _, _, told in declared_options(Settings) if isinstance(told, Section)}
    assert [cls for cls in classes if getattr(podless, cls.__name__, None) is not cls] == []


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_documented(module: str) -> None:
    public = importlib.import_module(module)
    missing = []
    for name in public.__all__:
        value = getattr(public, name)
        if name in ELSEWHERE:
            continue
        if not re.search(rf"^(?:::: \S+\.| +- ){name}$|^ +members: \[.*\b{name}\b", PYTHON, re.MULTILINE):
            missing.append(f"{module}.{name} is not on the page")
        if (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
            missing.append(f"{module}.{name} has no docstring")
    assert not missing, "\n".join(missing)


def test_every_public_method_of_a_server_and_its_client_has_a_docstring() -> None:
    from podless import Server
    from podless.testing import AdminClient

    for cls in (Server, AdminClient):
        for name, member in inspect.getmembers(cls):
            if not name.startswith("_"):
                assert inspect.getdoc(member), f"{cls.__name__}.{name}"


def test_every_option_has_a_meaning() -> None:
    def described(of: type) -> None:
        for name, _, told in declared_options(of):
            if isinstance(told, Section):
                described(told.of)
            else:
                assert isinstance(told, Option)
                assert told.help, name

    described(Settings)
    for command, parser in reference.parsers().items():
        assert parser.description, command
        for action in parser._actions:
            assert action.help, f"{command} {action.dest}"


def test_every_fixture_setting_and_field_has_a_meaning() -> None:
    assert all(about for _, _, about in reference.fixtures())
    for name in ("pytest.md", "faults.md", "metrics.md", "configuration.md", "commands.md", "server-options.md"):
        for row in re.findall(r"^\| `.*$", (reference.DOCS / "reference" / name).read_text(), re.MULTILINE):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
            assert any(cell and not cell.startswith("`") for cell in cells[1:]), f"{name}: {row}"


def test_every_command_has_its_exit_status() -> None:
    missing = reference.EXIT_CODES.keys() ^ reference.parsers().keys()
    assert not missing, f"EXIT_CODES of tests/pages/reference.py needs a row for each command: {sorted(missing)}"


def test_a_failure_ends_a_command_with_a_code_that_its_row_has() -> None:
    for command, meanings in reference.EXIT_CODES.items():
        assert meanings[cli._FAILURES.get(command, 1)] != "-", f"{command}: see _FAILURES of podless/cli/__init__.py"


def test_every_standin_is_on_its_page() -> None:
    page = (reference.DOCS / "reference" / "controllers.md").read_text()
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(standins.NAMES)


@pytest.mark.parametrize("folder", ["tutorials", "how-to", "reference", "explanation"])
def test_the_index_of_a_section_links_to_all_its_pages(folder: str) -> None:
    """The navigation of the site is made from these links."""
    home = reference.DOCS / folder
    linked = set(re.findall(r"\]\(([\w./-]+\.md)(?:#[\w-]*)?\)", (home / "index.md").read_text()))
    pages = {path.relative_to(home).as_posix() for path in home.glob("*.md")} - {"index.md"}
    assert pages <= linked, "not in the index"
