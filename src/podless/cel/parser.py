"""Parses tokens into a tree, by precedence climbing.

Two depths are limited, as in cel-go: the nesting of grammar rules while the text is read, and the number of operators,
selections, calls and indexes above each other in the result.
"""

from __future__ import annotations

from collections.abc import Callable

from podless.cel import literals, macros
from podless.cel.errors import CompileError, Issue
from podless.cel.escape import RESERVED
from podless.cel.lexer import START, Token, format_wanted
from podless.cel.macros import Macro
from podless.cel.recovery import RecoveringParser, Stop, SyntaxFault
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
_KEY, _PART, _ITEM, _INNER = (frozenset(kinds) | _MEMBER for kinds in (":", ",}", ",]", ")"))
# tokens that can follow a member, and so an operand, in any context
_FOLLOW = _BINARY | _LOGIC
_NAMES = {"true": True, "false": False, "null": None}


class _TooDeep(Exception):
    """Grammar rules are nested too deep."""


def parse_expression(source: str, known: dict[tuple[str, int, bool], Macro]) -> Expr:
    """Parse an expression. known: the macros. Raises CompileError."""
    issues: list[Issue] = []
    if len(source) > MAX_SIZE:
        text = f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_SIZE}"
        raise CompileError(source, [Issue(-1, text)])
    charge(len(source))
    parser = _ExpressionParser(source, known, issues)
    try:
        tree = parser.start()
        if parser.highest > MAX_DEPTH:
            issues.append(Issue(-1, _HIGH))
    except _TooDeep:
        issues.append(Issue(-1, NESTED))
    except Stop:
        pass
    if issues:
        raise CompileError(source, issues)
    return tree


class _ExpressionParser(RecoveringParser):
    """One method for each rule of the grammar.

    depth: of the current rule. high: the number of operators, selections, calls and indexes above each other in the
    last result. highest: the maximum so far.
    """

    def __init__(self, source: str, known: dict[tuple[str, int, bool], Macro], issues: list[Issue]) -> None:
        super().__init__(source, issues, frozenset(("EOF",)) | _FOLLOW)
        self.known = known
        self.depth = 0
        self.high = 0
        self.highest = 0

    def deeper(self) -> None:
        """Count one more level of nested rules."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _TooDeep

    def above(self, high: int) -> None:
        """Count one level above `high`."""
        self.high = high + 1
        self.highest = max(self.highest, self.high)

    def start(self) -> Expr:
        """Parse the whole text."""
        tree = self.expr()
        try:
            self.match("EOF", frozenset(("EOF",)))
        except SyntaxFault as fault:
            self.report(fault.message, fault.token)
        return tree

    def within(self, follow: frozenset[str], rule: Callable[[], Expr]) -> Expr:
        """Parse a rule nested in another one, which continues with one of the `follow` tokens."""
        self.follow.append(follow)
        try:
            return rule()
        finally:
            self.follow.pop()

    def part(self, follow: frozenset[str]) -> Expr:
        """Parse one of several parts of an expression; the deepest part counts for `high`."""
        high, self.high = self.high, 0
        result = self.within(follow, self.expr)
        self.high = max(high, self.high)
        return result

    def expr(self) -> Expr:
        self.deeper()
        try:
            condition = self.logic("||", "_||_")
            return condition if self.token.kind != "?" else self.conditional(condition)
        finally:
            self.depth -= 1

    def conditional(self, condition: Expr) -> Expr:
        """Parse the rest of a conditional expression."""
        offset = self.advance().offset
        high = self.high
        yes = self.within(frozenset((":",)), lambda: self.logic("||", "_||_"))
        high = max(high, self.high)
        try:
            self.match(":", START)
        except SyntaxFault as fault:
            return self.recover(fault, "conditional")
        no = self.expr()
        self.above(max(high, self.high))
        return self.call(offset, "_?_:_", [condition, yes, no])

    def logic(self, operator: str, function: str) -> Expr:
        """Parse terms joined by && or ||. As in cel-go, a long chain becomes a balanced tree."""
        terms = [self.term(operator)]
        offsets = []
        while self.token.kind == operator:
            offsets.append(self.advance().offset)
            high = self.high
            terms.append(self.term(operator))
            self.high = max(high, self.high)
        return terms[0] if not offsets else _balanced(function, terms, offsets, 0, len(offsets) - 1)

    def term(self, operator: str) -> Expr:
        return self.logic("&&", "_&&_") if operator == "||" else self.binary(1)

    def binary(self, level: int) -> Expr:
        """Parse operands joined by operators of at least this precedence level."""
        left = self.unary()
        while (own := _LEVELS.get(self.token.kind, 0)) >= level:
            token = self.advance()
            high = self.high
            self.deeper()
            right = self.binary(own + 1)
            self.depth -= 1
            self.above(max(high, self.high))
            left = self.call(token.offset, _OPERATORS.get(token.kind, f"_{token.kind}_"), [left, right])
        return left

    def unary(self) -> Expr:
        """Parse a member with any number of ! or - in front."""
        try:
            self.sync(START)
            kind = self.token.kind
            if kind == "!" or (kind == "-" and self.look_ahead().kind not in ("NUM_INT", "NUM_FLOAT")):
                return self.signs(kind)
            return self.member()
        except SyntaxFault as fault:
            return self.recover(fault, "unary")

    def signs(self, kind: str) -> Expr:
        """Parse a sequence of ! or -. The last minus can belong to a number."""
        offset = self.token.offset
        count = 0
        while self.token.kind == kind:
            after = self.look_ahead()
            if kind == "-" and after.kind not in START:
                raise self.make_unviable(self.token, after)
            if kind == "-" and after.kind in ("NUM_INT", "NUM_FLOAT") and count:
                break
            self.advance()
            count += 1
        self.resync(START)
        operand = self.member()
        if count % 2 == 0:
            return operand
        return self.call(offset, "!_" if kind == "!" else "-_", [operand])

    def member(self) -> Expr:
        """Parse a primary with selections, calls and indexes."""
        self.high = 0
        left = self.operand()
        try:
            while self.token.kind in _MEMBER:
                high, self.high = self.high, 0
                left = self.dotted(left) if self.token.kind == "." else self.indexed(left)
                self.above(max(high, self.high))
        except SyntaxFault as fault:
            return self.recover(fault, "member")
        return left

    def operand(self) -> Expr:
        """Parse a primary. An error in it does not end the member."""
        try:
            return self.primary()
        except SyntaxFault as fault:
            return self.recover(fault, "primary", _MEMBER)

    def dotted(self, left: Expr) -> Expr:
        """Parse .field, .?field or .function(...)."""
        dot = self.token
        after = self.look_ahead()
        if after.kind == "?":
            self.advance()
            self.advance()
            return self.optional(dot, left)
        if after.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            if after.kind in ("true", "false", "null") and after.offset == dot.offset + 1:
                raise SyntaxFault(after, f"mismatched input '{after.text}' expecting IDENTIFIER")
            raise self.make_unviable(dot, after)
        self.advance()
        name = self.advance()
        if self.token.kind == "(" and name.kind == "IDENTIFIER":
            offset = self.advance().offset
            return self.call(offset, name.text, self.arguments(_ARGUMENT), left)
        return Select(dot.offset, left, _plain(name))

    def optional(self, dot: Token, left: Expr) -> Expr:
        """Return the selection after `.?`"""
        first = self.token
        try:
            self.sync(_NAME)
        except SyntaxFault as fault:
            self.recover(fault, "name", _MEMBER)
            return self.report_problem(first.offset, "unsupported ident kind")
        name = self.advance()
        return CallExpr(dot.offset, "_?._", [left, LiteralExpr(name.offset, _plain(name), STRING)])

    def indexed(self, left: Expr) -> Expr:
        """Parse [index] or [?index]."""
        offset = self.advance().offset
        function = "_[_]"
        self.sync(START | {"?"})
        if self.token.kind == "?":
            self.advance()
            function = "_[?_]"
        index = self.part(frozenset(("]",)))
        self.match("]", self.next())
        return self.call(offset, function, [left, index])

    def next(self) -> frozenset[str]:
        """Return the tokens that can follow a member here."""
        return _FOLLOW.union(_MEMBER, self.follow[-1])

    def arguments(self, follow: frozenset[str]) -> list[Expr]:
        """Parse arguments up to the closing parenthesis. follow: tokens that can come after each."""
        result = []
        if self.token.kind in START:
            result.append(self.within(follow, self.expr))
            while self.token.kind == ",":
                self.advance()
                result.append(self.within(follow, self.expr))
        elif self.token.kind != ")":
            self.sync(START | {")"})
            return self.arguments(follow)
        self.match(")", self.next())
        return result

    def primary(self) -> Expr:
        """Parse a name, call, literal, list, map, message or expression in parentheses."""
        token = self.token
        kind = token.kind
        if kind == "IDENTIFIER":
            return self.named("")
        if kind == "." and self.look_ahead().kind == "IDENTIFIER":
            self.advance()
            return self.named(".")
        if kind == "(":
            self.advance()
            inner = self.within(_INNER, self.expr)
            self.match(")", self.next())
            return inner
        if kind == "[":
            return self.bracketed()
        if kind == "{":
            return self.braced()
        if kind in ("true", "false", "null"):
            self.advance()
            return LiteralExpr(token.offset, _NAMES[kind], NULL if kind == "null" else BOOL)
        return self.literal()

    def literal(self) -> Expr:
        """Parse a number, string or bytes literal."""
        token = self.token
        sign = ""
        if token.kind == "-" and self.look_ahead().kind in ("NUM_INT", "NUM_FLOAT"):
            sign = "-"
            self.advance()
        if self.token.kind not in literals.READERS:
            raise self.make_unviable(token, self.look_ahead() if token.kind == "." else self.token)
        read = self.advance()
        try:
            value, kind = literals.READERS[read.kind](sign + read.text)
        except ValueError as error:
            return self.report_problem(token.offset, str(error))
        return LiteralExpr(token.offset, value, kind)

    def named(self, dot: str) -> Expr:
        """Parse a name, a call of a global function, or a message."""
        name = self.advance()
        if self.token.kind == "(":
            offset = self.advance().offset
            arguments = self.arguments(_ARGUMENT | _MEMBER)
            if name.text in RESERVED:
                return self.report_problem(name.offset, f"reserved identifier: {name.text}")
            return self.call(offset, dot + name.text, arguments)
        parts = self.message_name()
        if parts is not None:
            return self.message(dot + ".".join((name.text, *parts)))
        if name.text in RESERVED:
            return self.report_problem(name.offset, f"reserved identifier: {name.text}")
        return Ident(name.offset, dot + name.text)

    def message_name(self) -> list[str] | None:
        """Consume and return the rest of a dotted name that is followed by a brace; None if there is none."""
        count = 0
        parts = []
        while self.look_ahead(count).kind == "." and self.look_ahead(count + 1).kind == "IDENTIFIER":
            parts.append(self.look_ahead(count + 1).text)
            count += 2
        if self.look_ahead(count).kind != "{":
            return None
        for _ in range(count):
            self.advance()
        return parts

    def message(self, name: str) -> Expr:
        offset = self.advance().offset
        entries: list[MapEntry] = []
        first = _NAME | {"?"}
        self.sync(first | {"}", ","})
        self.entries(first, lambda: entries.append(self.field()))
        self.close("}")
        return MessageExpr(offset, name, entries)

    def field(self) -> MapEntry:
        optional = self.token.kind == "?"
        if optional:
            self.advance()
        if self.token.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            raise SyntaxFault(self.token, f"mismatched input {self.describe_token()} expecting {format_wanted(_NAME)}")
        name = self.advance()
        colon = self.match(":", START)
        value = self.part(_PART)
        return MapEntry(colon.offset, _plain(name), value, optional)

    def bracketed(self) -> Expr:
        offset = self.advance().offset
        items: list[Expr] = []
        optional = set()
        first = START | {"?"}
        self.sync(first | {"]", ","})
        while self.token.kind in first:
            if self.token.kind == "?":
                optional.add(len(items))
                self.advance()
            items.append(self.part(_ITEM))
            if self.token.kind != "," or self.look_ahead().kind not in first:
                break
            self.advance()
        self.close("]")
        return ListExpr(offset, items, frozenset(optional))

    def braced(self) -> Expr:
        offset = self.advance().offset
        entries: list[MapEntry] = []
        first = START | {"?"}
        self.sync(first | {"}", ","})
        self.entries(first, lambda: entries.append(self.pair()))
        self.close("}")
        return MapExpr(offset, entries)

    def pair(self) -> MapEntry:
        optional = self.token.kind == "?"
        if optional:
            self.advance()
        key = self.part(_KEY)
        colon = self.match(":", START)
        value = self.part(_PART)
        return MapEntry(colon.offset, key, value, optional)

    def entries(self, first: frozenset[str], one: Callable[[], None]) -> None:
        """Parse entries between braces. Parsing continues after an error in one of them."""
        self.follow.append(_PART)
        try:
            while self.token.kind in first:
                one()
                if self.token.kind != "," or self.look_ahead().kind not in first:
                    break
                self.advance()
        except SyntaxFault as fault:
            self.recover(fault, "entries")
        finally:
            self.follow.pop()

    def close(self, bracket: str) -> None:
        """Parse a closing bracket, with an optional comma before it."""
        self.sync(frozenset((bracket, ",")))
        if self.token.kind == ",":
            self.advance()
        self.match(bracket, self.next())

    def call(self, offset: int, function: str, args: list[Expr], target: Expr | None = None) -> Expr:
        """Return a call, or the expansion of its macro."""
        macro = self.known.get((function, len(args), target is not None))
        if macro is not None:
            try:
                result = macro(offset, target, args)
            except macros.Misuse as error:
                return self.report_problem(error.offset, str(error))
            if result is not None:
                return result
        return CallExpr(offset, function, args, target)


def _balanced(function: str, terms: list[Expr], offsets: list[int], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, offsets, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, offsets, middle + 1, high)
    return CallExpr(offsets[middle], function, [left, right])


def _plain(name: Token) -> str:
    return name.text[1:-1] if name.kind == "ESC_IDENTIFIER" else name.text
