"""The rules of definitions are loaded in advance by a definition that needs most of them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import re
from podless.apis.apiextensions import customresourcedefinitions as crds
from podless.apis.offline import define_kind

crds.STRATEGY.load_rules()
compile_pattern, compiled = re._compiler.compile, []
re._compiler.compile = lambda text, flags=0: compiled.append(text) or compile_pattern(text, flags)
schema = {"type": "object", "properties": {"spec": {"type": "string", "pattern": "^b|c{1,3}"}}}
crds._SMALL["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
made = define_kind(crds._SMALL)
print(made.errors, compiled)
"""


def test_a_definition_compiles_no_patterns_of_podless_after_the_rules_were_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[] []\n"
