"""A webhook for tests: an HTTPS server on a thread, with a certificate of its own."""

from __future__ import annotations

import base64
import datetime
import http.server
import ipaddress
import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# what a webhook answers to a decoded body: a document, or bytes with their own status and type
Answer = Callable[[Any], Any]


class Raw(tuple[int, str, bytes]):
    """An answer as it is: status, Content-Type, body."""


class Webhook:
    """A running webhook. url: where it is. bundle: its certificate as caBundle. calls: the bodies so far."""

    def __init__(self, answer: Answer, *, tls: bool = True, names: tuple[str, ...] = ("localhost",)) -> None:
        self.answer = answer
        self.calls: list[Any] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.bundle = ""
        if tls:
            certificate, key = _certificate(names)
            self.bundle = base64.b64encode(certificate).decode()
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "pem"
                path.write_bytes(certificate + key)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(path)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self.url = f"https://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def config(self) -> dict[str, Any]:
        """A clientConfig."""
        return {"url": f"{self.url}/hook", "caBundle": self.bundle}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                webhook.calls.append(body)
                webhook.paths.append(self.path)
                webhook.headers.append(dict(self.headers))
                given = webhook.answer(body)
                status, media, raw = given if isinstance(given, Raw) else (200, "application/json", _json(given))
                self.send_response(status)
                self.send_header("Content-Type", media)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on the terminal."""

        return Handler


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


@contextmanager
def webhook(answer: Answer, **options: Any) -> Iterator[Webhook]:
    """A webhook for the time of a with block."""
    running = Webhook(answer, **options)
    try:
        yield running
    finally:
        running.close()


def _certificate(names: tuple[str, ...]) -> tuple[bytes, bytes]:
    """A self-signed certificate for 127.0.0.1 and these names, and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    now = datetime.datetime.now(datetime.UTC)
    alternatives = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), *map(x509.DNSName, names)]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM), private
