"""The server's certificates: a CA and a certificate of podless, made on the first start, renewed and reloaded."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
import ssl
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podless.http import clientcertificates
from podless.runtime import clock
from podless.runtime.files import describe_fault, write_file
from podless.runtime.option import StartError

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

log = logging.getLogger("podless")

OLDEST = ssl.TLSVersion.TLSv1_2  # minimum version of TLS
_CA_TIME = timedelta(days=3650)
_SERVER_TIME = timedelta(days=365)
_RENEW = timedelta(days=30)
_SKEW = timedelta(minutes=5)
_INTERVAL = 10.0  # seconds between two checks of the files
_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "127.0.0.1",
    "::1",
)
_LABEL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_SIOCGIFADDR = 0x8915  # returns the IPv4 address of an interface (Linux)
_INET6 = Path("/proc/net/if_inet6")
_LINK_LOCAL = "20"
# tags and the end of a certificate in DER and PEM
_SEQUENCE, _INTEGER, _VERSION, _UTC_TIME, _TIME = 0x30, 0x02, 0xA0, 0x17, 0x18
_END = "-----END CERTIFICATE-----"

FileState = tuple[int, int, int] | None  # inode, size and time of a file, None if it is missing


class BadCertificate(StartError):
    """A certificate or key on disk is unusable. The text is one line for a user."""


class Certificates:
    """The certificates in a folder: ca.crt, ca.key, server.crt and server.key.

    files: the server's certificate (with intermediates) and key, if the user provides them.
    """

    def __init__(self, folder: Path, files: tuple[Path, Path] | None = None) -> None:
        self.authority = folder / "ca.crt"
        self.authority_key = folder / "ca.key"
        self._is_given = files is not None
        self._server, self._server_key = files or (folder / "server.crt", folder / "server.key")

    @property
    def files(self) -> tuple[Path, Path]:
        """The server's certificate and its key."""
        return self._server, self._server_key

    def read_trust(self) -> str:
        """Return the PEM text with which clients verify the server. Raises OSError."""
        return (self._server.read_text() if self._is_given else "") + self.authority.read_text()

    def create_missing(self, names: Iterable[str]) -> None:
        """Create missing files, and a new server certificate if the old one expires soon or lacks a name.

        Raises BadCertificate for damaged files, OSError for a folder that cannot be written.
        """
        required = list(dict.fromkeys([*_NAMES, *names]))
        if self.ensure_authority():
            if not self._is_given:
                self._make_server(required)
        elif self._is_given:
            return
        elif not (self._server.exists() and self._server_key.exists()) or self._is_stale(required):
            self._make_server(required)

    def ensure_authority(self) -> bool:
        """Create the CA if there is none. Returns whether it is new. Raises OSError."""
        if self.authority.exists() and self.authority_key.exists():
            return False
        self._make_authority()
        return True

    def make_context(self, clients: Path | None = None) -> clientcertificates.TLSContext:
        """Return a context for TLS 1.2 or newer with the server's certificate, and HTTP/1.1 by ALPN.

        Raises BadCertificate. clients: a file of additional CAs for client certificates. Clients need no certificate;
        an invalid one is answered with 401.
        """
        files = [path for path in (self.authority, clients) if path is not None]
        try:
            roots = [path.read_bytes() for path in files]
        except OSError as error:
            raise BadCertificate(describe_fault(error)) from None
        for authorities in files:
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(authorities)
            except ssl.SSLError:
                raise BadCertificate(f"{authorities}: not a PEM file with certificates") from None
            except OSError as error:
                raise BadCertificate(describe_fault(error, authorities)) from None
        context = clientcertificates.client_certificate_context(roots, lambda: self.make_context(clients))
        context.minimum_version = OLDEST
        context.set_alpn_protocols(["http/1.1"])
        self._load_pair(context)
        return context

    def _load_pair(self, context: ssl.SSLContext) -> None:
        """Load the server's certificate with its key. Raises BadCertificate."""
        try:
            for path, label in ((self._server, b"CERTIFICATE"), (self._server_key, b"PRIVATE KEY")):
                text = path.read_bytes()
                if label not in text:
                    raise BadCertificate(f"{path}: not a PEM file with a {label.decode().lower()}")
                if b"ENCRYPTED" in text:  # OpenSSL would ask for it on the terminal
                    raise BadCertificate(f"{path}: the key has a passphrase: remove it, as with openssl pkey")
            context.load_cert_chain(self._server, self._server_key)
        except ssl.SSLError as error:
            raise BadCertificate(
                f"{self._server}: not a certificate with the key {self._server_key} ({error})"
            ) from None
        except OSError as error:
            raise BadCertificate(describe_fault(error)) from None

    def issue_client(self, user: str, groups: Iterable[str], days: int) -> tuple[bytes, bytes]:
        """Return a new client certificate and its key, both in PEM, for a user in groups.

        Raises BadCertificate, OSError.
        """
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        until = min(_machine_time() + timedelta(days=days), self._read_authority().not_valid_after_utc)
        return self._issue_certificate(subject, until, usage)

    def _issue_certificate(
        self, subject: x509.Name, until: datetime, *extensions: x509.ExtensionType
    ) -> tuple[bytes, bytes]:
        """Return a new certificate, signed by the CA, and its key, both in PEM. Raises BadCertificate, OSError."""
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        issuer, signer = self._read_authority().subject, self._load_signer()
        key = ec.generate_private_key(ec.SECP256R1())
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        basic = x509.BasicConstraints(ca=False, path_length=None)
        signed = {basic: True, **dict.fromkeys((*extensions, identifier), False)}
        return _sign_certificate(key, subject, until, issuer, signer, signed), _encode_pem(key)

    def _load_signer(self) -> EllipticCurvePrivateKey:
        """Return the CA's key. Raises BadCertificate, OSError."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        try:
            signer = serialization.load_pem_private_key(self.authority_key.read_bytes(), None)
        except ValueError:
            raise BadCertificate(f"{self.authority_key}: not a private key") from None
        if not isinstance(signer, ec.EllipticCurvePrivateKey):
            raise BadCertificate(f"{self.authority_key}: not an EC key")
        return signer

    def _read_authority(self) -> x509.Certificate:
        from cryptography import x509

        try:
            return x509.load_pem_x509_certificate(self.authority.read_bytes())
        except ValueError:
            raise _not_a_certificate(self.authority) from None

    def _is_stale(self, required: list[str]) -> bool:
        # a file beside the certificate has the names that it was made for
        try:
            known_names = self._names_file().read_text().split()
            begins, ends = read_validity(self._server.read_text())
        except OSError:
            return True
        except ValueError:
            raise _not_a_certificate(self._server) from None
        now = _machine_time()
        return not begins <= now < ends - _RENEW or not set(required) <= set(known_names)

    def _names_file(self) -> Path:
        return self._server.with_name("server.names")

    def _make_authority(self) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        key, name = ec.generate_private_key(ec.SECP256R1()), _make_name("podless-ca")
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        extensions = {x509.BasicConstraints(ca=True, path_length=None): True, usage: True, identifier: False}
        certificate = _sign_certificate(key, name, _machine_time() + _CA_TIME, name, key, extensions)
        write_file(self.authority_key, _encode_pem(key), 0o600)
        write_file(self.authority, certificate, 0o644)

    def _make_server(self, names: list[str]) -> None:
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID

        alternative_names = x509.SubjectAlternativeName([_make_alternative_name(name) for name in names])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        until = _machine_time() + _SERVER_TIME
        certificate, key = self._issue_certificate(_make_name("podless"), until, alternative_names, usage)
        write_file(self._server_key, key, 0o600)
        write_file(self._server, certificate, 0o644)
        write_file(self._names_file(), "\n".join(names).encode(), 0o644)


def _sign_certificate(
    key: EllipticCurvePrivateKey,
    subject: x509.Name,
    until: datetime,
    issuer: x509.Name,
    signer: EllipticCurvePrivateKey,
    extensions: Mapping[Any, bool],
) -> bytes:
    """Return a certificate for a key, valid from now on, in PEM. extensions: with whether they are critical."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(_machine_time() - _SKEW).not_valid_after(until)
    for extension, is_critical in extensions.items():
        builder = builder.add_extension(extension, is_critical)
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _not_a_certificate(path: Path) -> BadCertificate:
    return BadCertificate(f"{path}: not a certificate; remove it, and podless makes a new one")


def _machine_time() -> datetime:
    """Return the machine's time, because clients check certificates with their own clocks, not with a test's."""
    return datetime.fromtimestamp(clock.wall_time(), UTC)


def _make_name(common: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _make_alternative_name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _encode_pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def read_validity(pem: str) -> tuple[datetime, datetime]:
    """Return notBefore and notAfter of the first certificate in a PEM text. Raises ValueError.

    Without the cryptography package, whose import takes long. Source: RFC 5280, section 4.1.
    """
    start = pem.find("-----BEGIN CERTIFICATE-----")
    end = pem.find(_END, start)
    if start < 0 or end < 0:
        raise ValueError("no certificate")
    der = ssl.PEM_cert_to_DER_cert(pem[start : end + len(_END)])
    try:
        certificate = _split_der(_split_der(der)[0][1])
        fields = [field for field in _split_der(certificate[0][1]) if field[0] != _VERSION]
    except IndexError:
        raise ValueError("not a certificate") from None
    # the fields before: serial number, algorithm, issuer
    if [tag for tag, _ in fields[:4]] != [_INTEGER, _SEQUENCE, _SEQUENCE, _SEQUENCE]:
        raise ValueError("not a certificate")
    begins, ends = (_parse_time(tag, text) for tag, text in _split_der(fields[3][1]))
    return begins, ends


def _split_der(data: bytes) -> list[tuple[int, bytes]]:
    """Return tags and contents of consecutive DER elements."""
    elements, offset = [], 0
    while offset < len(data):
        if offset + 2 > len(data):
            raise ValueError("cut off")
        tag, length = data[offset], data[offset + 1]
        offset += 2
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[offset : offset + count], "big")
            offset += count
        if offset + length > len(data):
            raise ValueError("cut off")
        elements.append((tag, data[offset : offset + length]))
        offset += length
    return elements


def _parse_time(tag: int, text: bytes) -> datetime:
    if tag not in (_UTC_TIME, _TIME) or not text.endswith(b"Z"):
        raise ValueError("not a time")
    year = text.decode("ascii")
    if tag == _UTC_TIME:
        year = f"{'19' if year[:2] >= '50' else '20'}{year}"
    return datetime.fromisoformat(f"{year[:8]}T{year[8:]}")  # strptime imports more modules


def parse_names(text: str) -> tuple[str, ...]:
    """Return the DNS names and addresses in a comma-separated list. Raises ValueError."""
    return tuple(_validate_name(segment.strip()) for segment in text.split(",") if segment.strip())


def _validate_name(name: str) -> str:
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        labels = name.removeprefix("*.").removesuffix(".").split(".")
        if len(name) > 253 or not all(0 < len(label) < 64 and set(label) <= _LABEL for label in labels):
            raise ValueError(f"{name!r} is neither a DNS name nor an address") from None
        return name


def own_names() -> list[str]:
    """Return the names and addresses under which other hosts may know this one."""
    addresses = [socket.gethostname(), socket.getfqdn()]
    # only Linux supports this request; other systems use only the host names
    with contextlib.suppress(OSError, ImportError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        import fcntl

        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # an interface without an IPv4 address
                answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                addresses.append(socket.inet_ntoa(answer[20:24]))
    with contextlib.suppress(OSError):
        for line in _INET6.read_text().splitlines():
            columns = line.split()
            if columns[3] != _LINK_LOCAL:
                addresses.append(str(ipaddress.IPv6Address(bytes.fromhex(columns[0]))))
    sound = []
    for name in addresses:
        with contextlib.suppress(ValueError):
            sound.append(_validate_name(name))
    return list(dict.fromkeys(sound))


class CertificateRotation:
    """A server's TLS context, made from its files at first use and updated when they change.

    names: DNS names and addresses for the server's own certificate. clients: a file of CAs for client certificates.
    context: for connections.
    """

    def __init__(self, certificates: Certificates, names: Sequence[str], clients: Path | None = None) -> None:
        self._certificates = certificates
        self._names = names
        self._clients = clients
        self._last_state: list[FileState] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.context = clientcertificates.deferred_context(self._load_context)

    def _load_context(self) -> clientcertificates.TLSContext:
        self._certificates.create_missing(self._names)
        self._last_state = self._read_state()
        return self._certificates.make_context(self._clients)

    def make_context(self) -> None:
        """Make the context now. Raises BadCertificate, OSError."""
        self.context.reload_files()

    def start(self) -> None:
        """Start to check the files regularly."""
        self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._reload_clients)

    def stop(self) -> None:
        """Stop watching the files."""
        if self._timer is not None:
            self._timer.cancel()

    def _reload_clients(self) -> None:
        self.reload_changed()
        self.start()

    def reload_changed(self) -> None:
        """Load certificates that have changed since they were loaded.

        If the new ones are invalid, the former ones stay in use, and an error is logged.
        """
        if self._last_state is None:
            return
        try:
            self._certificates.create_missing(self._names)
            if self._read_state() != self._last_state:
                self.context.reload_files()
                log.info("tls: reloaded the server's certificate: %s", self._certificates.files[0])
        except (BadCertificate, OSError) as error:
            log.error("tls: kept the former server certificate: %s", error)

    def _read_state(self) -> list[FileState]:
        return [_identify_file(path) for path in self._certificates.files]


def _identify_file(path: Path) -> FileState:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
