"""Parses addresses as Go's net, net/url and net/mail do, for formats that contain them."""

from __future__ import annotations

from podless.codec.goaddress import find_address_fault
from podless.codec.gourl import is_request_url
from podless.meta.addresses import parse_address, parse_range
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

_MAC = compile_late(
    r"^(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\2){6}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\3){18}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){3}"
    r"|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){9}|[0-9A-Fa-f]{12}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})\Z"
)
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
# matches most addresses and ranges, in less time than the full check
_COMMON_IPV4 = compile_late(rf"^{_OCTET}(?:\.{_OCTET}){{3}}(?:/(?:[12]?[0-9]|3[0-2]))?\Z")


def _is_strict(text: str) -> bool:
    """Return whether a text is an address without leading zeros and zone."""
    return "%" not in text and not find_address_fault(each(text))


def is_ipv4(text: str) -> bool:
    """Return whether Go parses a text as an address with a dot. Accepts leading zeros and IPv6 with an IPv4 tail."""
    if "/" in text or "." not in text:
        return False
    return _COMMON_IPV4.match(text) is not None or parse_address(text) is not None


def is_ipv6(text: str) -> bool:
    """Return whether a text is an address with a colon."""
    return ":" in text and _is_strict(text)


def is_cidr(text: str) -> bool:
    """Return whether a text is an address, a slash and a prefix length."""
    return "/" in text and (_COMMON_IPV4.match(text) is not None or parse_range(text) is not None)


def is_mac(text: str) -> bool:
    """Return whether a text is 6, 8 or 20 bytes in hexadecimal.

    The digits are in pairs with : or -, in groups of four with dots, or without separators.
    """
    return _MAC.match(text) is not None


def is_uri(text: str) -> bool:
    """Return whether a text is an absolute URI or an absolute path, as in an HTTP request line."""
    return is_request_url(each(text))


_ATEXT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~")


class _MailReader:
    """Reads one RFC 5322 address, as leniently as Go's net/mail."""

    def __init__(self, text: str) -> None:
        self.text, self.at = each(text), 0

    def peek_char(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_space(self) -> bool:
        """Skip white space and comments. Returns False if a comment is not closed."""
        while True:
            while self.peek_char() and self.peek_char() in " \t":
                self.at += 1
            if self.peek_char() != "(":
                return True
            depth = 0
            while self.at < len(self.text):
                char = self.text[self.at]
                self.at += 1
                if char == "\\":
                    self.at += 1
                elif char == "(":
                    depth += 1
                elif char == ")":
                    depth -= 1
                    if not depth:
                        break
            if depth:
                return False

    def read_atom(self, lax: bool = False) -> str:
        start = self.at
        while char := self.peek_char():
            if char in _ATEXT or ord(char) > 0x7F or char == ".":
                self.at += 1
            else:
                break
        word = self.text[start : self.at]
        if not lax and (word.startswith(".") or word.endswith(".") or ".." in word):
            return ""
        return word

    def read_quoted(self) -> str | None:
        self.at += 1
        characters: list[str] = []
        while char := self.peek_char():
            self.at += 1
            if char == '"':
                return "".join(characters)
            if char == "\\":
                char = self.peek_char()
                self.at += 1
                if not char:
                    return None
            if (ord(char) < 0x20 and char != "\t") or char == "\x7f":
                return None
            characters.append(char)
        return None

    def read_address(self) -> bool:
        if self.peek_char() == '"':
            local = self.read_quoted()
            if not local:
                return False
        elif not self.read_atom():
            return False
        if not self.space_only() or self.peek_char() != "@":
            return False
        self.at += 1
        if not self.space_only() or not self.peek_char():
            return False
        if self.peek_char() == "[":
            end = self.text.find("]", self.at)
            literal = self.text[self.at + 1 : end] if end >= 0 else ""
            self.at = end + 1
            return end >= 0 and (_is_strict(literal) or literal.startswith("IPv6:"))
        return bool(self.read_atom())

    def space_only(self) -> bool:
        while self.peek_char() and self.peek_char() in " \t":
            self.at += 1
        return True

    def read_phrase(self) -> bool:
        """Read a display name: words, quoted or not. Returns False if there is none."""
        words = 0
        while True:
            if not self.skip_space():
                return False
            if self.peek_char() == '"':
                if self.read_quoted() is None:
                    return False
            elif not self.read_atom(lax=True):
                return words > 0
            words += 1


def is_email(text: str) -> bool:
    """Return whether a text is one e-mail address, with or without a display name."""
    reader = _MailReader(text)
    if not reader.skip_space() or not reader.peek_char():
        return False
    start = reader.at
    if not reader.read_address():
        reader.at = start
        if reader.peek_char() != "<" and not reader.read_phrase():
            return False
        if not reader.skip_space() or reader.peek_char() != "<":
            return False
        reader.at += 1
        if not reader.space_only() or not reader.read_address() or not reader.space_only() or reader.peek_char() != ">":
            return False
        reader.at += 1
    return reader.skip_space() and reader.at >= len(text)
