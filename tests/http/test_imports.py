"""No request has modules imported on the thread of the event loop."""

from __future__ import annotations

import json
import re
import subprocess
import sys

# Columns of built-in kinds, in a module for each group, take up to 6 ms.
LITTLE = re.compile(r"podless\.apis\.\w+\.\w*columns")
PROGRAM = """
import asyncio, importlib.machinery, json, sys, threading, urllib.request
from podless.app import App, Settings

MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PROTOBUF = "application/vnd.kubernetes.protobuf"
APPLIED = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"
REQUESTS = [
    ("GET", MAPS, "application/json", "", None),
    ("GET", MAPS, "application/yaml", "", None),
    ("GET", MAPS, PROTOBUF, "", None),
    ("GET", MAPS, TABLE, "", None),
    ("POST", MAPS, "application/json", "application/yaml", b"metadata: {name: a}"),
    ("PATCH", f"{MAPS}/b?fieldManager=m", "", "application/apply-patch+yaml", APPLIED),
    ("GET", "/openapi/v3", "", "", None),
    ("GET", "/openapi/v3/api/v1", "", "", None),
    ("GET", "/openapi/v2", "", "", None),
    ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", "", "application/json", CSR),
]
loop, found, execute = 0, [], importlib.machinery.SourceFileLoader.exec_module


def exec_module(loader, module):
    if threading.get_ident() == loop:
        found.append(module.__name__)
    execute(loader, module)


def ask(url, token):
    for method, path, accept, given, body in REQUESTS:
        headers = {"Authorization": f"Bearer {token}", "Accept": accept or "*/*", "Content-Type": given}
        with urllib.request.urlopen(urllib.request.Request(url + path, body, headers, method=method)) as answer:
            answer.read()


async def main():
    global loop
    app = App(Settings(tls=False))
    await app.start()
    loop = threading.get_ident()
    await asyncio.to_thread(ask, app.url, app.token)
    loop = 0
    await app.stop()


importlib.machinery.SourceFileLoader.exec_module = exec_module
asyncio.run(main())
print(json.dumps(found))
"""


def make_request() -> bytes:
    """Return a CertificateSigningRequest as JSON."""
    import base64

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a")])
    builder = x509.CertificateSigningRequestBuilder().subject_name(name)
    pem = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(
        serialization.Encoding.PEM
    )
    spec = {
        "request": base64.b64encode(pem).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }
    return json.dumps({"metadata": {"name": "a"}, "spec": spec}).encode()


def test_first_requests_import_nothing_on_the_loop() -> None:
    program = PROGRAM.replace("CSR)", f"{make_request()!r})")
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert [name for name in json.loads(told.stdout) if not LITTLE.fullmatch(name)] == []
