"""Rejects invalid client certificates with a 401 on their connection.

OpenSSL would end the handshake instead, and the module ssl cannot change that. So each chain is checked when it
arrives, by Go's rules, and OpenSSL knows no CA at all. For the rest of the handshake it gets a context that trusts this
one certificate, whatever it is, and the result stays with the connection. OpenSSL still rejects keys that are too weak.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import ssl
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

from podless.runtime import clock

log = logging.getLogger("podless")

_MAX = 256  # digests of trusted certificates that are cached
_CONTEXTS = 32  # cached contexts, each trusts one certificate; a new one takes 0.3 ms
_SAY = 10.0  # minimum seconds between two log lines about untrusted certificates
# X509_CERT_AUX of OpenSSL: trusted for client authentication (1.3.6.1.5.5.7.3.2), whatever the certificate allows
_FOR_CLIENTS = bytes.fromhex("300c300a06082b06010505070302")
_READ, _HANDSHAKE, _CERTIFICATE, _TLS13 = "read", 22, 11, 0x0304
# X509_V_FLAG_NO_CHECK_TIME and X509_V_FLAG_IGNORE_CRITICAL, which the ssl module does not name
_LENIENT = 0x200000 | 0x10
_FILES = "/proc/self/fd"
_IN_MEMORY = hasattr(os, "memfd_create") and os.path.exists(_FILES)
if not _IN_MEMORY:
    import tempfile
# ssl.SSLContext converts each number to an enum member, which is slow; this is the property below it
_HOOK = vars(ssl.SSLContext.__mro__[1]).get("_msg_callback")


class Handshake(ssl.SSLObject):
    """The TLS of one connection, with the verdict about its client certificate."""

    verdict: bool | None = None

    def is_trusted(self, certificate: bytes) -> bool:
        """Return whether the client's certificate (DER) is trusted. A resumed session does not send its chain again."""
        self._check_certificate(certificate)
        return self.verdict is True

    def end_handshake(self) -> None:
        """End the handshake. Reporting later TLS records would cost as much as encrypting a short one."""
        if isinstance(self.context, TLSContext):
            self._check_certificate(
                self.getpeercert(True)
            )  # the context of the connection trusts no certificate from here on
            self.context = self.context.untracked

    def _check_certificate(self, certificate: bytes | None) -> None:
        if self.verdict is None and certificate is not None:
            context = self.context
            self.verdict = _HOOK is None or (isinstance(context, TLSContext) and context.is_trusted(certificate))


class TLSContext(ssl.SSLContext):
    """A server's TLS context that asks for a client certificate. Made by `client_certificate_context`.

    untracked: a context that reports no messages, for the time after the handshake.
    """

    untracked: ssl.SSLContext
    roots: tuple[bytes, ...] = ()
    is_placeholder = False  # a placeholder whose real context is made at first use
    remake: Callable[[], TLSContext]
    _newer: TLSContext | None = None
    _trusting: dict[bytes, ssl.SSLContext]  # contexts that trust one certificate, by its digest, oldest first
    _trusted: dict[bytes, None]  # digests of trusted certificates, oldest first
    _last_logged = -_SAY
    _unlogged = 0

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        """Wrap a connection as ssl.SSLContext does, with the context that `reload_files` made."""
        now = self._newer or self
        if now.is_placeholder:
            now = self._newer = self.remake()
        return ssl.SSLContext.wrap_bio(now, *arguments, **named)

    def reload_files(self) -> None:
        """Read the files again for later connections. Raises the errors of making a context."""
        self._newer = self.remake()

    def explain_distrust(self, chain: list[bytes]) -> str:
        """Return why a client's chain (DER, its own certificate first) leads to no CA; "" if it does."""
        # imported late: importing cryptography takes longer than the rest of a start, and few clients have certificates
        from podless.remote import trust

        authorities = [authority for pem in self.roots for authority in trust.parse_authorities(pem)]
        try:
            trust.judge_client(chain, authorities, clock.utc_now())
        except trust.Untrusted as error:
            return str(error)
        except Exception as error:  # cryptography raises many types of errors for unreadable certificates
            return f"{type(error).__name__}: {error}"
        self._trusted[sha256(chain[0]).digest()] = None
        if len(self._trusted) > _MAX:
            del self._trusted[next(iter(self._trusted))]
        return ""

    def is_trusted(self, certificate: bytes) -> bool:
        """Return whether a certificate is trusted by itself, or was part of a trusted chain earlier."""
        return sha256(certificate).digest() in self._trusted or not self.explain_distrust([certificate])

    def judge_message(self, tls: object, direction: str, version: int, content: int, message: int, data: bytes) -> None:
        """Check a client's certificate when OpenSSL reports the message, before OpenSSL checks it."""
        if message != _CERTIFICATE or content != _HANDSHAKE or direction != _READ or not isinstance(tls, Handshake):
            return
        chain = _parse_chain(data, version)
        if not chain:
            return
        reason = self.explain_distrust(chain)
        tls.verdict = not reason
        tls.context = self._trust_only(chain[0])
        if reason:
            self._log_untrusted(chain[0], reason)

    def _trust_only(self, certificate: bytes) -> ssl.SSLContext:
        """Return a context that trusts only this certificate."""
        digest = sha256(certificate).digest()
        result = self._trusting.get(digest)
        if result is None:
            result = self._trusting[digest] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            result.verify_mode = ssl.CERT_OPTIONAL  # with CERT_NONE the module does not return the client's certificate
            _trust_certificate(result, certificate)
            if len(self._trusting) > _CONTEXTS:
                del self._trusting[next(iter(self._trusting))]
        return result

    def _log_untrusted(self, certificate: bytes, reason: str) -> None:
        """Log that a certificate is untrusted. Later ones within 10 s are only counted."""
        now = time.monotonic()
        if now < self._last_logged + _SAY:
            self._unlogged += 1
            return
        suffix = f" (and {self._unlogged} more)" if self._unlogged else ""
        self._last_logged, self._unlogged = now, 0
        log.warning(
            "tls: rejected the client certificate with SHA-256 %s...: %s%s",
            sha256(certificate).hexdigest()[:16],
            reason,
            suffix,
        )


def _trust_certificate(context: ssl.SSLContext, certificate: bytes) -> None:
    """Make OpenSSL trust a certificate (DER) as it is. OpenSSL rejects unreadable ones later."""
    body = base64.encodebytes(certificate + _FOR_CLIENTS)
    pem = b"-----BEGIN TRUSTED CERTIFICATE-----\n" + body + b"-----END TRUSTED CERTIFICATE-----\n"
    with contextlib.suppress(ssl.SSLError, OSError):  # the module loads certificates of this type from files only
        if _IN_MEMORY:
            file = os.memfd_create("certificate")
            try:
                os.write(file, pem)
                context.load_verify_locations(f"{_FILES}/{file}")
            finally:
                os.close(file)
        else:
            with tempfile.NamedTemporaryFile() as temporary:
                temporary.write(pem)
                temporary.flush()
                context.load_verify_locations(temporary.name)


def client_certificate_context(roots: Iterable[bytes], remake: Callable[[], TLSContext]) -> TLSContext:
    """Return a context that checks client certificates itself.

    roots: the CAs, in PEM. remake: makes the next such context, for `reload_files`.
    """
    result = TLSContext(ssl.PROTOCOL_TLS_SERVER)
    result.verify_mode = ssl.CERT_OPTIONAL
    result.sslobject_class = Handshake
    result.roots = tuple(roots)
    result.remake = remake
    result.untracked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    result.untracked.verify_mode = (
        ssl.CERT_OPTIONAL
    )  # with CERT_NONE the module does not return the client's certificate
    result._trusting, result._trusted = {}, {}
    if _HOOK is None:
        for pem in result.roots:
            result.load_verify_locations(cadata=pem.decode("ascii", "ignore"))
    else:
        result.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        result.verify_flags |= _LENIENT
        _HOOK.__set__(result, result.judge_message)
    return result


def deferred_context(make: Callable[[], TLSContext]) -> TLSContext:
    """Return a context that makes the real one at the first connection, or in `reload_files`."""
    result = TLSContext(ssl.PROTOCOL_TLS_SERVER)
    result.is_placeholder, result.remake = True, make
    return result


def _parse_chain(data: bytes, version: int) -> list[bytes]:
    """Return the certificates in a Certificate message (RFC 8446 section 4.4.2, RFC 5246 section 7.4.2)."""
    at = 4  # after the message's type and length
    extended = version >= _TLS13
    if extended:
        at += 1 + (data[at] if at < len(data) else 0)
    at += 3
    chains = []
    while at + 3 <= len(data):
        length = int.from_bytes(data[at : at + 3], "big")
        chains.append(bytes(data[at + 3 : at + 3 + length]))
        at += 3 + length
        if extended:
            at += 2 + int.from_bytes(data[at : at + 2], "big")
    return chains
