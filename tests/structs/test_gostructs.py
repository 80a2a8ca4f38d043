"""Objects as a real server's errors show them."""

from __future__ import annotations

from podless.codec import gotext
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

CONTAINER = load_struct("core/v1", "Container")
POD_SPEC = load_struct("core/v1", "PodSpec")
TAINT = load_struct("core/v1", "Taint")


def test_every_field_is_there() -> None:
    shown = gostructs.format_struct(TAINT, {"key": "a", "effect": "NoSchedule"})
    assert gotext.format_json(shown) == '{"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}'


def test_nothing_is_null() -> None:
    assert gostructs.format_struct(TAINT, None) is None


def test_what_is_the_hosts_is_in_the_security_context() -> None:
    shown = gostructs.format_struct(POD_SPEC, {"containers": [], "hostPID": True, "securityContext": {"runAsUser": 1}})
    assert list(shown["SecurityContext"])[:6] == [
        "HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers", "SELinuxOptions",
    ]  # fmt: skip
    assert shown["SecurityContext"]["HostPID"] is True
    assert "HostPID" not in shown


def test_a_diff_is_of_the_lines_around() -> None:
    old = {"name": "dbg", "image": "busybox"}
    text = gostructs.diff_structs(CONTAINER, old, {**old, "image": "other"})
    assert text == (
        '@@ -1,6 +1,6 @@\n {\n  "Name": "dbg",\n- "Image": "busybox",\n+ "Image": "other",\n  "Command": null,\n'
        '  "Args": null,\n  "WorkingDir": "",\n'
    )


def test_long_ones_are_compared_as_a_whole() -> None:
    containers = [{"name": f"c{number}"} for number in range(300)]
    old = {"containers": containers}
    new = {"containers": [*containers[:150], {"name": "x"}, *containers[151:]]}
    text = gostructs.diff_structs(POD_SPEC, old, new)
    assert text.count("\n-") == text.count("\n+") == 1
    assert text.startswith("@@ -")
    assert text.count("\n") == 9
