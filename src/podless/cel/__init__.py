"""The Common Expression Language: parser, checker, cost and compiler, with the libraries that Kubernetes offers.

Useful on its own:

    program = compile("a + size(b) < 10", {"a": types.INT, "b": types.STRING})
    program.evaluate({"a": 1, "b": "text"})

Values are plain Python: int, float, str, bytes, bool, None, list and dict; Uint, Timestamp, Duration and Optional are
in podless.cel.values. The rules of CustomResourceDefinitions are in podless.cel.rules.
"""

from __future__ import annotations

from podless.cel.errors import CelError, CompileError, CostExceeded, EvaluationError, Issue, ProgramError
from podless.cel.program import LIMIT, Program, compile

__all__ = [
    "LIMIT",
    "CelError",
    "CompileError",
    "CostExceeded",
    "EvaluationError",
    "Issue",
    "Program",
    "ProgramError",
    "compile",
]
