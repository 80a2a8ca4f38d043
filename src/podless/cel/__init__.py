"""The Common Expression Language: parser, checker, cost and compiler, with the libraries of Kubernetes.

The package can be used on its own:

    program = compile("a + size(b) < 10", {"a": types.INT, "b": types.STRING})
    program.evaluate({"a": 1, "b": "text"})

Values are plain Python: int, float, str, bytes, bool, None, list and dict; Uint, Timestamp, Duration and Optional are
in podless.cel.values. The rules of CustomResourceDefinitions are in podless.cel.rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.runtime import lazy

if TYPE_CHECKING:
    from podless.cel.errors import CelError, CompileError, CostExceeded, EvaluationError, Issue, ProgramError
    from podless.cel.program import LIMIT, Program, compile
else:  # several threads can import these modules one by one, so the package must not be part of an import cycle
    __getattr__ = lazy.lazy_names(
        __name__,
        {
            "LIMIT": "program",
            "CelError": "errors",
            "CompileError": "errors",
            "CostExceeded": "errors",
            "EvaluationError": "errors",
            "Issue": "errors",
            "Program": "program",
            "ProgramError": "errors",
            "compile": "program",
        },
    )

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
