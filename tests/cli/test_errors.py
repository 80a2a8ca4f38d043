"""Every failed command says why in one line, and ends with its documented code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podless import Server
from podless.cli import main, status
from tests.conftest import definition
from tests.pages.reference import EXIT_CODES

LONG = "a" * 300  # no file system takes such a name, so every use of it is an OSError
DOWN = """
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {token: x}}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code, and the one line on standard error."""
    code = main(arguments)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    return code, err


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (1, ["serve", "--port", "0", "--data", LONG]),
        (1, ["status", "--data", LONG]),
        (1, ["log", "--data", LONG]),
        (1, ["undo", "configmap", "a", "--data", LONG]),
        (1, ["kubeconfig", "--data", LONG]),
        (1, ["backup", LONG]),
        (1, ["backup", "file", "--data", LONG]),
        (1, ["restore", LONG]),
        (1, ["import", LONG]),
        (1, ["plan", LONG]),
        (1, ["apply", LONG]),
        (1, ["envtest", LONG]),
        (1, ["run", "--apply", LONG, "--", "true"]),
        (2, ["check", LONG]),
        (2, ["check", "--crds", LONG, "-"]),
        (2, ["compare", LONG, LONG]),
        (2, ["convert", LONG]),
        (2, ["eval", "true", "--object", LONG]),
        (2, ["model", LONG]),
        (2, ["schema", LONG]),
        (2, ["test", LONG]),
        (2, ["explore", "--scenario", LONG, "--", "true"]),
    ],
)
def test_a_path_that_cannot_be_used_is_an_error_of_one_line(
    code: int, arguments: list[str], capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "config").write_text(DOWN)
    monkeypatch.setenv("KUBECONFIG", str(folder / "config"))
    told, err = run(*arguments, capsys=capsys)
    assert (told, err[:7]) == (code, "podless")
    assert EXIT_CODES[arguments[0]][code] != "-"


@pytest.mark.parametrize(
    "command", ["status", "log", "export configmaps", "backup file", "plan a.yaml", "import a.yaml"]
)
def test_a_server_that_does_not_answer_is_named(command: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "config").write_text(DOWN)
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    code = main([*command.split(), "--kubeconfig", "config"])
    err = capsys.readouterr().err.splitlines()[-1]
    assert (code, "https://127.0.0.1:1: cannot connect: connection refused" in err) == (1, True), err


@pytest.mark.parametrize(
    "command", ["status", "log", "export configmaps", "import a.yaml", "plan a.yaml", "migrate --all"]
)
def test_a_kubeconfig_that_is_not_there_is_named_with_the_option(
    command: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "a.yaml").write_text("{}")
    code, err = run(*command.split(), capsys=capsys)
    assert (code, str(folder / ".kube" / "config") in err, "--kubeconfig" in err) == (1, True, True), err


def test_status_asks_the_server_of_the_environment(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "config").write_text(DOWN)
    monkeypatch.setenv("KUBECONFIG", str(folder / "config"))
    assert "https://127.0.0.1:1: cannot connect" in run("status", capsys=capsys)[1]
    assert "no server was started" in run("status", "--data", "other", capsys=capsys)[1]


def test_a_folder_in_place_of_a_file_is_said_to_be_one(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "config").write_text(DOWN)
    for name in (".", "missing/file"):
        for command in (["backup", name], ["export", "configmaps", "-f", name]):
            code, err = run(*command, "--kubeconfig", "config", capsys=capsys)
            said = "is a directory" if name == "." else "the folder missing does not exist"
            assert (code, err) == (1, f"podless: {name}: {said}\n")


def test_a_server_says_what_it_does_not_accept(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with Server() as server:
        server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        export = ["export", "configmaps", "--server", server.url]
        assert "the server's certificate is not trusted" in run(*export, capsys=capsys)[1]
        trusted = [*export, "--certificate-authority", str(server.authority), "--token", "wrong"]
        assert "Unauthorized: the server does not accept these credentials" in run(*trusted, capsys=capsys)[1]
        config = ["--kubeconfig", str(server.kubeconfig)]
        code, err = run("backup", "file", "--at", "999999", *config, capsys=capsys)
        assert (code, "revision 999999 does not exist yet: the newest is" in err) == (1, True), err
        code, err = run("show", "configmap", "a", "--at", "999999", *config, capsys=capsys)
        assert (code, "Too large resource version: 999999" in err) == (1, True), err


def test_an_unknown_option_names_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    for command, code in (("check", 2), ("plan", 1)):
        with pytest.raises(SystemExit) as ended:
            main([command, "--nonsense", "a"])
        assert ended.value.code == code
        assert capsys.readouterr().err.endswith(f"unrecognized arguments: --nonsense; see podless {command} --help\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["chek"], "podless: unknown command 'chek'; did you mean check?; see podless --help"),
        (["serve", "--stor", "etcd"], "podless serve: unrecognized arguments: --stor etcd; did you mean --store?"),
        (["check", "--feild-validation=warn"], "did you mean --field-validation?"),
    ],
)
def test_a_misspelled_word_is_answered_with_the_nearest_one(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert (ended.value.code, said in capsys.readouterr().err) == (2, True)


def test_an_interrupted_command_ends_with_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(status, "run", interrupt)
    assert main(["status"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_options_for_servers_are_accepted_and_not_listed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert "--etcd-servers" in shown
    assert "--etcd-exclusive" not in shown
    assert "--etcd-compaction-interval" not in shown
    code, err = run(
        command,
        "missing/file",
        "--etcd-exclusive",
        "--etcd-servers",
        "http://127.0.0.1:1",
        "--store",
        "etcd",
        capsys=capsys,
    )
    assert (code, "missing" in err or "127.0.0.1:1" in err) == (1, True), err


def test_a_file_in_place_of_the_data_folder_is_said_to_be_one(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "file").write_text("")
    assert run("serve", "--data", "file", "--port", "0", capsys=capsys)[1].endswith("file: is a file, not a folder\n")
    (folder / "config").write_text(DOWN)
    said = run("backup", "missing/file", "--kubeconfig", "config", capsys=capsys)[1]
    assert said.endswith("missing/file: the folder missing does not exist\n")


@pytest.mark.parametrize(
    "options",
    [
        "--token-auth-file missing/x",
        "--client-ca-file missing/x",
        "--kubeconfig missing/x",
        "--tls-cert-file missing/x --tls-private-key-file y",
        "--audit-log-path missing/x",
        "--audit-policy-file missing/x --audit-log-path -",
        "--hooks missing/x.py",
        "--oidc-ca-file missing/x --oidc-issuer-url https://x --oidc-client-id x",
        "--etcd-cafile missing/x --store etcd --etcd-servers https://127.0.0.1:1",
        "--etcd-certfile missing/x --etcd-keyfile y --store etcd --etcd-servers https://127.0.0.1:1",
    ],
)
def test_an_error_about_a_file_names_its_option(options: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, err = run("serve", "--port", "0", *options.split(), capsys=capsys)
    flag, file = options.split()[:2]
    assert (code, flag in err, file in err) == (1, True, True), err


def test_no_memory_for_clients_is_no_limit(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with pytest.raises(SystemExit):
        run("serve", "--memory", "--max-held-megabytes", "0", capsys=capsys)
    assert "--max-held-megabytes: expected a number above 0" in capsys.readouterr().err


def test_a_server_on_etcd_rejects_a_folder_with_a_database(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "podless.db").write_text("")
    store = ["--store", "etcd", "--etcd-servers", "http://127.0.0.1:1"]
    code, err = run("serve", "--port", "0", "--data", "data", *store, capsys=capsys)
    assert (code, "podless.db: the folder has a database, which --store etcd does not use" in err) == (1, True), err


@pytest.mark.parametrize(
    ("certificate", "key", "said"),
    [
        (None, "", "tls.crt: no such file or directory"),
        ("", "", "tls.crt: not a PEM file with a certificate"),
        ("CERTIFICATE", "", "tls.key: not a PEM file with a private key"),
        ("CERTIFICATE", "ENCRYPTED PRIVATE KEY", "tls.key: the key has a passphrase"),
        ("CERTIFICATE", "PRIVATE KEY", "tls.crt: not a certificate with the key tls.key"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_named(
    certificate: str | None, key: str, said: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    if certificate is not None:
        (folder / "tls.crt").write_text(certificate)
    (folder / "tls.key").write_text(key)
    options = ["--tls-cert-file", "tls.crt", "--tls-private-key-file", "tls.key"]
    code, err = run("serve", "--memory", "--port", "0", *options, capsys=capsys)
    assert (code, said in err) == (1, True), err


def test_a_broken_definition_is_named_with_its_place(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "a.yaml").write_text("kind: CustomResourceDefinition\nspec: [\n")
    (folder / "b.yaml").write_text("kind: Other\n")
    for command in ("model", "schema"):
        code, err = run(command, "a.yaml", capsys=capsys)
        assert (code, err.startswith("podless: a.yaml:")) == (2, True), err
        assert "b.yaml: no CustomResourceDefinition found" in run(command, "b.yaml", capsys=capsys)[1]


def test_a_definition_without_a_schema_makes_no_model(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "crd.yaml").write_text(json.dumps(definition("example.com", schema=None)))
    code, err = run("model", "crd.yaml", capsys=capsys)
    assert (code, "gadgets.example.com v1 has no schema: set schema.openAPIV3Schema" in err) == (2, True), err
