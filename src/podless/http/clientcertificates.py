"""Rejects invalid client certificates with a 401 on their connection.

OpenSSL would end the handshake instead, and the module ssl cannot change that. So each chain is checked when it
arrives, with Go's rules, and OpenSSL knows no authority at all: for the rest of the handshake it gets a context that
trusts this one certificate, whatever it is, and the result stays with the connection. OpenSSL still rejects keys that
are too weak.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

from podless.runtime import clock

log = logging.getLogger("podless")

_MOST = 256  # certificates that are remembered as good
_CONTEXTS = 32  # contexts that trust one certificate: a new one takes 0.3 ms
_SAY = 10.0  # seconds between two lines about certificates that are not good
# X509_CERT_AUX of OpenSSL: trusted for clients (1.3.6.1.5.5.7.3.2), whatever the certificate says that it is for
_FOR_CLIENTS = bytes.fromhex("300c300a06082b06010505070302")
_READ, _HANDSHAKE, _CERTIFICATE, _TLS13 = "read", 22, 11, 0x0304
# X509_V_FLAG_NO_CHECK_TIME and X509_V_FLAG_IGNORE_CRITICAL, which the module has no names for
_LENIENT = 0x200000 | 0x10
_FILES = "/proc/self/fd"
_IN_MEMORY = hasattr(os, "memfd_create") and os.path.exists(_FILES)
# the same property without the step that turns each number into a member of an enumeration
_HOOK = vars(ssl.SSLContext.__mro__[1]).get("_msg_callback")


class Handshake(ssl.SSLObject):
    """One connection's TLS."""

    judged: bool | None = None

    def trusted(self, certificate: bytes) -> bool:
        """Return whether the client's certificate (DER) is good. In a session that goes on it was not sent again."""
        self._judge(certificate)
        return self.judged is True

    def over(self) -> None:
        """End the handshake. Later records are not reported, because that costs as much as encrypting a short one."""
        if isinstance(self.context, Context):
            self._judge(self.getpeercert(True))  # the remaining context trusts no certificate
            self.context = self.context.untracked

    def _judge(self, certificate: bytes | None) -> None:
        if self.judged is None and certificate is not None:
            context = self.context
            self.judged = _HOOK is None or (isinstance(context, Context) and context.is_trusted(certificate))


class Context(ssl.SSLContext):
    """A server's TLS that asks for a client's certificate. Made by `client_certificate_context`.

    untracked: one that tells of no messages.
    """

    untracked: ssl.SSLContext
    roots: tuple[bytes, ...] = ()
    late = False  # only stands for the one that is made when it is needed
    again: Callable[[], Context]
    _newer: Context | None = None
    _trusting: dict[bytes, ssl.SSLContext]  # by digest, the ones that trust one certificate, the oldest first
    _trusted: dict[bytes, None]  # digests of good certificates, the oldest first
    _said = -_SAY
    _unsaid = 0

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        """Wrap a connection as ssl.SSLContext does, with the context that `renew` made."""
        now = self._newer or self
        if now.late:
            now = self._newer = self.again()
        return ssl.SSLContext.wrap_bio(now, *arguments, **named)

    def renew(self) -> None:
        """Use the present files for later connections. Raises what making a context raises."""
        self._newer = self.again()

    def judge(self, chain: list[bytes]) -> str:
        """Return why a client's chain (DER, its own certificate first) leads to no authority; "" if it does."""
        # cryptography takes longer to import than the rest of a start, and few clients have certificates
        from podless.remote import trust

        authorities = [one for pem in self.roots for one in trust.parse_authorities(pem)]
        try:
            trust.judge_client(chain, authorities, clock.utc_now())
        except trust.Untrusted as error:
            return str(error)
        except Exception as error:  # cryptography has many ways to say that it cannot read a certificate
            return f"{type(error).__name__}: {error}"
        self._trusted[sha256(chain[0]).digest()] = None
        if len(self._trusted) > _MOST:
            del self._trusted[next(iter(self._trusted))]
        return ""

    def is_trusted(self, certificate: bytes) -> bool:
        """Return whether a certificate is good by itself, or was in a chain that was sent before."""
        return sha256(certificate).digest() in self._trusted or not self.judge([certificate])

    def judge_message(self, tls: object, direction: str, version: int, content: int, message: int, data: bytes) -> None:
        """Check a client's certificate when OpenSSL reports the message, before OpenSSL checks it."""
        if message != _CERTIFICATE or content != _HANDSHAKE or direction != _READ or not isinstance(tls, Handshake):
            return
        chain = _chain(data, version)
        if not chain:
            return
        why = self.judge(chain)
        tls.judged = not why
        tls.context = self._only(chain[0])
        if why:
            self._log_untrusted(chain[0], why)

    def _only(self, certificate: bytes) -> ssl.SSLContext:
        """Return a context that trusts only this certificate."""
        digest = sha256(certificate).digest()
        made = self._trusting.get(digest)
        if made is None:
            made = self._trusting[digest] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            made.verify_mode = ssl.CERT_OPTIONAL  # else the module tells nothing of the certificate
            _trust_certificate(made, certificate)
            if len(self._trusting) > _CONTEXTS:
                del self._trusting[next(iter(self._trusting))]
        return made

    def _log_untrusted(self, certificate: bytes, why: str) -> None:
        """Log that a certificate is not good; the others of the next seconds are only counted."""
        now = time.monotonic()
        if now < self._said + _SAY:
            self._unsaid += 1
            return
        more = f" (and {self._unsaid} more)" if self._unsaid else ""
        self._said, self._unsaid = now, 0
        log.warning("tls: client certificate %s is rejected: %s%s", sha256(certificate).hexdigest()[:16], why, more)


def _trust_certificate(context: ssl.SSLContext, certificate: bytes) -> None:
    """Make OpenSSL trust a certificate (DER) as it is. Unreadable ones are rejected by OpenSSL."""
    body = base64.encodebytes(certificate + _FOR_CLIENTS)
    pem = b"-----BEGIN TRUSTED CERTIFICATE-----\n" + body + b"-----END TRUSTED CERTIFICATE-----\n"
    with contextlib.suppress(ssl.SSLError, OSError):  # the module takes such texts from files only
        if _IN_MEMORY:
            file = os.memfd_create("certificate")
            try:
                os.write(file, pem)
                context.load_verify_locations(f"{_FILES}/{file}")
            finally:
                os.close(file)
        else:
            with tempfile.NamedTemporaryFile() as other:
                other.write(pem)
                other.flush()
                context.load_verify_locations(other.name)


def client_certificate_context(roots: Iterable[bytes], again: Callable[[], Context]) -> Context:
    """Return a context that judges client certificates itself.

    roots: the authorities, in PEM. again: makes another one like it.
    """
    made = Context(ssl.PROTOCOL_TLS_SERVER)
    made.verify_mode = ssl.CERT_OPTIONAL
    made.sslobject_class = Handshake
    made.roots = tuple(roots)
    made.again = again
    made.untracked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.untracked.verify_mode = ssl.CERT_OPTIONAL  # as in `_only`
    made._trusting, made._trusted = {}, {}
    if _HOOK is None:
        for pem in made.roots:
            made.load_verify_locations(cadata=pem.decode("ascii", "ignore"))
    else:
        made.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        made.verify_flags |= _LENIENT
        _HOOK.__set__(made, made.judge_message)
    return made


def deferred_context(make: Callable[[], Context]) -> Context:
    """Return a context that is created at the first connection, or by `renew`."""
    made = Context(ssl.PROTOCOL_TLS_SERVER)
    made.late, made.again = True, make
    return made


def _chain(data: bytes, version: int) -> list[bytes]:
    """Return the certificates in a message of that name (RFC 8446 section 4.4.2, RFC 5246 section 7.4.2)."""
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
