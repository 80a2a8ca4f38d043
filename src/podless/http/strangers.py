"""Client certificates that are not good: there is a connection, and what is asked over it gets a 401.

OpenSSL would end the handshake, and the module ssl has no say in that. So each chain is judged when it arrives, as Go
judges it, and OpenSSL is told to trust the certificate of a stranger as it stands; the judgement stays with the
connection. What OpenSSL refuses for other reasons (a key too weak, a certificate for servers only) gets none.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

from podless.meta import clock

_MOST = 256  # certificates of strangers that one context takes, then a new one is made; and of friends
_READ, _HANDSHAKE, _CERTIFICATE, _TLS13 = "read", 22, 11, 0x0304
_ANY_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which the module has no name for
# the same property without the step that turns each number into a member of an enumeration
_HOOK = vars(ssl.SSLContext.__mro__[1]).get("_msg_callback")


class Handshake(ssl.SSLObject):
    """One connection's TLS."""

    judged: bool | None = None

    def trusted(self, certificate: bytes) -> bool:
        """Whether the client's certificate (DER) is good. In a session that goes on it was not sent again."""
        self._judge(certificate)
        return self.judged is True

    def over(self) -> None:
        """The handshake is: from now on nobody hears of each record, which costs as much as to encrypt a short one."""
        if isinstance(self.context, Context):
            self._judge(self.getpeercert(True))  # the context that is left knows nobody
            self.context = self.context.deaf

    def _judge(self, certificate: bytes | None) -> None:
        if self.judged is None and certificate is not None:
            context = self.context
            self.judged = _HOOK is None or (isinstance(context, Context) and context.known(certificate))


class Context(ssl.SSLContext):
    """A server's TLS that asks for a client's certificate. Made by `context`. deaf: one that hears of no messages."""

    deaf: ssl.SSLContext
    roots: tuple[bytes, ...] = ()
    late = False  # only stands for the one that is made when it is needed
    again: Callable[[], Context]
    strangers = 0
    _newer: Context | None = None
    _friends: dict[bytes, None]  # digests of good certificates, the oldest first

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        """As in ssl.SSLContext. What is remembered of strangers is forgotten where it gets too much."""
        now = self._newer or self
        if now.late or now.strangers >= _MOST:
            now = self._newer = self.again()
        return ssl.SSLContext.wrap_bio(now, *arguments, **named)

    def renew(self) -> None:
        """Have later connections begin with what is in the files now. Raises what making a context raises."""
        self._newer = self.again()

    def good(self, chain: list[bytes]) -> bool:
        """Whether a client's certificates (DER), its own first, lead to one of the authorities."""
        # cryptography takes longer to import than the rest of a start, and few clients have certificates
        from podless.remote import trust

        authorities = [one for pem in self.roots for one in trust.authorities(pem)]
        try:
            trust.judge_client(chain, authorities, clock.moment())
        except trust.Untrusted:
            return False
        self._friends[sha256(chain[0]).digest()] = None
        if len(self._friends) > _MOST:
            del self._friends[next(iter(self._friends))]
        return True

    def known(self, certificate: bytes) -> bool:
        """Whether a certificate is good by itself, or was in a chain that was sent before."""
        return sha256(certificate).digest() in self._friends or self.good([certificate])

    def hear(self, tls: object, direction: str, version: int, content: int, message: int, data: bytes) -> None:
        """What OpenSSL says of every message. A client's certificate is judged before OpenSSL does."""
        if message != _CERTIFICATE or content != _HANDSHAKE or direction != _READ or not isinstance(tls, Handshake):
            return
        chain = _chain(data, version)
        if not chain:
            return
        tls.judged = self.good(chain)
        if not tls.judged:
            self.strangers += 1
            with contextlib.suppress(ssl.SSLError, ValueError):
                self.load_verify_locations(cadata=chain[0])


def context(roots: Iterable[bytes], again: Callable[[], Context]) -> Context:
    """A context that takes strangers. roots: the authorities, in PEM; again: makes another one like it."""
    made = Context(ssl.PROTOCOL_TLS_SERVER)
    made.verify_mode = ssl.CERT_OPTIONAL
    made.sslobject_class = Handshake
    made.roots = tuple(roots)
    made.again = again
    made.deaf = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made._friends = {}
    if _HOOK is not None:
        made.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        made.verify_flags |= _ANY_TIME
        _HOOK.__set__(made, made.hear)
    return made


def later(make: Callable[[], Context]) -> Context:
    """A context that is made when there is a connection, or `renew` is called."""
    made = Context(ssl.PROTOCOL_TLS_SERVER)
    made.late, made.again = True, make
    return made


def _chain(data: bytes, version: int) -> list[bytes]:
    """The certificates in a message of that name (RFC 8446 section 4.4.2, RFC 5246 section 7.4.2)."""
    at = 4  # behind the message's type and length
    extended = version >= _TLS13
    if extended:
        at += 1 + (data[at] if at < len(data) else 0)
    at += 3
    found = []
    while at + 3 <= len(data):
        length = int.from_bytes(data[at : at + 3], "big")
        found.append(bytes(data[at + 3 : at + 3 + length]))
        at += 3 + length
        if extended:
            at += 2 + int.from_bytes(data[at : at + 2], "big")
    return found
