"""One rule: its expression and its messageExpression, compiled."""

from __future__ import annotations

from typing import Any

from podless.cel import library, macros, program, types
from podless.cel.errors import CelError, CompileError, ProgramError
from podless.cel.program import Program
from podless.cel.schematypes import Decl, SchemaTypes
from podless.codec import gotext
from podless.meta.field import TEXTS, FieldError
from podless.runtime.dataclass import dataclass
from podless.runtime.release import ALL_ON, Release, has

RULES = "x-kubernetes-validations"
RuleSpec = dict[str, Any]
_VALUELESS = ("FieldValueRequired", "FieldValueForbidden", "InternalError")
# name in Go, name in JSON, and how Go formats a missing value
_RULE_FIELDS = (
    ("Rule", "rule", ""),
    ("Message", "message", ""),
    ("MessageExpression", "messageExpression", ""),
    ("Reason", "reason", None),
    ("FieldPath", "fieldPath", ""),
    ("OptionalOldSelf", "optionalOldSelf", None),
)
# fields that are pointers in Go, with their types
_RULE_POINTERS = {"Reason": "apiextensions.FieldValueErrorReason", "OptionalOldSelf": "bool"}


class RuleError(FieldError):
    """A field error that formats its value in a special way, or leaves it out."""

    __slots__ = ()

    @property
    def body(self) -> str:
        texts = [TEXTS[self.reason]]
        if self.value is not None and self.reason not in _VALUELESS:
            texts.append(self.value)
        if self.detail:
            texts.append(self.detail)
        return ": ".join(texts)


def format_rule(spec: RuleSpec) -> str:
    """Return a rule as its Go struct formatted as JSON or with Go's syntax."""
    if not has("ValuesAsJSON"):
        return format_go_rule(spec)
    return gotext.format_json(list_go_fields(spec))


def list_go_fields(spec: RuleSpec) -> dict[str, Any]:
    """Return the fields of a rule's Go struct."""
    return {name: absent if spec.get(key) is None else spec[key] for name, key, absent in _RULE_FIELDS}


def format_go_rule(spec: RuleSpec) -> str:
    """Return a rule in Go's syntax (%#v). Addresses of pointers are arbitrary."""
    fields = []
    for name, key, _ in _RULE_FIELDS:
        value, pointer = spec.get(key), _RULE_POINTERS.get(name)
        if pointer is None:
            fields.append(f"{name}:{gotext.quote(value or '')}")
        else:
            fields.append(f"{name}:(*{pointer})({'nil' if value is None else '0xc000000000'})")
    return f"apiextensions.ValidationRule{{{', '.join(fields)}}}"


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """A rule. error, message_error: why it did not compile. uses_old_self: the rule uses oldSelf."""

    spec: RuleSpec
    program: Program | None = None
    error: str = ""
    uses_old_self: bool = False
    message: Program | None = None
    message_error: str = ""

    @property
    def has_optional_old(self) -> bool:
        """Whether oldSelf is an optional."""
        return bool(self.spec.get("optionalOldSelf"))

    @property
    def is_plain(self) -> bool:
        """Whether the rule compiles, and looks only at the new value."""
        return self.program is not None and not self.error and not self.uses_old_self and not self.has_optional_old

    @property
    def text(self) -> str:
        """The text that identifies the rule in errors."""
        return ((self.spec.get("message") or "") or (self.spec.get("rule") or "")).strip(gotext.SPACE)

    @property
    def failure_text(self) -> str:
        """The error text of the rule without its messageExpression."""
        return self.text if self.spec.get("message") else f"failed rule: {self.text}"


def compile_rule(spec: RuleSpec, declared: SchemaTypes, new: Release = ALL_ON) -> ValidationRule:
    """Compile a rule for values of a declaration. new: the release of a new rule; stored ones may use everything."""
    source = spec.get("rule") or ""
    if not source.strip():
        return ValidationRule(spec)
    root = declared.root
    assert root is not None
    try:
        compiled = _compile_program(source, root, declared, spec, new)
    except CompileError as error:
        return ValidationRule(spec, error=f"compilation failed: {error}")
    except _WrongResultType:
        return ValidationRule(spec, error="cel expression must evaluate to a bool")
    transition = compiled.uses("oldSelf")
    try:
        compiled.check_constants()
    except CelError as error:
        return ValidationRule(spec, error=f"program instantiation failed: {error}", uses_old_self=transition)
    message, message_error = _compile_message(spec, root, declared, new)
    return ValidationRule(spec, compiled, "", transition, message, message_error)


class _WrongResultType(Exception):
    """The expression returns a value of the wrong type."""


def _compile_program(
    source: str, root: Decl, declared: SchemaTypes, spec: RuleSpec, new: Release, result_kind: str = "bool"
) -> Program:
    old = types.optional(root.type) if spec.get("optionalOldSelf") else root.type
    kinds = {"self": root.type, "oldSelf": old}
    functions = library.kubernetes_libraries(new)
    tree = program.analyze_source(source, kinds, functions, declared, macros.select_macros(new))
    if tree.type.kind != result_kind or tree.type.name == "wrapper":
        raise _WrongResultType
    decls = {"self": root, "oldSelf": None if spec.get("optionalOldSelf") else root}
    return Program(source, tree, functions, decls)


def _compile_message(spec: RuleSpec, root: Decl, declared: SchemaTypes, new: Release) -> tuple[Program | None, str]:
    source = spec.get("messageExpression") or ""
    if not source:
        return None, ""
    try:
        compiled = _compile_program(source, root, declared, spec, new, "string")
        compiled.check_constants()
    except CompileError as error:
        return None, f"messageExpression compilation failed: {error}"
    except _WrongResultType:
        return None, "messageExpression must evaluate to a string"
    except ProgramError as error:
        return None, f"messageExpression instantiation failed: {error}"
    return compiled, ""
