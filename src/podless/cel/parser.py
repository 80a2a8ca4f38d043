"""Parses tokens into a tree, by precedence climbing.

Two depths are limited, as in cel-go. One is the nesting of grammar rules while the text is read. The other is the
number of operators, selections, calls and indexes above each other in the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel import literals, macros
from podless.cel.errors import CompileError, Issue
from podless.cel.lexer import RESERVED, START, Token, format_expected
from podless.cel.macros import MacroTable
from podless.cel.recovery import ParsingStopped, RecoveringParser, SyntaxFault
from podless.cel.syntax import CallExpr, Expr, Ident, ListExpr, LiteralExpr, MapEntry, MapExpr, MessageExpr, Select
from podless.cel.types import BOOL, NULL, STRING
from podless.runtime.meter import charge

MAX_DEPTH = 250
MAX_SIZE = 100_000
NESTED = f"expression recursion limit exceeded: {MAX_DEPTH}"
_HIGH = "max recursion depth exceeded"

_LEVELS = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 1),
    **dict.fromkeys(("+", "-"), 2),
    **dict.fromkeys(("*", "/", "%"), 3),
}
_OPERATORS = {"in": "@in"}
_BINARY = frozenset(_LEVELS)
_LOGIC = frozenset(("&&", "||", "?"))
_MEMBER = frozenset((".", "["))
_NAME = frozenset(("IDENTIFIER", "ESC_IDENTIFIER"))
# tokens that can follow an argument of a method; arguments of a primary can also be followed by . or [
_ARGUMENT = frozenset((",", ")"))
_KEY_FOLLOW, _ENTRY_FOLLOW, _ITEM_FOLLOW, _GROUP_FOLLOW = (
    frozenset(kinds) | _MEMBER for kinds in (":", ",}", ",]", ")")
)
# tokens that can follow a member, and so an operand, in any context
_FOLLOW = _BINARY | _LOGIC
_NAMES = {"true": True, "false": False, "null": None}


class _NestingTooDeep(Exception):
    """Grammar rules are nested too deep."""


def parse_expression(source: str, macros: MacroTable) -> Expr:
    """Parse an expression. Raises CompileError."""
    issues: list[Issue] = []
    if len(source) > MAX_SIZE:
        text = f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_SIZE}"
        raise CompileError(source, [Issue(-1, text)])
    charge(len(source))
    parser = _ExpressionParser(source, macros, issues)
    try:
        tree = parser.start()
        if parser.highest > MAX_DEPTH:
            issues.append(Issue(-1, _HIGH))
    except _NestingTooDeep:
        issues.append(Issue(-1, NESTED))
    except ParsingStopped:
        pass
    if issues:
        raise CompileError(source, issues)
    return tree


class _ExpressionParser(RecoveringParser):
    """One method for each rule of the grammar.

    depth: of the current rule. high: the number of operators, selections, calls and indexes above each other in the
    last result. highest: the maximum so far.
    """

    def __init__(self, source: str, macros: MacroTable, issues: list[Issue]) -> None:
        super().__init__(source, issues, frozenset(("EOF",)) | _FOLLOW)
        self.macros = macros
        self.depth = 0
        self.high = 0
        self.highest = 0

    def enter_rule(self) -> None:
        """Count one more level of nested rules."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _NestingTooDeep

    def set_height(self, high: int) -> None:
        """Count one level above `high`."""
        self.high = high + 1
        self.highest = max(self.highest, self.high)

    def start(self) -> Expr:
        """Parse the whole text."""
        tree = self.parse_expr()
        try:
            self.match_token("EOF", frozenset(("EOF",)))
        except SyntaxFault as fault:
            self.report_error(fault.message, fault.token)
        return tree

    def parse_nested(self, follow: frozenset[str], rule: Callable[[], Expr]) -> Expr:
        """Parse a rule nested in another one, which continues with one of the `follow` tokens."""
        self.follow.append(follow)
        try:
            return rule()
        finally:
            self.follow.pop()

    def parse_part(self, follow: frozenset[str]) -> Expr:
        """Parse one of several parts of an expression; the deepest part counts for `high`."""
        high, self.high = self.high, 0
        result = self.parse_nested(follow, self.parse_expr)
        self.high = max(high, self.high)
        return result

    def parse_expr(self) -> Expr:
        self.enter_rule()
        try:
            condition = self.parse_logic("||", "_||_")
            return condition if self.token.kind != "?" else self.parse_conditional(condition)
        finally:
            self.depth -= 1

    def parse_conditional(self, condition: Expr) -> Expr:
        """Parse the rest of a conditional expression."""
        offset = self.advance().offset
        high = self.high
        yes = self.parse_nested(frozenset((":",)), lambda: self.parse_logic("||", "_||_"))
        high = max(high, self.high)
        try:
            self.match_token(":", START)
        except SyntaxFault as fault:
            return self.recover_rule(fault, "conditional")
        no = self.parse_expr()
        self.set_height(max(high, self.high))
        return self.make_call(offset, "_?_:_", [condition, yes, no])

    def parse_logic(self, operator: str, function: str) -> Expr:
        """Parse terms joined by && or ||. As in cel-go, a long chain becomes a balanced tree."""
        terms = [self.parse_term(operator)]
        offsets = []
        while self.token.kind == operator:
            offsets.append(self.advance().offset)
            high = self.high
            terms.append(self.parse_term(operator))
            self.high = max(high, self.high)
        return terms[0] if not offsets else _balance_terms(function, terms, offsets, 0, len(offsets) - 1)

    def parse_term(self, operator: str) -> Expr:
        return self.parse_logic("&&", "_&&_") if operator == "||" else self.parse_binary(1)

    def parse_binary(self, level: int) -> Expr:
        """Parse operands joined by operators of at least this precedence level."""
        left = self.parse_unary()
        while (operator_level := _LEVELS.get(self.token.kind, 0)) >= level:
            token = self.advance()
            high = self.high
            self.enter_rule()
            right = self.parse_binary(operator_level + 1)
            self.depth -= 1
            self.set_height(max(high, self.high))
            left = self.make_call(token.offset, _OPERATORS.get(token.kind, f"_{token.kind}_"), [left, right])
        return left

    def parse_unary(self) -> Expr:
        """Parse a member with any number of ! or - in front."""
        try:
            self.sync_token(START)
            kind = self.token.kind
            if kind == "!" or (kind == "-" and self.look_ahead().kind not in ("NUM_INT", "NUM_FLOAT")):
                return self.parse_signs(kind)
            return self.parse_member()
        except SyntaxFault as fault:
            return self.recover_rule(fault, "unary")

    def parse_signs(self, kind: str) -> Expr:
        """Parse a sequence of ! or -. The last minus can belong to a number."""
        offset = self.token.offset
        count = 0
        while self.token.kind == kind:
            after = self.look_ahead()
            if kind == "-" and after.kind not in START:
                raise self.make_unviable_fault(self.token, after)
            if kind == "-" and after.kind in ("NUM_INT", "NUM_FLOAT") and count:
                break
            self.advance()
            count += 1
        self.resync_tokens(START)
        operand = self.parse_member()
        if count % 2 == 0:
            return operand
        return self.make_call(offset, "!_" if kind == "!" else "-_", [operand])

    def parse_member(self) -> Expr:
        """Parse a primary with selections, calls and indexes."""
        self.high = 0
        left = self.parse_operand()
        try:
            while self.token.kind in _MEMBER:
                high, self.high = self.high, 0
                left = self.parse_dotted(left) if self.token.kind == "." else self.parse_index(left)
                self.set_height(max(high, self.high))
        except SyntaxFault as fault:
            return self.recover_rule(fault, "member")
        return left

    def parse_operand(self) -> Expr:
        """Parse a primary. An error in it does not end the member."""
        try:
            return self.parse_primary()
        except SyntaxFault as fault:
            return self.recover_rule(fault, "primary", _MEMBER)

    def parse_dotted(self, left: Expr) -> Expr:
        """Parse .field, .?field or .function(...)."""
        dot = self.token
        after = self.look_ahead()
        if after.kind == "?":
            self.advance()
            self.advance()
            return self.parse_optional_field(dot, left)
        if after.kind not in _NAME:
            if after.kind in ("true", "false", "null") and after.offset == dot.offset + 1:
                raise SyntaxFault(after, f"mismatched input '{after.text}' expecting IDENTIFIER")
            raise self.make_unviable_fault(dot, after)
        self.advance()
        name = self.advance()
        if self.token.kind == "(" and name.kind == "IDENTIFIER":
            offset = self.advance().offset
            return self.make_call(offset, name.text, self.parse_arguments(_ARGUMENT), left)
        return Select(dot.offset, left, _strip_backticks(name))

    def parse_optional_field(self, dot: Token, left: Expr) -> Expr:
        """Return the selection after `.?`"""
        first = self.token
        try:
            self.sync_token(_NAME)
        except SyntaxFault as fault:
            self.recover_rule(fault, "name", _MEMBER)
            return self.report_problem(first.offset, "unsupported ident kind")
        name = self.advance()
        return CallExpr(dot.offset, "_?._", [left, LiteralExpr(name.offset, _strip_backticks(name), STRING)])

    def parse_index(self, left: Expr) -> Expr:
        """Parse [index] or [?index]."""
        offset = self.advance().offset
        function = "_[_]"
        self.sync_token(START | {"?"})
        if self.token.kind == "?":
            self.advance()
            function = "_[?_]"
        index = self.parse_part(frozenset(("]",)))
        self.match_token("]", self.list_next_tokens())
        return self.make_call(offset, function, [left, index])

    def list_next_tokens(self) -> frozenset[str]:
        """Return the tokens that can follow a member here."""
        return _FOLLOW.union(_MEMBER, self.follow[-1])

    def parse_arguments(self, follow: frozenset[str]) -> list[Expr]:
        """Parse arguments up to the closing parenthesis. follow: tokens that can come after each."""
        result = []
        if self.token.kind in START:
            result.append(self.parse_nested(follow, self.parse_expr))
            while self.token.kind == ",":
                self.advance()
                result.append(self.parse_nested(follow, self.parse_expr))
        elif self.token.kind != ")":
            self.sync_token(START | {")"})
            return self.parse_arguments(follow)
        self.match_token(")", self.list_next_tokens())
        return result

    def parse_primary(self) -> Expr:
        """Parse a name, call, literal, list, map, message or expression in parentheses."""
        token = self.token
        kind = token.kind
        if kind == "IDENTIFIER":
            return self.parse_name("")
        if kind == "." and self.look_ahead().kind == "IDENTIFIER":
            self.advance()
            return self.parse_name(".")
        if kind == "(":
            self.advance()
            expression = self.parse_nested(_GROUP_FOLLOW, self.parse_expr)
            self.match_token(")", self.list_next_tokens())
            return expression
        if kind == "[":
            return self.parse_list()
        if kind == "{":
            return self.parse_map()
        if kind in ("true", "false", "null"):
            self.advance()
            return LiteralExpr(token.offset, _NAMES[kind], NULL if kind == "null" else BOOL)
        return self.parse_literal()

    def parse_literal(self) -> Expr:
        """Parse a number, string or bytes literal."""
        token = self.token
        sign = ""
        if token.kind == "-" and self.look_ahead().kind in ("NUM_INT", "NUM_FLOAT"):
            sign = "-"
            self.advance()
        if self.token.kind not in literals.READERS:
            raise self.make_unviable_fault(token, self.look_ahead() if token.kind == "." else self.token)
        read = self.advance()
        try:
            value, kind = literals.READERS[read.kind](sign + read.text)
        except ValueError as error:
            return self.report_problem(token.offset, str(error))
        return LiteralExpr(token.offset, value, kind)

    def parse_name(self, dot: str) -> Expr:
        """Parse a name, a call of a global function, or a message."""
        name = self.advance()
        if self.token.kind == "(":
            offset = self.advance().offset
            arguments = self.parse_arguments(_ARGUMENT | _MEMBER)
            if name.text in RESERVED:
                return self.report_problem(name.offset, f"reserved identifier: {name.text}")
            return self.make_call(offset, dot + name.text, arguments)
        segments = self.read_message_name()
        if segments is not None:
            return self.parse_message(dot + ".".join((name.text, *segments)))
        if name.text in RESERVED:
            return self.report_problem(name.offset, f"reserved identifier: {name.text}")
        return Ident(name.offset, dot + name.text)

    def read_message_name(self) -> list[str] | None:
        """Consume and return the rest of a dotted name that is followed by a brace; None if there is none."""
        count = 0
        segments = []
        while self.look_ahead(count).kind == "." and self.look_ahead(count + 1).kind == "IDENTIFIER":
            segments.append(self.look_ahead(count + 1).text)
            count += 2
        if self.look_ahead(count).kind != "{":
            return None
        for _ in range(count):
            self.advance()
        return segments

    def parse_message(self, name: str) -> Expr:
        offset = self.advance().offset
        return MessageExpr(offset, name, self.parse_entries(_NAME, self.parse_field))

    def parse_field(self) -> str:
        if self.token.kind not in _NAME:
            text = f"mismatched input {self.describe_token()} expecting {format_expected(_NAME)}"
            raise SyntaxFault(self.token, text)
        return _strip_backticks(self.advance())

    def parse_list(self) -> Expr:
        offset = self.advance().offset
        items: list[Expr] = []
        optional = set()
        first = START | {"?"}
        self.sync_token(first | {"]", ","})
        while self.token.kind in first:
            if self.token.kind == "?":
                optional.add(len(items))
                self.advance()
            items.append(self.parse_part(_ITEM_FOLLOW))
            if self.token.kind != "," or self.look_ahead().kind not in first:
                break
            self.advance()
        self.close("]")
        return ListExpr(offset, items, frozenset(optional))

    def parse_map(self) -> Expr:
        offset = self.advance().offset
        return MapExpr(offset, self.parse_entries(START, lambda: self.parse_part(_KEY_FOLLOW)))

    def parse_entries(self, start: frozenset[str], parse_key: Callable[[], Any]) -> list[MapEntry]:
        """Parse the entries of a map or message, and the brace. Parsing continues after an error in one of them.

        start: tokens that can begin a key.
        """
        entries: list[MapEntry] = []
        first = start | {"?"}
        self.sync_token(first | {"}", ","})
        self.follow.append(_ENTRY_FOLLOW)
        try:
            while self.token.kind in first:
                optional = self.token.kind == "?"
                if optional:
                    self.advance()
                key = parse_key()
                colon = self.match_token(":", START)
                entries.append(MapEntry(colon.offset, key, self.parse_part(_ENTRY_FOLLOW), optional))
                if self.token.kind != "," or self.look_ahead().kind not in first:
                    break
                self.advance()
        except SyntaxFault as fault:
            self.recover_rule(fault, "entries")
        finally:
            self.follow.pop()
        self.close("}")
        return entries

    def close(self, bracket: str) -> None:
        """Parse a closing bracket, with an optional comma before it."""
        self.sync_token(frozenset((bracket, ",")))
        if self.token.kind == ",":
            self.advance()
        self.match_token(bracket, self.list_next_tokens())

    def make_call(self, offset: int, function: str, args: list[Expr], target: Expr | None = None) -> Expr:
        """Return a call, or the expansion of its macro."""
        macro = self.macros.get((function, len(args), target is not None))
        if macro is not None:
            try:
                result = macro(offset, target, args)
            except macros.MacroError as error:
                return self.report_problem(error.offset, str(error))
            if result is not None:
                return result
        return CallExpr(offset, function, args, target)


def _balance_terms(function: str, terms: list[Expr], offsets: list[int], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balance_terms(function, terms, offsets, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balance_terms(function, terms, offsets, middle + 1, high)
    return CallExpr(offsets[middle], function, [left, right])


def _strip_backticks(name: Token) -> str:
    return name.text[1:-1] if name.kind == "ESC_IDENTIFIER" else name.text
