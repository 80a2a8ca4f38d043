"""podless log, show, diff, blame and undo against a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from podless.cli import main
from podless.server import Server

WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}
Run = Callable[..., str]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        server.apply(WIDGETS)
        yield server


@pytest.fixture
def run(server: Server, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str, code: int = 0) -> str:
        assert main([*arguments, "--kubeconfig", str(server.kubeconfig)]) == code
        read = capsys.readouterr()
        return read.out + read.err

    return call


def widget(server: Server, name: str, *, manager: str = "operator", **spec: object) -> str:
    """Apply a widget; returns its resourceVersion."""
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}
    [applied] = server.apply(obj, manager=manager)
    return str(applied["metadata"]["resourceVersion"])


def test_log_has_a_line_for_each_change_newest_first(server: Server, run: Run) -> None:
    widget(server, "logged", replicas=1)
    widget(server, "logged", replicas=2)
    server.delete("widget", "logged")
    lines = run("log", "widget", "logged").splitlines()
    assert [("delete" in lines[0]), ("update" in lines[1]), ("create" in lines[2])] == [True, True, True]
    assert lines[1].endswith("widgets.example.com default/logged  admin (apply operator)  [spec.replicas]")
    assert len(lines) == 3


def test_log_shows_differences_and_selects_by_user_field_and_time(server: Server, run: Run) -> None:
    widget(server, "chosen", replicas=1)
    widget(server, "chosen", replicas=1, color="red")
    widget(server, "chosen", replicas=3, color="red")
    shown = run("log", "widget", "chosen", "--field", "spec.replicas", "--diff").splitlines()
    assert len(shown) == 3
    assert shown[1:] == ["    ~ metadata.generation: 2 -> 3", "    ~ spec.replicas: 1 -> 3"]
    assert run("log", "widget", "chosen", "--by", "somebody") == "podless: no changes\n"
    assert len(run("log", "widget", "chosen", "--by", "admin", "--since", "1h").splitlines()) == 3
    assert "log of changes" not in run("log", "-n", "default", "--limit", "2")
    assert "--since: 'soon' is not a time" in run("log", "--since", "soon", code=1)


def test_log_explains_where_a_value_came_from(server: Server, run: Run) -> None:
    widget(server, "why", replicas=1)
    widget(server, "why", replicas=5, manager="autoscaler")
    widget(server, "why", replicas=5, other=1, manager="autoscaler")
    lines = run("log", "widget", "why", "--why", "spec.replicas").splitlines()
    assert [line.split("  ", 1)[1].split(maxsplit=1)[1] for line in lines] == [
        "admin (apply autoscaler)  ~ spec.replicas: 1 -> 5",
        "admin (apply operator)  created it with spec.replicas = 1",
    ]


def test_log_leaves_out_renewals_of_leases_unless_they_are_asked_for(server: Server, run: Run) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "renewed"}}
    for second in range(3):
        server.apply({**lease, "spec": {"holderIdentity": "one", "renewTime": f"2026-01-01T00:00:0{second}.000000Z"}})
    assert run("log", "-n", "default").count("default/renewed") == 1
    assert run("log", "lease", "renewed").count("default/renewed") == 3
    assert run("log", "-n", "default", "-o", "json").count('"renewed"') == 3


def test_log_says_what_it_cannot_show(server: Server, run: Run) -> None:
    widget(server, "unsaid", replicas=1)
    assert "leave out --since" in run("log", "--follow", "--since", "1h", code=1)
    assert "does not serve 'nothing'" in run("log", "nothing", code=1)


@pytest.mark.parametrize("path", ["spec..replicas", "spec[", "spec.items[", "spec.", '["x'])
def test_a_field_that_is_no_path_is_rejected(run: Run, path: str) -> None:
    for option in ("--field", "--why"):
        assert f"{option}: '{path}' is not a path" in run("log", "widget", "any", option, path, code=1)


def test_moments_before_the_first_change_and_revision_0_are_rejected(server: Server, run: Run) -> None:
    widget(server, "early")
    assert "before the first change that the server knows of (20" in run(
        "show", "widget", "early", "--at", "5h", code=1
    )
    assert "'0' is not a revision" in run("show", "widget", "early", "--at", "0", code=1)


def test_show_prints_the_object_as_it_was(server: Server, run: Run) -> None:
    first = widget(server, "shown", replicas=1)
    widget(server, "shown", replicas=2)
    assert "  replicas: 1\n" in run("show", "widget", "shown", "--at", first)
    assert "did not exist at" in run("show", "widget", "never", "--at", first, code=1)
    assert "not a time" in run("show", "widget", "shown", "--at", "noon", code=1)


def test_diff_compares_two_moments(server: Server, run: Run) -> None:
    first = widget(server, "compared", replicas=1)
    last = widget(server, "compared", replicas=2, color="red")
    lines = run("diff", "widget", "compared", "--from", first, code=1).splitlines()
    shown = [line.strip() for line in lines]
    assert shown == [
        "~ metadata.generation: 1 -> 2",
        '+ spec.color: "red"',
        "~ spec.replicas: 1 -> 2",
    ]
    assert run("diff", "widget", "compared", "--from", last) == ""


def test_blame_names_the_change_behind_each_field(server: Server, run: Run) -> None:
    first = widget(server, "blamed", replicas=1, items=[{"name": "a", "value": 1}, {"name": "b", "value": 1}])
    last = widget(server, "blamed", replicas=1, items=[{"name": "a", "value": 1}, {"name": "b", "value": 2}])
    lines = run("blame", "widget", "blamed").splitlines()
    assert {line.split()[0] for line in lines if line.endswith(("replicas: 1", "value: 1"))} == {first}
    assert [line.split()[0] for line in lines if line.endswith("  value: 2")] == [last]


def test_undo_takes_back_the_last_change(server: Server, run: Run) -> None:
    widget(server, "undone", replicas=1)
    widget(server, "undone", replicas=7)
    assert "spec.replicas: 7 -> 1" in run("undo", "widget", "undone", "--dry-run")
    assert server.get("widget", "undone")["spec"] == {"replicas": 7}  # type: ignore[index]
    run("undo", "widget", "undone")
    assert server.get("widget", "undone")["spec"] == {"replicas": 1}  # type: ignore[index]


def test_undo_brings_back_what_was_deleted_with_a_new_uid(server: Server, run: Run) -> None:
    widget(server, "gone", replicas=1)
    uid = server.get("widget", "gone")["metadata"]["uid"]  # type: ignore[index]
    server.delete("widget", "gone")
    assert "created again with the new uid" in run("undo", "widget", "gone")
    again = server.get("widget", "gone")
    assert again is not None
    assert again["spec"] == {"replicas": 1}
    assert again["metadata"]["uid"] != uid


def test_undo_of_a_namespace_restores_all_of_it(server: Server, run: Run) -> None:
    server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})

    def apply(name: str, value: str) -> str:
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}}
        [made] = server.apply(obj, namespace="team")
        return str(made["metadata"]["resourceVersion"])

    apply("changed", "1")
    moment = apply("deleted", "1")
    apply("changed", "2")
    server.delete("configmap", "deleted", namespace="team")
    apply("new", "1")
    told = run("undo", "--namespace", "team", "--since", moment, "--dry-run")
    assert "configmaps changed: restored (dry run)" in told
    assert "configmaps new: deleted (dry run)" in told
    assert server.get("configmap", "new", namespace="team") is not None
    run("undo", "--namespace", "team", "--since", moment)
    found = {one["metadata"]["name"]: one["data"] for one in server.list("configmap", namespace="team")}
    assert found == {"changed": {"value": "1"}, "deleted": {"value": "1"}}
    assert "no changes" in run("undo", "--namespace", "team", "--since", moment)
    assert "the log has no change of it" in run("undo", "configmap", "none", "-n", "team", code=1)
