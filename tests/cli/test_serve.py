"""podless serve: what it says, what it refuses, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from podless.cli import main
from podless.runtime.files import make_private
from podless.runtime.option import StartError
from podless.version import __version__
from tests.conftest import CRDS, Client, definition, gadget

pytestmark = pytest.mark.slow

GROUP = "serve.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


def refused(*arguments: str) -> str:
    """The one line that a serve that cannot start prints."""
    command = [sys.executable, "-m", "podless", "serve", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("podless: ")
    return done.stderr


def test_the_start_says_where_and_what_to_export(serve: Any) -> None:
    process = serve()
    assert process.url.startswith("https://127.0.0.1:")
    assert process.lines[1] == f"export KUBECONFIG={process.folder / 'kubeconfig'}"
    assert (process.folder / "kubeconfig").stat().st_mode & 0o777 == 0o600
    assert (process.folder / "token").stat().st_mode & 0o777 == 0o600
    for key in ("ca.key", "server.key"):
        assert (process.folder / key).stat().st_mode & 0o777 == 0o600


def test_the_certificate_is_good_for_the_authority_in_the_kubeconfig(serve: Any) -> None:
    process = serve()
    context = ssl.create_default_context(cafile=process.folder / "ca.crt")
    host, _, port = process.url.removeprefix("https://").partition(":")
    for name in (host, "localhost"):
        connection = http.client.HTTPSConnection(name, int(port), context=context, timeout=60)
        connection.request("GET", "/readyz")
        assert connection.getresponse().read() == b"ok"
    with socket.create_connection((host, int(port))) as plain:
        old = ssl.create_default_context(cafile=process.folder / "ca.crt")
        old.set_alpn_protocols(["h2", "http/1.1"])
        with old.wrap_socket(plain, server_hostname="localhost") as secured:
            assert secured.selected_alpn_protocol() == "http/1.1"
            assert secured.version() in ("TLSv1.2", "TLSv1.3")


def test_what_makes_the_certificates_does_not_stay_in_memory(serve: Any) -> None:
    process = serve()
    assert "cryptography" not in Path(f"/proc/{process.popen.pid}/maps").read_text()


def test_everything_is_there_after_a_restart(serve: Any) -> None:
    first = serve()
    client = Client(first.url, first.token)
    client.post(CRDS, definition(GROUP))
    made = client.post(OBJECTS, gadget(GROUP, "one", spec={"a": 1})).body
    while client.get(f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{GROUP}").status != 200:
        pass  # the server writes it a moment after the definition
    listed = client.get(OBJECTS).body["metadata"]["resourceVersion"]
    first.popen.send_signal(signal.SIGTERM)
    assert first.popen.wait(60) == 0
    second = serve()
    assert second.token == first.token
    again = Client(second.url, second.token)
    assert again.get(f"{OBJECTS}/one").body == made
    assert again.get(OBJECTS).body["metadata"]["resourceVersion"] == listed
    assert again.get(f"{CRDS}/gadgets.{GROUP}").body["status"]["acceptedNames"]["kind"] == "Gadget"
    # a watch goes on where it was
    again.post(OBJECTS, gadget(GROUP, "two"))
    seen = again.get(f"{OBJECTS}?watch=1&resourceVersion={made['metadata']['resourceVersion']}&timeoutSeconds=1")
    assert seen.body["object"]["metadata"]["name"] == "two"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_open_watches_included(serve: Any, number: signal.Signals) -> None:
    process = serve()
    client = Client(process.url, process.token)
    client.post(CRDS, definition(GROUP))
    host, _, port = process.url.removeprefix("https://").partition(":")
    watches = []
    for _ in range(5):
        connection = http.client.HTTPSConnection(host, int(port), context=ssl._create_unverified_context())
        connection.request("GET", f"{OBJECTS}?watch=1", headers={"Authorization": f"Bearer {process.token}"})
        watches.append(connection.getresponse())
    process.popen.send_signal(number)
    assert process.popen.wait(60) == 0
    assert [watch.read() for watch in watches] == [b""] * 5


def test_nothing_acknowledged_is_lost_when_it_is_killed(serve: Any) -> None:
    process = serve()
    client = Client(process.url, process.token)
    client.post(CRDS, definition(GROUP))
    names = [f"n{i}" for i in range(50)]
    for name in names:
        assert client.post(OBJECTS, gadget(GROUP, name)).status == 201
    process.popen.kill()
    process.popen.wait()
    again = serve()
    listed = Client(again.url, again.token).get(OBJECTS).body
    assert sorted(item["metadata"]["name"] for item in listed["items"]) == sorted(names)


def test_memory_keeps_nothing(serve: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podless", "serve", "--memory", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as popen:
        assert popen.stdout is not None
        popen.stdout.readline()
        kubeconfig = Path(popen.stdout.readline().strip().partition("=")[2])
        assert kubeconfig.exists()
        popen.send_signal(signal.SIGTERM)
        assert popen.wait(60) == 0
    assert not kubeconfig.exists()
    assert list(tmp_path.iterdir()) == []


def test_tokens_of_a_file_are_known(serve: Any, tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text('secret,alice,1,"dev,ops"\nother,bob,2\n')
    process = serve("--token-auth-file", str(file))
    for token in ("secret", "other", process.token):
        assert Client(process.url, token).get("/api").status == 200
    assert Client(process.url, "unknown").get("/api").status == 401


def test_what_others_could_read_is_mended(serve: Any) -> None:
    first = serve()
    first.popen.send_signal(signal.SIGTERM)
    first.popen.wait(60)
    first.folder.chmod(0o755)
    secret = ["podless.db", "token", "ca.key", "server.key", "kubeconfig"]
    for name in secret:
        (first.folder / name).chmod(0o644)
    again = serve()
    modes = {name: stat.S_IMODE((again.folder / name).stat().st_mode) for name in [".", *secret]}
    assert modes == {".": 0o700} | dict.fromkeys(secret, 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_somebody_elses_open_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    os.chown(folder, 1000, 1000)
    make_private(folder)  # root may mend it
    folder.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "chmod", _forbidden)
        with pytest.raises(StartError, match=r"other users have access \(mode 755\), and another user owns it"):
            make_private(folder)


def _forbidden(path: Path, mode: int) -> None:
    raise PermissionError


def test_plain_http_is_served_on_loopback(serve: Any) -> None:
    process = serve("--insecure-http")
    assert process.url.startswith("http://127.0.0.1:")
    assert Client(process.url, process.token).get("/readyz").body == b"ok"
    cluster = json.loads((process.folder / "kubeconfig").read_text())["clusters"][0]["cluster"]
    assert cluster == {"server": process.url}


def test_no_authorization_for_others_is_warned_of(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podless", "serve", "--data", str(tmp_path), "--port", "0", "--bind", "0.0.0.0"]
    command += ["--authorization-mode", "AlwaysAllow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as popen:
        assert popen.stdout is not None
        lines = [popen.stdout.readline() for _ in range(3)]
        popen.send_signal(signal.SIGTERM)
    assert lines[0].startswith("podless serves https://127.0.0.1:")
    assert lines[2].startswith("WARNING: 0.0.0.0 is open to other machines")


def test_plain_http_is_refused_elsewhere(tmp_path: Path) -> None:
    text = refused("--data", str(tmp_path), "--port", "0", "--insecure-http", "--bind", "0.0.0.0")
    assert text == "podless: plain HTTP is served on loopback only, not on 0.0.0.0\n"


def test_who_serves_plain_http_is_told_what_go_clients_do(serve: Any) -> None:
    process = serve("--insecure-http")
    assert process.popen.stdout.readline() == (
        "NOTE: kubectl and other Go clients send no token over plain HTTP, so they are anonymous\n"
    )


def test_a_kubeconfig_is_written_where_it_is_wanted(tmp_path: Path) -> None:
    wanted = tmp_path / "wanted"
    command = [sys.executable, "-m", "podless", "serve", "--memory", "--port", "0", "--kubeconfig", str(wanted)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as popen:
        assert popen.stdout is not None
        url = popen.stdout.readline().split()[-1]
        assert popen.stdout.readline() == f"export KUBECONFIG={wanted}\n"
        config = json.loads(wanted.read_text())
        assert stat.S_IMODE(wanted.stat().st_mode) == 0o600
        client = Client(url, config["users"][0]["user"]["token"])
        assert client.get("/readyz").status == 200
        client.close()
        popen.send_signal(signal.SIGTERM)
        assert popen.wait(60) == 0


def test_requests_are_logged_where_somebody_wants_to_watch(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podless", "serve", "--data", str(tmp_path / "data"), "--port", "0", "-v"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as popen:
        assert popen.stdout is not None
        assert popen.stderr is not None
        url = popen.stdout.readline().split()[-1]
        popen.stdout.readline()
        client = Client(url, (tmp_path / "data" / "token").read_text().strip())
        client.get("/api/v1/namespaces/none?secret=1")
        client.close()
        popen.send_signal(signal.SIGTERM)
        said = popen.stderr.read().splitlines()
        (line,) = (line for line in said if "/api" in line)
    assert "GET /api/v1/namespaces/none?... 404 " in line
    assert f"start: podless {__version__} serves {url} as Kubernetes 1." in said[0]
    assert [json.loads(told)["msg"] for told in said[-2:]] == [
        "stop: received SIGTERM: finishing the requests in flight",
        "stop: stopped",
    ]
    assert "secret" not in line


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (
            ["serve", "--prot", "1"],
            2,
            "unrecognized arguments: --prot 1; did you mean --port?; see podless serve --help\n",
        ),
        (["serve", "--port", "x"], 2, "expected a port from 0 to 65535; see podless serve --help\n"),
        (["sreve"], 2, "podless: unknown command 'sreve'; did you mean serve?"),
        (["serve", "--audit-policy-file", "p.yaml"], 1, "--audit-policy-file requires --audit-log-path\n"),
        (["serve", "--tls-cert-file", "c.pem"], 1, "--tls-cert-file and --tls-private-key-file require each other\n"),
        (["serve", "--history", "1d"], 2, "such as 1h,256Mi,10000, not '1d'; see podless serve --help\n"),
    ],
)
def test_wrong_options_are_told_in_one_line(arguments: list[str], code: int, text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "podless", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert text in done.stderr


def test_a_kubeconfig_of_a_service_account(serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = serve()
    data = ["kubeconfig", "--data", str(process.folder)]
    assert main([*data, "--service-account", "default", "--namespace", "default"]) == 0
    config = json.loads(capsys.readouterr().out)
    client = Client(process.url, config["users"][0]["user"]["token"])
    who = client.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).body["status"]["userInfo"]
    assert who["username"] == "system:serviceaccount:default:default"
    client.close()
    assert main([*data, "--namespace", "other"]) == 0
    assert json.loads(capsys.readouterr().out)["contexts"][0]["context"]["namespace"] == "other"
    assert main([*data, "--service-account", "default/none"]) == 1
    assert capsys.readouterr().err == 'podless: serviceaccounts "none" not found\n'


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = refused("--data", str(tmp_path), "--port", str(port))
    assert text == f"podless: 127.0.0.1:{port}: address already in use\n"


def test_a_full_disk_is_told_at_the_start(tmp_path: Path) -> None:
    limits = (1 << 16, resource.RLIM_INFINITY)  # no file may grow beyond this: to SQLite that is a disk without room
    done = subprocess.run(
        [sys.executable, "-m", "podless", "serve", "--data", str(tmp_path / "data"), "--port", "0"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("podless: "))
    assert told == f"podless: --data: {tmp_path / 'data'}: the disk is full: make room, then start again"
    assert "127.0.0.1" not in told
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "not a directory" in refused("--data", str(tmp_path / "file" / "data"), "--port", "0")


@pytest.mark.parametrize("name", ["podless.db", "server.crt", "server.key", "token"])
def test_a_damaged_file_is_told(serve: Any, name: str) -> None:
    process = serve()
    process.popen.send_signal(signal.SIGTERM)
    process.popen.wait(60)
    (process.folder / name).write_bytes(b"\xff\xfe not what it was " * 200)
    assert str(process.folder / name) in refused("--data", str(process.folder), "--port", "0")


def test_a_folder_in_use_is_told(serve: Any) -> None:
    process = serve()
    text = refused("--data", str(process.folder), "--port", "0")
    assert text == f"podless: {process.folder / 'podless.db'}: another process is using this database\n"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("only,two\n", "line 1: expected token,user,uid"),
        (",user,1\n", "must not be empty"),
        ("t,u,1\nt,v,2\n", "line 2"),
    ],
)
def test_a_bad_token_file_is_told(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text(content)
    assert why in refused("--data", str(tmp_path / "data"), "--port", "0", "--token-auth-file", str(file))


def test_help_lists_every_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "podless", "serve", "--help"], capture_output=True, text=True, check=True
    )
    for option in ("--data", "--memory", "--bind", "--port", "--token-auth-file", "--insecure-http"):
        assert option in done.stdout


def test_what_runs_beside_requests_can_be_chosen(serve: Any) -> None:
    process = serve("--event-ttl", "1s", "--no-default-accounts", "--root-configmaps")
    client = Client(process.url, process.token)
    assert client.get("/api/v1/serviceaccounts").body["items"] == []
    found = client.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt").body
    assert found["data"]["ca.crt"] == (process.folder / "ca.crt").read_text()
    events = "/api/v1/namespaces/default/events"
    event = {"metadata": {"name": "short"}, "involvedObject": {"namespace": "default"}}
    assert client.post(events, event).status == 201
    end = time.monotonic() + 60
    while client.get(f"{events}/short").status == 200:
        assert time.monotonic() < end
        time.sleep(0.01)
    client.close()


@pytest.mark.parametrize("text", ["", "1", "0s", "1d", "h", "-1s"])
def test_what_is_no_duration(text: str) -> None:
    command = [sys.executable, "-m", "podless", "serve", f"--event-ttl={text}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "expected a duration such as" in done.stderr) == (2, True)
