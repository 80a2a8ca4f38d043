"""What a test asks of the changes of an object."""

from __future__ import annotations

from podless.server import Server

SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}


def test_the_history_of_an_object_says_who_did_what() -> None:
    with Server() as server:
        server.apply({**SETTINGS, "data": {"a": "1"}}, manager="first")
        server.apply({**SETTINGS, "data": {"a": "1", "b": "2"}}, manager="second")
        server.delete("configmap", "settings")
        made, changed, gone = server.history("configmap", "settings")
        assert [value.operation for value in (made, changed, gone)] == ["create", "update", "delete"]
        assert [value.manager for value in (made, changed)] == ["first", "second"]
        assert (changed.user, changed.verb, changed.agent) == ("admin", "apply", "podless-test")
        assert changed.obj is not None
        assert changed.obj["data"] == {"a": "1", "b": "2"}
        assert (changed.touches("data"), changed.touches("data.a"), changed.touches("data.b")) == (True, False, True)
        assert made.touches("data.a")
        assert gone.obj is None
        assert str(changed).endswith('[data.b]\n    + data.b: "2"')


async def test_the_same_on_the_loop_of_the_server() -> None:
    async with Server() as server:
        await server.client.apply(SETTINGS)
        [made] = await server.client.history("configmap", "settings")
        assert made.operation == "create"


def test_nobody_but_the_operator_writes_the_status() -> None:
    """An assertion as it stands in tests of operators."""
    with Server() as server:
        server.apply({**SETTINGS, "data": {"a": "1"}}, manager="user")
        server.apply({**SETTINGS, "data": {"a": "2"}}, manager="operator")
        writers = {one.manager for one in server.history("configmap", "settings") if one.touches("data.a")}
        assert writers == {"user", "operator"}
