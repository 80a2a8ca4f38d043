"""The author that the store keeps for what a request writes."""

from __future__ import annotations

from podless.server import Server
from podless.store.contract import Author
from podless.testing.ask import ask_app

NAMES = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
PATH = "/api/v1/namespaces/default/configmaps"


async def authors(server: Server, key: str) -> list[Author]:
    log = server._get_app().cluster.store.changelog  # type: ignore[union-attr]
    assert log is not None
    return [one.author for one in await log.read_key(key)]


async def test_a_write_names_user_verb_manager_and_agent() -> None:
    async with Server() as server:
        app = server._get_app()
        await ask_app(app, "POST", PATH, NAMES)
        body = {**NAMES, "data": {"a": "b"}}
        await ask_app(app, "PATCH", f"{PATH}/one", body, media="application/apply-patch+yaml", fieldManager="me")
        await ask_app(app, "DELETE", f"{PATH}/one")
        assert await authors(server, "/core/configmaps/default/one") == [
            Author("admin", "", "delete", "", "podless-test", "podless-test"),
            Author("admin", "", "apply", "", "me", "podless-test"),
            Author("admin", "", "create", "", "podless-test", "podless-test"),
        ]


async def test_what_the_server_writes_by_itself_names_the_controller() -> None:
    async with Server() as server:
        [author] = await authors(server, "/core/serviceaccounts/default/default")
        assert (author.user, author.verb) == ("system:apiserver", "")
        assert author.manager == "serviceaccount-controller" or author.manager


async def test_nothing_is_recorded_where_that_is_not_wanted() -> None:
    async with Server(history_authors=False) as server:
        await ask_app(server._get_app(), "POST", PATH, NAMES)
        assert await authors(server, "/core/configmaps/default/one") == [Author()]
