"""podless envtest: the programs that controller-runtime's envtest starts."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from podless.apis import features
from podless.cli import envtest, main
from podless.http.nonresource import version_info
from podless.http.tls import Certificates


@pytest.fixture
def assets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = tmp_path / "some assets"
    assert main(["envtest", str(folder)]) == 0
    assert capsys.readouterr().out == f"export KUBEBUILDER_ASSETS='{folder}'\n"
    return folder


def free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def start() -> Iterator[Any]:
    running: list[subprocess.Popen[str]] = []

    def begin(*command: str) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
        )
        return running[-1]

    yield begin
    for child in running:
        child.terminate()
        child.wait()


def well(child: subprocess.Popen[str], url: str, context: ssl.SSLContext | None = None) -> str:
    """What a health check answers, once the program says that it serves."""
    assert child.stdout is not None
    assert child.stdout.readline().startswith("podless ")
    with urllib.request.urlopen(url, context=context, timeout=60) as answer:
        return str(answer.read().decode())


def test_etcd_says_that_it_is_well(assets: Path, start: Any) -> None:
    port = free()
    child = start(str(assets / "etcd"), f"--listen-client-urls=http://127.0.0.1:{port}", "--unsafe-no-fsync=true")
    assert json.loads(well(child, f"http://127.0.0.1:{port}/health"))["health"] == "true"


def test_kube_apiserver_serves_with_the_certificates_of_its_folder(assets: Path, tmp_path: Path, start: Any) -> None:
    folder = tmp_path / "certificates"
    folder.mkdir()
    made = Certificates(folder)
    made.create_missing(["127.0.0.1"])
    (folder / "server.crt").rename(folder / "apiserver.crt")
    (folder / "server.key").rename(folder / "apiserver.key")
    port = free()
    child = start(
        str(assets / "kube-apiserver"),
        "--advertise-address=127.0.0.1",
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        "--bind-address=127.0.0.1",
        f"--cert-dir={folder}",
        f"--client-ca-file={folder}/ca.crt",
        "--disable-admission-plugins=ServiceAccount",
        "--etcd-servers=http://127.0.0.1:1",
        f"--secure-port={port}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--some-flag=1",
    )
    context = ssl.create_default_context(cafile=folder / "ca.crt")
    assert well(child, f"https://127.0.0.1:{port}/readyz", context) == "ok"
    assert child.stderr.readline() == "podless: ignored flags: --some-flag\n"


def self_signed(folder: Path, name: str, subject: x509.Name, *names: x509.GeneralName) -> None:
    """A key and a certificate without extensions but for names, which is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=365))
    if names:
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    (folder / f"{name}.crt").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (folder / f"{name}.key").write_bytes(plain)


def test_kube_api_test_for_java_finds_what_it_starts(assets: Path, tmp_path: Path, start: Any) -> None:
    # the flags that it gives, with their repetitions, in its order; and certificates as it makes them
    folder, (client, peer, secure) = tmp_path / "dir", (free(), free(), free())
    folder.mkdir()
    organization = x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "system:masters")
    loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    self_signed(folder, "apiserver", x509.Name([_named("example.org")]), loopback, x509.DNSName("kubernetes"))
    self_signed(folder, "client", x509.Name([organization, _named("kubeapitest")]))
    etcd = start(
        *(str(assets / "etcd"), "-data-dir", str(tmp_path), "-wal-dir", str(tmp_path)),
        *("--listen-client-urls", f"http://0.0.0.0:{client}", "--advertise-client-urls", f"http://0.0.0.0:{client}"),
        *("--initial-cluster", f"default=http://localhost:{peer}"),
        *("--initial-advertise-peer-urls", f"http://localhost:{peer}"),
        *("--listen-peer-urls", f"http://localhost:{peer}"),
    )
    assert json.loads(well(etcd, f"http://127.0.0.1:{client}/health"))["health"] == "true"
    server = start(
        *(str(assets / "kube-apiserver"), "--cert-dir", str(folder), "--secure-port", str(secure)),
        *("--etcd-servers", f"http://0.0.0.0:{client}", "--authorization-mode", "RBAC"),
        *("--service-account-issuer", "https://localhost"),
        *("--service-account-signing-key-file", str(folder / "apiserver.key")),
        *("--service-account-signing-key-file", str(folder / "apiserver.key")),
        *("--service-account-key-file", str(folder / "apiserver.key")),
        *("--service-account-issuer", str(folder / "apiserver.crt")),
        *("--disable-admission-plugins", "ServiceAccount", "--client-ca-file", str(folder / "client.crt")),
        *("--service-cluster-ip-range", "10.0.0.0/24", "--allow-privileged"),
    )
    url = f"https://127.0.0.1:{secure}"
    assert well(server, f"{url}/readyz", ssl._create_unverified_context()) == "ok"
    context = ssl.create_default_context(cafile=folder / "apiserver.crt")
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.load_cert_chain(folder / "client.crt", folder / "client.key")
    with urllib.request.urlopen(f"{url}/api/v1/namespaces/default", context=context, timeout=60) as answer:
        assert json.load(answer)["metadata"]["name"] == "default"
    for child in (etcd, server):
        child.terminate()
        assert "ignored flags" not in child.communicate(timeout=60)[1]


def _named(name: str) -> x509.NameAttribute[str]:
    return x509.NameAttribute(x509.NameOID.COMMON_NAME, name)


def test_flags_that_nothing_is_known_of_are_named(assets: Path, start: Any) -> None:
    child = start(
        str(assets / "etcd"), f"--listen-client-urls=http://127.0.0.1:{free()}", "--some", "x", "--data-dir=x"
    )
    assert child.stderr.readline() == "podless: ignored flags: --some\n"


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_they_say_which_flags_they_take(assets: Path, name: str) -> None:
    done = subprocess.run([assets / name, "--help"], capture_output=True, text=True, check=True, timeout=60)
    told = {line.strip()[2:] for line in done.stdout.splitlines() if line.startswith("  --")}
    if name == "etcd":
        assert {"unsafe-no-fsync", "listen-client-urls", "data-dir"} <= told
    else:
        assert {"secure-port", "bind-address", "cert-dir", "etcd-servers", "authorization-mode", "chaos"} <= told
        assert not {"insecure-port", "data", "memory"} & told  # with it envtest would take this for one before 1.24


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_they_say_a_version(assets: Path, name: str) -> None:
    done = subprocess.run([assets / name, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1].removeprefix("v")[0].isdigit()


def test_the_program_has_the_version_that_the_server_tells(assets: Path) -> None:
    done = subprocess.run([assets / "kube-apiserver", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == version_info()["gitVersion"].partition("+")[0]


@pytest.mark.parametrize(
    ("given", "made", "unknown"),
    [
        (["--secure-port=1", "--bind-address", "::1"], ["--memory", "--port=1", "--bind=::1"], []),
        (["--authorization-mode=Node,RBAC"], ["--memory", "--authorization-mode=RBAC"], []),
        (["--etcd-servers=http://x", "-v", "2"], ["--memory"], []),
        (
            ["--feature-gates=WatchList=false", "--feature-gates=AllAlpha=true"],
            ["--memory", "--feature-gates=WatchList=false", "--feature-gates=AllAlpha=true"],
            [],
        ),
        (["--anonymous-auth=false"], ["--memory", "--no-anonymous-auth"], []),
        (["--cert-dir=/nowhere", "--x", "--data=1"], ["--memory"], ["--x", "--data"]),
        (["--runtime-config=a=true"], ["--memory", "--runtime-config=a=true"], []),
    ],
)
def test_flags_are_those_of_serve_or_named(given: list[str], made: list[str], unknown: list[str]) -> None:
    assert envtest.serve_arguments(envtest.parse_flags(given)) == (made, unknown)


@pytest.mark.parametrize(
    ("given", "baked"),
    [
        (["--enable-faults"], " --enable-faults"),
        (["--chaos", "7"], " --chaos=7"),
        (["--enable-faults", "--chaos=7"], " --enable-faults --chaos=7"),
    ],
)
def test_what_goes_wrong_is_in_the_program(tmp_path: Path, given: list[str], baked: str) -> None:
    assert main(["envtest", str(tmp_path), *given]) == 0
    assert f" kube-apiserver{baked} " in (tmp_path / "kube-apiserver").read_text()
    assert baked not in (tmp_path / "etcd").read_text()
    assert envtest.serve_arguments(envtest.parse_flags(baked.split())) == (["--memory", *baked.split()], [])


def test_a_seed_is_drawn_once_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envtest", str(tmp_path), "--chaos"]) == 0
    seed = capsys.readouterr().err.rpartition(" ")[2].strip()
    assert f" --chaos={seed} " in (tmp_path / "kube-apiserver").read_text()


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["envtest", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.startswith("podless: ")


@pytest.mark.parametrize(
    ("options", "variable", "release"),
    [
        (["--kubernetes-version", "1.32"], "", "1.32"),
        ([], "1.31.0", "1.31"),
        ([], "1.33.x!", "1.33"),
        (["--kubernetes-version", "1.34"], "1.31", "1.34"),
        ([], "latest", features.DEFAULT),
    ],
)
def test_the_programs_are_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], variable: str, release: str
) -> None:
    monkeypatch.setenv("ENVTEST_K8S_VERSION", variable)
    assert main(["envtest", str(tmp_path), *options]) == 0
    done = subprocess.run([tmp_path / "kube-apiserver", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"Kubernetes v{release}.")
    flag = f" --kubernetes-version={release} "
    assert (flag in (tmp_path / "kube-apiserver").read_text()) is (release != features.DEFAULT)
    assert flag not in (tmp_path / "etcd").read_text()


def test_an_unknown_release_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENVTEST_K8S_VERSION", "1.19.2")
    assert main(["envtest", str(tmp_path / "bin")]) == 1
    assert capsys.readouterr().err.startswith("podless: ENVTEST_K8S_VERSION: kubernetes-version: '1.19' is not one of")
    assert not (tmp_path / "bin").exists()
