"""The base of the parser: its tokens, with the errors and the error recovery of CEL's ANTLR parser.

ANTLR's default strategy decides the error of an invalid text and where parsing continues: skip a stray token, assume a
missing one, else skip everything up to a token that can follow. podless does the same three steps, so that its messages
are the same.
"""

from __future__ import annotations

from podless.cel.errors import Issue
from podless.cel.lexer import TOKENS_PER_CHARGE, Token, escape_text, format_expected, list_tokens
from podless.cel.syntax import Expr, LiteralExpr
from podless.cel.types import STRING
from podless.runtime.meter import charge

_MAX_RECOVERIES = 30


class SyntaxFault(Exception):
    """A grammar rule failed at a token."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.token = token
        self.message = message


class ParsingStopped(Exception):
    """Parsing ends here; the issues say why."""


class RecoveringParser:
    """Reads the tokens of a text, and recovers from errors.

    Errors are added to `issues`. follow: tokens that can come after each open rule.
    """

    def __init__(self, source: str, issues: list[Issue], follow: frozenset[str]) -> None:
        self.issues = issues
        self.tokens = list_tokens(source, issues)
        self.source = source
        self.at = 0
        self.token = self.tokens[0]
        self.recovering = False
        self.recoveries = 0
        self.follow: list[frozenset[str]] = [follow]
        self.failed_at = -1
        self.failed_in: set[str] = set()  # rules that failed since the last valid token

    def look_ahead(self, count: int = 1) -> Token:
        """Return the token `count` places ahead."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Consume the token, which is valid here."""
        if self.recovering:
            self.end_recovery()
        return self.consume()

    def end_recovery(self) -> None:
        """End the recovery, because the text is valid again."""
        self.recovering = False
        self.failed_at = -1
        self.failed_in.clear()

    def consume(self) -> Token:
        """Consume the token, valid or not."""
        token = self.token
        if token.kind != "EOF":
            self.at += 1
            if not self.at % TOKENS_PER_CHARGE:
                charge(TOKENS_PER_CHARGE)
            self.token = self.tokens[self.at]
        return token

    def match_token(self, kind: str, after: frozenset[str]) -> Token:
        """Consume a token of one kind, or recover. after: tokens that can come after it."""
        if self.token.kind == kind:
            return self.advance()
        self.count_recovery()
        expected = frozenset((kind,))
        if self.look_ahead().kind == kind:
            self.report_unwanted(expected)
            self.consume()
            return self.advance()
        if self.token.kind in after:
            self.report_error(f"missing {format_expected(expected)} at {self.describe_token()}")
            return Token(kind, f"<missing {format_expected(expected)}>", self.token.offset)
        raise SyntaxFault(self.token, f"mismatched input {self.describe_token()} expecting {format_expected(expected)}")

    def sync_token(self, expected: frozenset[str]) -> None:
        """Make one of the expected tokens the next one, by skipping a stray token."""
        if self.recovering or self.token.kind in expected:
            return
        self.count_recovery(0)
        if self.look_ahead().kind in expected:
            self.report_unwanted(expected)
            self.consume()
            self.end_recovery()
            return
        raise SyntaxFault(self.token, f"mismatched input {self.describe_token()} expecting {format_expected(expected)}")

    def resync_tokens(self, expected: frozenset[str]) -> None:
        """Recover inside a repetition: skip everything up to a token that can follow."""
        if self.recovering or self.token.kind in expected:
            return
        self.report_unwanted(expected)
        self.skip_to(expected)

    def describe_token(self) -> str:
        """Return the token as error messages show it."""
        return f"'{escape_text(self.token.text)}'"

    def report_error(self, message: str, token: Token | None = None) -> None:
        """Report an error, unless one was reported since the last valid token."""
        if not self.recovering:
            self.recovering = True
            self.issues.append(Issue((token or self.token).offset, f"Syntax error: {message}"))

    def report_unwanted(self, expected: frozenset[str]) -> None:
        """Report an unexpected token."""
        self.report_error(f"extraneous input {self.describe_token()} expecting {format_expected(expected)}")

    def count_recovery(self, count: int = 1) -> None:
        """Count a recovery; their number is limited."""
        self.recoveries += count
        if self.recoveries > _MAX_RECOVERIES:
            text = f"Syntax error: error recovery attempt limit exceeded: {_MAX_RECOVERIES}"
            self.issues.append(Issue(self.token.offset, text))
            raise ParsingStopped

    def recover_rule(self, fault: SyntaxFault, rule: str, after: frozenset[str] = frozenset()) -> Expr:
        """Report a failed rule, and continue at a token that can follow. after: further such tokens.

        A rule that fails again at the same token skips that token, too.
        """
        self.report_error(fault.message, fault.token)
        self.count_recovery()
        if self.failed_at == self.at and rule in self.failed_in:
            self.consume()
        self.failed_at = self.at
        self.failed_in.add(rule)
        self.skip_to(after)
        return LiteralExpr(fault.token.offset, "<<error>>", STRING)

    def skip_to(self, expected: frozenset[str]) -> None:
        """Skip to the next token that is expected or can follow."""
        stops = expected.union(*self.follow)
        while self.token.kind != "EOF" and self.token.kind not in stops:
            self.consume()

    def report_problem(self, offset: int, message: str) -> Expr:
        """Report an error that is not a syntax error."""
        self.issues.append(Issue(offset, message))
        return LiteralExpr(offset, "<<error>>", STRING)

    def make_unviable_fault(self, start: Token, at: Token) -> SyntaxFault:
        """Return the fault of tokens that begin no alternative. at: the token that shows it."""
        end = at.offset + len(at.text) if at.kind != "EOF" else start.offset + len(start.text)
        return SyntaxFault(at, f"no viable alternative at input '{escape_text(self.source[start.offset : end])}'")
