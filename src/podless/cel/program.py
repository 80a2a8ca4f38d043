"""Compiled CEL expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podless.cel import checker, generate, library, macros, parser, syntax, validate
from podless.cel.bounds import run_with_room
from podless.cel.cost import Range
from podless.cel.errors import CompileError, CostExceeded, EvaluationError, Issue, NoOverload
from podless.cel.estimate import estimate_cost
from podless.cel.functions import Declarations
from podless.cel.macros import MacroTable
from podless.cel.schematypes import Decl, SchemaTypes
from podless.cel.syntax import Expr
from podless.cel.types import FieldTypes, Type
from podless.meta.errors import Timeout
from podless.runtime.memo import fill_attribute

# maximum cost of one evaluation, as in kube-apiserver
LIMIT = 1_000_000
_Run = Callable[..., tuple[Any, int]]


class Program:
    """A compiled expression.

    source: its text. type: the type of its value. Immutable, except for code that is generated at first use.
    """

    __slots__ = ("_declarations", "_exact", "_fast", "_tree", "_variables", "source", "type")

    def __init__(
        self, source: str, tree: Expr, declarations: Declarations, variables: Mapping[str, Decl | None]
    ) -> None:
        self.source = source
        self.type: Type = tree.type
        self._tree = tree
        self._declarations = declarations
        self._variables = variables
        self._fast: _Run | None = None
        self._exact: _Run | None = None

    def evaluate(self, bindings: Mapping[str, Any] | None = None, *, limit: int = LIMIT) -> Any:
        """Return the value for some variables.

        limit: the maximum cost. Raises EvaluationError, for example CostExceeded.
        """
        values = bindings or {}
        return self.run(*(values.get(name) for name in self._variables), limit=limit)[0]

    def run(self, *values: Any, limit: int = LIMIT) -> tuple[Any, int]:
        """Return value and cost for variables in order. An error has the cost in its attribute cost.

        The fast form runs first. If it fails, the exact form decides the result (generate.py explains both).
        """
        fast = self._fast
        if fast is None:
            fast = fill_attribute(self, "_fast", lambda: self._generate_function(False))
        try:
            result = fast(*values, limit)
        except CostExceeded:
            raise CostExceeded(limit + 1) from None
        except Timeout:
            raise
        except Exception:
            return self.run_exact(*values, limit=limit)
        if result[1] > limit:
            raise CostExceeded(result[1])
        return result

    def run_exact(self, *values: Any, limit: int = LIMIT) -> tuple[Any, int]:
        """Return value and cost as `run` does, by the exact form only: for values that may not fit their types."""
        exact = self._exact
        if exact is None:
            exact = fill_attribute(self, "_exact", lambda: self._generate_function(True))
        try:
            result = exact(*values, limit)
        except (EvaluationError, Timeout):
            raise
        except RecursionError:
            raise EvaluationError("the value nests too deep") from None
        except MemoryError:
            raise CostExceeded(limit + 1) from None
        except Exception:
            raise NoOverload from None
        if result[1] > limit:
            raise CostExceeded(result[1])
        return result

    def _generate_function(self, exact: bool) -> _Run:
        return run_with_room(lambda: generate.generate_program(self._tree, self._declarations, self._variables, exact))

    def complete(self) -> None:
        """Generate all code that an evaluation can need."""
        if self._fast is None:
            fill_attribute(self, "_fast", lambda: self._generate_function(False))
        if self._exact is None:
            fill_attribute(self, "_exact", lambda: self._generate_function(True))
        for decl in self._variables.values():
            if decl is not None:
                decl.declare_all()

    def prepare(self) -> None:
        """Generate the code of the fast form now. Raises CompileError if the expression is too large."""
        try:
            self._fast = self._generate_function(False)
        except (SyntaxError, MemoryError, RecursionError):
            raise CompileError(self.source, [Issue(-1, parser.NESTED)]) from None

    def estimate(self) -> Range:
        """Return the minimum and maximum cost of an evaluation."""
        roots = [decl for decl in self._variables.values() if decl is not None]
        return run_with_room(lambda: estimate_cost(self._tree, self._declarations, roots[0] if roots else None))

    def uses(self, name: str) -> bool:
        """Return whether the expression uses a variable."""
        return syntax.uses_variable(self._tree, name)

    def check_constants(self) -> None:
        """Raise ProgramError for a constant that no evaluation can use."""
        validate.check_constants(self._tree, self._declarations)


def compile(
    source: str,
    variables: Mapping[str, Type | Decl] | None = None,
    *,
    declarations: Declarations | None = None,
    schemas: SchemaTypes | None = None,
    container: str = "",
    typed: bool = True,
) -> Program:
    """Compile an expression.

    variables: their types, or declarations made from schemas. declarations: the functions (default: all of this
    package). schemas: source of the declarations. container: the namespace in which names are looked up first. typed:
    False defers type checks to the evaluation. Raises CompileError with the position of every error, ProgramError for
    invalid constants.
    """
    declarations = declarations or library.all_libraries()
    declared = variables or {}
    types = {name: decl.type if isinstance(decl, Decl) else decl for name, decl in declared.items()}
    tree = analyze_source(source, types, declarations, schemas, macros.EVERY, container=container, typed=typed)
    decls = {name: decl if isinstance(decl, Decl) else None for name, decl in declared.items()}
    program = Program(source, tree, declarations, decls)
    if typed:
        program.check_constants()
    program.prepare()
    return program


def analyze_source(
    source: str,
    types: Mapping[str, Type],
    declarations: Declarations,
    schemas: FieldTypes | None,
    macro_table: MacroTable,
    *,
    container: str = "",
    typed: bool = True,
) -> Expr:
    """Parse and check an expression, and return its tree. Raises CompileError."""

    def analyze_tree() -> Expr:
        tree = parser.parse_expression(source, macro_table)
        checker.check_tree(source, tree, declarations, types, schemas, container=container, typed=typed)
        issues = validate.check_literals(tree, declarations) if typed else []
        if issues:
            raise CompileError(source, issues)
        return tree

    try:
        return run_with_room(analyze_tree)
    except RecursionError:
        raise CompileError(source, [Issue(-1, parser.NESTED)]) from None
