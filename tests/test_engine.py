"""CEL, schemas and JSONPath on their own: without the server, and without what only the server needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "cel-in-python.md"
NEEDED = {"orjson", "re2"}  # packages
GUARD = """
import sys

class Guard:
    def find_spec(self, name, path=None, target=None):
        layer = name.split(".")[1] if name.startswith("podless.") else ""
        if layer in {layers!r} or name.split(".")[0] in {packages!r}:
            raise ImportError(f"the engine imports {{name}}")

sys.meta_path.insert(0, Guard())
"""
# what stands above the engine, or beside it
LAYERS = (
    "admission", "apis", "app", "auth", "cache", "cli", "client", "cluster", "controllers", "hooks", "http", "kinds",
    "models", "offload", "remote", "server", "store", "testing", "verbs", "virtual",
)  # fmt: skip
PACKAGES = (
    "aiohttp",
    "cryptography",
    "google",
    "greenlet",
    "httptools",
    "jwt",
    "pydantic",
    "sqlite3",
    "uvloop",
    "yaml",
)
# imports re2, which is imported with the first pattern
PATTERN = """assert compile("'abc'.matches('b+')", {}).evaluate({}) is True"""
TOLD = """
files = {name.split(".")[0]: str(getattr(module, "__file__", "")) for name, module in sys.modules.items()}
found = {name for name, file in files.items() if "site-packages" in file}
print(*sorted(found - {"_distutils_hack"}))
"""


def test_the_page_s_examples_run_without_a_server_and_its_packages() -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 4
    text = "\n".join([GUARD.format(layers=LAYERS, packages=PACKAGES), *examples, PATTERN, TOLD])
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert {*ran.stdout.split()} - {"_re2"} == NEEDED
