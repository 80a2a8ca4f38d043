"""Parses addresses as Go's net, net/url and net/mail do, for formats that contain them."""

from __future__ import annotations

from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

_HEX = "0123456789abcdefABCDEF"
_PORT = compile_late(r"^:[0-9]*\Z")
_ESCAPE = compile_late("%(?![0-9A-Fa-f]{2})")
_USERINFO = compile_late(r"^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")
_MAC = compile_late(
    r"^(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\2){6}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\3){18}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){3}"
    r"|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){9}|[0-9A-Fa-f]{12}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})\Z"
)


def _dotted(text: str, sloppy: bool) -> bool:
    """Return whether a text is four numbers up to 255 with dots. sloppy: accept leading zeros."""
    parts = text.split(".")
    if len(parts) != 4:
        return False
    for part in each(parts):
        if not part or not part.isascii() or not part.isdigit() or int(part[:12]) > 255:
            return False
        if (not sloppy and len(part) > 1 and part[0] == "0") or len(part) > 12:
            return False
    return True


def _colons(text: str, sloppy: bool) -> bool:
    """Return whether a text is an IPv6 address without a zone, possibly with an IPv4 tail."""
    head, gap, tail = text.partition("::")
    if "::" in tail or tail.startswith(":") or (gap and head.endswith(":")):
        return False
    groups = [part for side in (head, tail) if side for part in each(side.split(":"))]
    count = len(groups)
    if groups and "." in groups[-1]:
        # an IPv4 tail is at the end, not before the gap (::)
        if gap and not tail:
            return False
        if not _dotted(groups.pop(), sloppy):
            return False
        count += 1
    if any(not 1 <= len(group) <= 4 or any(char not in _HEX for char in each(group)) for group in each(groups)):
        return False
    return count <= 7 if gap else count == 8


def _address(text: str, sloppy: bool) -> bool:
    for char in each(text):
        if char == ".":
            return _dotted(text, sloppy)
        if char == ":":
            return _colons(text, sloppy)
    return False


def is_ipv4(text: str) -> bool:
    """Return whether Go parses a text as an address with a dot. Accepts leading zeros and IPv6 with an IPv4 tail."""
    return "." in text and _address(text, sloppy=True)


def is_ipv6(text: str) -> bool:
    """Return whether a text is an address with a colon."""
    return ":" in text and _address(text, sloppy=False)


def is_cidr(text: str) -> bool:
    """Return whether a text is an address, a slash and a prefix length."""
    address, slash, length = text.partition("/")
    if not slash or not _address(address, sloppy=True):
        return False
    if not length.isascii() or not length.isdigit() or len(length) > 8:
        return False
    return int(length) <= (32 if "." in address and ":" not in address else 128)


def is_mac(text: str) -> bool:
    """Return whether a text is 6, 8 or 20 bytes in hexadecimal.

    The digits are in pairs with : or -, in groups of four with dots, or without separators.
    """
    return _MAC.match(text) is not None


def is_uri(text: str) -> bool:
    """Return whether a text is an absolute URI or an absolute path, as in an HTTP request line."""
    if not text or any(ord(char) < 0x20 or ord(char) == 0x7F for char in each(text)):
        return False
    if text == "*":
        return True
    scheme, rest = _scheme(text)
    if scheme is None:
        return False
    rest = rest.split("?", 1)[0]
    if not rest.startswith("/"):
        return bool(scheme)  # opaque, such as mailto:x
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _authority(authority) and not _ESCAPE.search(slash + path)
    return not _ESCAPE.search(rest)


def _scheme(text: str) -> tuple[str | None, str]:
    """Return scheme and rest; the scheme is None if the text cannot be a URI."""
    for index, char in enumerate(each(text)):
        if char.isascii() and char.isalpha():
            continue
        if char in "0123456789+-.":
            if index == 0:
                return "", text
            continue
        if char == ":":
            return (None, "") if index == 0 else (text[:index], text[index + 1 :])
        return "", text
    return "", text


def _authority(text: str) -> bool:
    user, at, host = text.rpartition("@")
    if at and (not _USERINFO.match(user) or _ESCAPE.search(user)):
        return False
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0 or (host[end + 1 :] and not _PORT.match(host[end + 1 :])):
            return False
        inner, _, _zone = host[1:end].partition("%25")
        return _address(inner, sloppy=False) and ":" in inner
    colon = host.find(":")
    if colon >= 0 and not _PORT.match(host[colon:]):  # only one colon is allowed, before the port
        return False
    return not _bad_host(host)


def _bad_host(host: str) -> bool:
    place = 0
    while place < len(host):
        char = host[place]
        if char == "%":
            code = host[place + 1 : place + 3]
            if len(code) < 2 or any(digit not in _HEX for digit in each(code)):
                return True
            if int(code, 16) < 0x80 and code != "25":
                return True  # the percent sign is the only ASCII character that may be escaped in a host
            place += 3
            continue
        if ord(char) < 0x80 and not char.isalnum() and char not in "-_.~!$&'()*+,;=:[]<>\"":
            return True
        place += 1
    return False


_ATEXT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~")


class _Mail:
    """Reads one RFC 5322 address, as leniently as Go's net/mail."""

    def __init__(self, text: str) -> None:
        self.text, self.at = each(text), 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def space(self) -> bool:
        """Skip white space and comments. Returns False if a comment is not closed."""
        while True:
            while self.peek() and self.peek() in " \t":
                self.at += 1
            if self.peek() != "(":
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

    def atom(self, lax: bool = False) -> str:
        start = self.at
        while char := self.peek():
            if char in _ATEXT or ord(char) > 0x7F or char == ".":
                self.at += 1
            else:
                break
        word = self.text[start : self.at]
        if not lax and (word.startswith(".") or word.endswith(".") or ".." in word):
            return ""
        return word

    def quoted(self) -> str | None:
        self.at += 1
        out: list[str] = []
        while char := self.peek():
            self.at += 1
            if char == '"':
                return "".join(out)
            if char == "\\":
                char = self.peek()
                self.at += 1
                if not char:
                    return None
            if (ord(char) < 0x20 and char != "\t") or char == "\x7f":
                return None
            out.append(char)
        return None

    def spec(self) -> bool:
        if self.peek() == '"':
            local = self.quoted()
            if not local:
                return False
        elif not self.atom():
            return False
        if not self.space_only() or self.peek() != "@":
            return False
        self.at += 1
        if not self.space_only() or not self.peek():
            return False
        if self.peek() == "[":
            end = self.text.find("]", self.at)
            inner = self.text[self.at + 1 : end] if end >= 0 else ""
            self.at = end + 1
            return end >= 0 and (_address(inner, False) or inner.startswith("IPv6:"))
        return bool(self.atom())

    def space_only(self) -> bool:
        while self.peek() and self.peek() in " \t":
            self.at += 1
        return True

    def phrase(self) -> bool:
        """Read a display name: words, quoted or not. Returns False if there is none."""
        words = 0
        while True:
            if not self.space():
                return False
            if self.peek() == '"':
                if self.quoted() is None:
                    return False
            elif not self.atom(lax=True):
                return words > 0
            words += 1


def is_email(text: str) -> bool:
    """Return whether a text is one e-mail address, with or without a display name."""
    reader = _Mail(text)
    if not reader.space() or not reader.peek():
        return False
    start = reader.at
    if not reader.spec():
        reader.at = start
        if reader.peek() != "<" and not reader.phrase():
            return False
        if not reader.space() or reader.peek() != "<":
            return False
        reader.at += 1
        if not reader.space_only() or not reader.spec() or not reader.space_only() or reader.peek() != ">":
            return False
        reader.at += 1
    return reader.space() and reader.at >= len(text)
