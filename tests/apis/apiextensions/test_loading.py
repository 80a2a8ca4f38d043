"""The rules of definitions are loaded in advance by a definition that needs most of them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import json, re
from podless.apis.apiextensions import customresourcedefinitions as crds
from podless.apis.offline import define_kind

crds.STRATEGY.load_rules()
compile_pattern, compiled = re._compiler.compile, []
re._compiler.compile = lambda text, flags=0: compiled.append(text) or compile_pattern(text, flags)
made = define_kind(json.loads(json.dumps(crds._SMALL).replace("^a", "^b|c{1,3}")))
print(made.errors, compiled)
"""


def test_a_definition_compiles_no_patterns_of_podless_after_the_rules_were_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[] []\n"
