"""Modules that are imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from podless.runtime import lazy


def test_a_part_is_found_in_its_module() -> None:
    import podless.schema

    assert podless.schema.structural is podless.schema.definition.structural
    with pytest.raises(AttributeError, match=r"module 'podless\.schema' has no attribute 'nothing'"):
        _ = podless.schema.nothing  # type: ignore[attr-defined]


def test_a_part_is_not_called_as_its_module() -> None:
    with pytest.raises(ValueError, match=r"a\.b: c is in a module of the same name"):
        lazy.lazy_names("a.b", {"c": "c"})


def test_what_stands_for_a_module_has_what_is_in_it() -> None:
    from podless.publish import table

    late = lazy.LateModule("podless.publish.table")
    assert late.frame_table is table.frame_table
    assert vars(late)["frame_table"] is table.frame_table
    with pytest.raises(AttributeError, match=r"module 'podless\.publish\.table' has no attribute 'nothing'"):
        _ = late.nothing


def test_a_server_starts_without_what_it_does_not_use_yet() -> None:
    unused = ["publish.table", "http.faults", "apis.podspec.spec", "controllers.standins.requests", "schema.compile"]
    unused += ["schema.definition", "cel.values", "cel.rules.definitions"]
    program = f"""
import sys
from podless.app import App, Settings
import asyncio
async def main():
    app = App(Settings())
    await app.start()
    await app.stop()
asyncio.run(main())
print(*(name for name in {unused} if f"podless.{{name}}" in sys.modules))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == []


def test_what_is_imported_late_may_be_asked_for_in_two_threads() -> None:
    program = """
import sys, threading
sys.setswitchinterval(1e-6)
from podless.cli import serve
threading.excepthook = lambda fault: print(repr(fault.exc_value))
def policies():
    from podless.cel.policies import Environment
threads = [threading.Thread(target=work) for work in (serve._import_early, policies)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == ""


def test_the_former_name_of_a_class_still_works_with_a_warning() -> None:
    import podless.testing
    from podless.explore import ExplorationReport

    with pytest.warns(DeprecationWarning, match=r"podless\.testing\.Client is deprecated: use .*\.AdminClient"):
        assert podless.testing.Client is podless.testing.AdminClient
    with pytest.warns(DeprecationWarning, match=r"use podless\.explore\.ExplorationReport"):
        from podless.explore import Report
    assert Report is ExplorationReport
    with pytest.raises(AttributeError, match=r"module 'podless\.testing' has no attribute 'nothing'"):
        _ = podless.testing.nothing  # type: ignore[attr-defined]
