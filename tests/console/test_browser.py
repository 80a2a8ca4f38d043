"""The console in a real browser against real servers: what a user sees, and what survives."""

from __future__ import annotations

import asyncio
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from podless import Server
from podless.auth.user import AUTHENTICATED, User
from podless.kinds import view
from podless.store import Operation
from podless.store.history import LOG_BOUNDS
from tests.console import demo
from tests.console.browser import CHROMIUM, DRIVER, Browser, editor, write

pytestmark = [
    pytest.mark.clients,
    pytest.mark.hangs_after(400),
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="chromium and chromedriver are not installed"),
]

AXE = Path(__file__).parent.parent.parent / "console" / "node_modules" / "axe-core" / "axe.min.js"
DATABASES = "#/list/data.example.com/v1/databases"
ORDERS = "#/object/data.example.com/v1/databases/orders?ns=shop"
READER = "reader-token"
MANY = 10_000
RULES = ["color-contrast", "scrollable-region-focusable"]  # those of axe that colours and width change


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    readers = {READER: User("reader", "", (AUTHENTICATED,))}
    with Server(console=True, enable_faults=True, history_log=LOG_BOUNDS, tokens=readers) as running:
        demo.fill(running)
        running.apply(
            [
                {
                    "apiVersion": "rbac.authorization.k8s.io/v1",
                    "kind": "ClusterRole",
                    "metadata": {"name": "reader"},
                    "rules": [
                        {"apiGroups": ["data.example.com"], "resources": ["databases"], "verbs": ["get", "list"]}
                    ],
                },
                {
                    "apiVersion": "rbac.authorization.k8s.io/v1",
                    "kind": "ClusterRoleBinding",
                    "metadata": {"name": "reader"},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
                },
            ]
        )
        yield running


Page = Callable[..., Browser]


@pytest.fixture
def page(server: Server, opened: Browser) -> Page:
    """Opens a page, logged in: `page("#/server")`."""

    def open_page(hash_: str = "#/", token: str = "", url: str = "", width: int = 1360) -> Browser:
        opened.resize(width, 860)
        place = f"{url or server.url}/console/"
        if not opened.driver.current_url.startswith(place):
            opened.open(place)
        opened.run("sessionStorage.setItem('podless.token', arguments[0])", token or server.token)
        opened.open(place + hash_)
        opened.driver.refresh()
        opened.errors()
        return opened

    return open_page


def rows(browser: Browser) -> list[str]:
    shown = browser.run(
        "return [...document.querySelectorAll('tbody tr:not(.space) td a')].map(one => one.textContent)"
    )
    return [str(name) for name in shown]


def replicas(server: Server) -> Any:
    found = server.get("databases", "orders", namespace="shop")
    assert found is not None
    return found["spec"]["replicas"]


def test_a_link_logs_in_once_and_leaves_no_trace(server: Server, opened: Browser) -> None:
    opened.open(f"{server.url}/console/")
    opened.run("sessionStorage.clear()")
    link = server.make_console_link()
    opened.open(link)
    opened.find("h1", "Overview")
    opened.find(".user-name", "admin")
    assert "link" not in opened.driver.current_url
    opened.click("button[aria-label='Log out']")
    opened.find("h1", "podless console")
    assert opened.run("return sessionStorage.length + document.cookie.length") == 0
    opened.open(link)
    opened.find("[role=alert]", "used before")
    opened.type("input[type=password]", "wrong")
    opened.click("button[type=submit]")
    opened.find("[role=alert]", "does not accept this token")
    opened.type("input[type=password]", server.token)
    opened.click("button[type=submit]")
    opened.find(".card", "Database")


def test_a_table_is_live_sorted_and_filtered(server: Server, page: Page) -> None:
    browser = page(DATABASES)
    browser.find(".live", "Live")
    browser.wait(lambda: "orders" in rows(browser))
    assert rows(browser) == sorted(rows(browser))
    server.create(demo.make_database("zebra", 1))
    browser.wait(lambda: "zebra" in rows(browser))
    server.patch("databases", "zebra", {"spec": {"replicas": 9}}, namespace="shop")
    browser.find("tbody tr", "9")
    browser.click("th button", "Replicas")
    browser.click("th button", "Replicas")
    browser.wait(lambda: rows(browser)[0] == "zebra")
    server.delete("databases", "zebra", namespace="shop")
    browser.wait(lambda: "zebra" not in rows(browser))
    browser.find("body").send_keys("/")
    browser.driver.switch_to.active_element.send_keys("sqlite")
    browser.wait(lambda: set(rows(browser)) == {"search", "sessions"})
    browser.find("input[placeholder^='app=web']").send_keys("tier=gold", Keys.ENTER)
    browser.find(".empty", "Nothing matches")


def test_keys_lead_from_the_table_to_an_object_and_the_palette_back(page: Page) -> None:
    browser = page(f"{DATABASES}?ns=shop")
    browser.wait(lambda: len(rows(browser)) > 3)
    box = browser.find(".table-box")
    box.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    second = browser.find("tr.active a").text
    box.send_keys(Keys.ENTER)
    browser.find("h1", second)
    browser.find("body").send_keys(Keys.CONTROL, "k")
    browser.find("dialog input").send_keys("db led")
    browser.find("[role=option]", "ledger")
    browser.find("dialog input").send_keys(Keys.ENTER)
    browser.find("h1", "ledger")


def test_the_overview_tells_of_status_conditions_and_events(page: Page) -> None:
    browser = page("#/object/data.example.com/v1/databases/analytics?ns=shop")
    browser.find(".condition.bad", "VolumeLost")
    browser.find(".facts", "Failed")
    browser = page(ORDERS)
    browser.find(".condition.good", "AllInstancesReady")
    browser.find(".condition.bad", "BackupLate")
    browser.find(".note", "generation 1 of 3")


def test_errors_stand_at_their_lines_before_saving(server: Server, page: Page) -> None:
    browser = page(f"{ORDERS}&tab=yaml")
    before = replicas(server)
    write(browser, f"replicas: {before}", "replicas: 12")
    browser.find(".verdict", "less than or equal to 9")
    browser.find(".verdict .to-line", "line")
    write(browser, "replicas: 12", "replicas: 7")
    browser.find(".verdict", "would accept this")
    assert replicas(server) == before
    browser.click("button", "Save")
    browser.wait(lambda: replicas(server) == 7)
    browser.find(".edit-actions", "As on the server")
    assert server.history("databases", "orders", namespace="shop")[-1].manager == "podless-console"


def test_the_editor_completes_fields_and_explains_them(page: Page) -> None:
    browser = page("#/new/data.example.com/v1/databases?ns=shop")
    browser.find(".verdict", "would accept this")  # by now the schema is there too
    write(browser, "replicas: 1", "replicas: 1\n  sto")
    inside = "return document.querySelector('.editor-place').shadowRoot"
    ActionChains(browser.driver).key_down(Keys.CONTROL).send_keys(" ").key_up(Keys.CONTROL).perform()
    option = f"{inside}.querySelector('.cm-tooltip-autocomplete li')"
    browser.wait(lambda: "storage" in browser.run(f"{option}?.textContent ?? ''"), "no completion")
    browser.wait(lambda: browser.run(option).click() is None)  # the editor may draw the list anew meanwhile
    browser.wait(lambda: "storage:" in editor(browser), "not completed")
    line = f"{inside.replace('return ', 'const root = ')};"
    line += "return [...root.querySelectorAll('.cm-line')].find(one => one.textContent.includes('engine'))"

    def hover() -> bool:  # the editor may draw the line anew meanwhile
        ActionChains(browser.driver).move_to_element_with_offset(browser.run(line), -200, 0).perform()
        ActionChains(browser.driver).move_to_element(browser.run(line + ".querySelector('span')")).perform()
        return True

    browser.wait(hover)
    told = f"{inside}.querySelector('.cm-tooltip-hover')?.textContent ?? ''"
    browser.wait(lambda: "The program that runs." in browser.run(told), "no explanation")


def test_a_change_by_somebody_else_is_shown_and_nothing_is_lost(server: Server, page: Page) -> None:
    browser = page(f"{ORDERS}&tab=yaml")
    write(browser, "storage: 20Gi", "storage: 99Gi")
    browser.find(".edit-actions", "Changed")
    server.patch("databases", "orders", {"spec": {"replicas": 5}}, namespace="shop")
    browser.find(".conflict", "changed this object while you edit it")
    assert "storage: 99Gi" in editor(browser)
    browser.click(".conflict button", "See their change")
    browser.find(".diff .added", "replicas: 5")
    browser.click("dialog button[aria-label=Close]")
    browser.click(".conflict button", "Put mine on top")
    browser.wait(lambda: "replicas: 5" in editor(browser) and "storage: 99Gi" in editor(browser))
    browser.find(".verdict", "would accept this")
    browser.click("button", "Save")
    browser.wait(lambda: (server.get("databases", "orders", namespace="shop") or {})["spec"]["storage"] == "99Gi")
    assert replicas(server) == 5
    server.patch("databases", "orders", {"spec": {"storage": "20Gi"}}, namespace="shop")


def test_a_form_shows_its_own_complaints_and_those_of_rules_beside_the_fields(server: Server, page: Page) -> None:
    browser = page("#/new/data.example.com/v1/databases?ns=shop")
    browser.wait(lambda: "engine: postgres" in editor(browser))
    browser.click(".page-head button", "Form")
    field = "[data-field='spec.replicas']"
    browser.find(".verdict", "would accept this")
    browser.type(f"{field} input", "12")
    browser.find(f"{field} .complaint", "at most 9")
    browser.type(f"{field} input", "3")
    browser.run("document.querySelector(\"[data-field='spec.engine'] select\").value = '\"sqlite\"'")
    browser.run(
        "document.querySelector(\"[data-field='spec.engine'] select\")"
        ".dispatchEvent(new Event('change', {bubbles: true}))"
    )
    browser.find(f"{field} .complaint", "SQLite runs in one instance only")
    browser.type(f"{field} input", "1")
    browser.find(".verdict", "would accept this")
    browser.type(".form-head input", "made-here")
    browser.find(".verdict", "would accept this")
    browser.click(".edit-actions button", "Create")
    browser.find("h1", "made-here")
    made = server.get("databases", "made-here", namespace="shop")
    assert made is not None
    assert made["spec"] == {"engine": "sqlite", "replicas": 1}
    server.delete("databases", "made-here", namespace="shop")


def test_relations_managers_scale_and_delete(server: Server, page: Page) -> None:
    server.create(demo.make_database("brief"))
    owner = server.get("databases", "brief", namespace="shop")
    assert owner is not None
    reference = {name: owner[name] for name in ("apiVersion", "kind")}
    reference |= {name: owner["metadata"][name] for name in ("name", "uid")}
    metadata = {"name": "brief-settings", "namespace": "shop", "ownerReferences": [reference]}
    server.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    browser = page("#/object/data.example.com/v1/databases/brief?ns=shop&tab=relations")
    browser.wait(lambda: "brief-settings" in str(browser.run("return document.querySelector('.graph')?.textContent")))
    fill = "return getComputedStyle(document.querySelector('.node rect')).fill"
    assert browser.run(fill) != "rgb(0, 0, 0)"
    browser.click("[role=tab]", "Who set this")
    browser.find(".manager", "podless")
    browser.find(".owned .has-owner", "engine")
    browser.click("button", "Scale")
    browser.click("dialog button", "+")
    browser.find("dialog button[type=submit]").click()
    browser.wait(lambda: (server.get("databases", "brief", namespace="shop") or {})["spec"]["replicas"] == 2)
    browser.click("button", "Delete")
    browser.find(".goes-along", "brief-settings")
    browser.click("dialog button", "Delete")
    browser.find(".badge", "deleted")
    server.wait("configmaps", "brief-settings", "delete", namespace="shop")


def test_history_shows_differences_and_blame_and_undoes(server: Server, page: Page) -> None:
    server.create(demo.make_database("past"))
    server.patch("databases", "past", {"spec": {"storage": "70Gi"}}, namespace="shop")
    browser = page("#/object/data.example.com/v1/databases/past?ns=shop&tab=history")
    browser.find(".diff .added", "70Gi")
    browser.click("button", "Blame")
    browser.find(".owned li", "storage")
    browser.click("button", "Undo this change")
    browser.wait(lambda: (server.get("databases", "past", namespace="shop") or {})["spec"]["storage"] == "20Gi")
    browser = page("#/history?ns=shop")
    browser.find(".change", "past")
    browser.find(".slider input").send_keys(Keys.HOME)
    browser.find(".slider", "1 of the objects")
    server.delete("databases", "past", namespace="shop")


def test_definitions_show_schema_and_rules_and_try_objects(page: Page) -> None:
    browser = page("#/definitions/databases.data.example.com")
    browser.find(".tree", "Instances that run at once.")
    browser.find(".rule", "SQLite runs in one instance only")
    browser.find(".rule .cost", "of the limit")
    browser.click(".tabs button", "Rules")
    browser.find(".cost-list li", "self.engine != 'sqlite' || self.replicas <= 1")
    browser.find(".try-note", "All rules together")
    browser.click(".tabs button", "Compare")
    browser.find(".schema-changes", "engine")
    browser.click(".tabs button", "Try an object")
    browser.find(".verdict", "would accept this")
    write(browser, "engine: postgres", "engine: oracle")
    browser.find(".verdict", "Unsupported value")


def test_a_user_sees_only_what_rbac_allows(page: Page) -> None:
    browser = page(DATABASES, READER)
    browser.wait(lambda: "orders" in rows(browser))
    browser = page(f"{ORDERS}&tab=yaml", READER)
    write(browser, "storage: 20Gi", "storage: 30Gi")
    browser.find(".verdict", 'User "reader" cannot update resource')
    browser.open(browser.driver.current_url.partition("#")[0] + "#/access?ns=shop")
    browser.find(".change", "RBAC")
    browser.find(".matrix tr", "Database")
    assert (
        browser.run(
            "return [...document.querySelectorAll('.matrix tr')].find(row => row.textContent.includes('Database'))"
            ".querySelectorAll('.yes').length"
        )
        == 2
    )
    browser.open(browser.driver.current_url.partition("#")[0] + "#/list/core/v1/secrets")
    browser.find("[role=alert]", "forbidden")


def test_texts_of_clients_are_only_text(server: Server, page: Page) -> None:
    evil = "<img src=x onerror='window.hurt=1'><script>window.hurt=1</script>[a](javascript:window.hurt=1)"
    rule = {"rule": "self.policy != 'lfu'", "message": evil}
    spec = {
        "type": "object",
        "description": evil,
        "properties": {"policy": {"type": "string", "description": evil}},
        "x-kubernetes-validations": [rule],
    }
    server.apply(demo.definition("evils", "Evil", spec, [("Policy", "string", ".spec.policy")]))
    metadata = {"name": "evil", "namespace": "shop", "annotations": {"a": evil, "b": "\u202egnisrever"}}
    made = server.apply(
        {"apiVersion": f"{demo.GROUP}/v1", "kind": "Evil", "metadata": metadata, "spec": {"policy": evil}}
    )
    involved = {"apiVersion": f"{demo.GROUP}/v1", "kind": "Evil", "name": "evil", "namespace": "shop"}
    event = {"metadata": {"name": "evil.1", "namespace": "shop"}, "involvedObject": involved, "type": "Warning"}
    server.apply({"apiVersion": "v1", "kind": "Event", "reason": evil[:60], "message": evil, **event})
    assert made
    place = "#/object/data.example.com/v1/evils/evil?ns=shop"
    for hash_, shown in (
        (place, ".condition"),
        ("#/list/data.example.com/v1/evils", "tbody td"),
        (f"{place}&tab=form", ".hint"),
        (f"{place}&tab=history", ".diff"),
        ("#/definitions/evils.data.example.com", ".tree"),
    ):
        browser = page(hash_)
        browser.find(shown, "<img src=x")
        assert browser.run("return [...document.querySelectorAll('img, a[href^=javascript]')].length") == 0
        assert browser.run("return window.hurt ?? 0") == 0
    browser = page(f"{place}&tab=yaml")
    write(browser, "policy:", "policy: lfu #")
    browser.find(".verdict", "<img src=x")
    assert browser.run("return (window.hurt ?? 0) + document.querySelectorAll('img').length") == 0


def test_odd_addresses_show_a_page(page: Page) -> None:
    browser = page("#/list/%E0%A4%A/v1/x")
    browser.find(".empty", "The server does not serve x")
    browser = page("#/object/core/v1/configmaps/none?ns=shop")
    browser.find(".badge", "not found")
    browser.find("h1", "none")
    assert not browser.all("[role=tab]")
    assert browser.run("return document.title") == "none · configmaps · podless"


def test_a_draft_is_one_for_yaml_and_form_and_survives_other_pages(page: Page) -> None:
    browser = page(f"{ORDERS}&tab=yaml")
    write(browser, "storage: 20Gi", "storage: 21Gi")
    browser.click("[role=tab]", "Form")
    storage = "return document.querySelector(\"[data-field='spec.storage'] input\")?.value"
    browser.wait(lambda: browser.run(storage) == "21Gi")
    browser.click(".sidebar a", "Server")
    browser.find("h1", "Server")
    browser.driver.back()
    browser.click("[role=tab]", "YAML")
    browser.wait(lambda: "storage: 21Gi" in editor(browser))
    browser.click("button", "Discard")
    browser.wait(lambda: "storage: 20Gi" in editor(browser))


def test_values_of_secrets_are_hidden(page: Page) -> None:
    browser = page("#/object/core/v1/secrets/orders-password?ns=shop")
    browser.find(".data", "hidden, 7 bytes")
    assert "example" not in browser.find(".data").text
    browser.click("button", "Show the values")
    browser.find(".data dd", "example")
    browser = page("#/object/core/v1/secrets/orders-password?ns=shop&tab=history")
    browser.find(".diff .added", "hidden, 7 bytes")
    assert "ZXhhbXBsZQ" not in browser.text()


def test_access_of_several_users_is_compared(server: Server, page: Page) -> None:
    browser = page("#/access?ns=shop")
    user, groups = (f".subject-picker input[placeholder='{field_name}']" for field_name in ("zoe", "team-a,team-b"))
    subjects = ((user, "reader"), (user, "system:serviceaccount:shop:default"), (groups, "system:masters"))
    for field, text in subjects:
        browser.type(field, text)
        browser.click(".subject-picker button", "Add")
        browser.find(".subject", text)
    row = "return [...document.querySelectorAll('.matrix tr')].find(row => row.textContent.includes('Database'))"
    seen = f"{row}?.innerText.split('\\t').map(cell => cell.trim().replace(/\\s+/g, ' '))"
    expected = ["all", "get list", "– not allowed", "all"]
    browser.wait(lambda: browser.run(seen)[1:] == expected, "the access is another")
    browser.click("button[aria-label='Remove system:masters']")
    browser.gone(".subject", "system:masters")
    browser.driver.refresh()
    browser.find(".subject", "reader")
    browser = page("#/access?ns=shop", READER)
    browser.type(".subject-picker input[placeholder=zoe]", "admin")
    browser.click(".subject-picker button", "Add")
    browser.find("[role=alert]", "You may not ask what other users may do")


def test_the_server_page_plots_and_switches_faults(server: Server, page: Page) -> None:
    browser = page("#/server")
    browser.find(".plot", "Requests")
    browser.wait(lambda: len(browser.all(".plot canvas")) >= 9)
    browser.find(".checks", "ping")
    browser.click("button", "Conflict on updates")
    browser.find(".faults li", "409")
    browser.click("button", "Switch off")
    browser.find(".empty", "No faults")
    assert not server.list("faults", namespace=None)
    asked = urllib.request.Request(f"{server.url}/api/v1/namespaces/none", headers={"User-Agent": "tester/1"})
    context = ssl.create_default_context(cafile=server.authority)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked, context=context)
    browser.find(".tall tr", "/api/v1/namespaces/none")
    assert "tester/1" in browser.find(".tall tbody tr").text  # and none of the browser's own
    browser.type("input[aria-label='Filter requests']", "no such request")
    browser.find(".empty", "No other client")
    browser = page("#/server", READER)
    browser.find(".problem", "You may not see the requests")


def test_the_page_survives_cut_watches_and_a_server_that_restarts(page: Page, tmp_path: Path) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "first"}}
    with Server(tmp_path, console=True) as before:
        before.create(config)
        place, token = before.url, before.token
        browser = page("#/list/core/v1/configmaps?ns=default", token, place)
        browser.wait(lambda: rows(browser) == ["first"])
        fault = before.faults.add(verb="watch", resource="configmaps", cut_after=1, times=3)
        browser.driver.refresh()
        browser.find(".live", "Live")
        for name in ("second", "third", "fourth"):
            before.create({**config, "metadata": {"name": name}})
        browser.wait(lambda: rows(browser) == ["first", "fourth", "second", "third"])
        assert fault.injected > 1
    browser.find(".live", "Reconnecting")
    browser.find(".offline")
    assert rows(browser) == ["first", "fourth", "second", "third"]
    with Server(tmp_path, console=True, port=int(place.rpartition(":")[2])) as after:
        after.create({**config, "metadata": {"name": "last"}})
        browser.wait(lambda: rows(browser) == ["first", "fourth", "last", "second", "third"])
        browser.find(".live", "Live")
        browser.gone(".offline")


def store_together(server: Server, objects: list[dict[str, Any]]) -> None:
    """Store ConfigMaps a thousand at a time, without the work of their requests."""
    cluster = server._get_app().cluster
    assert cluster is not None
    api = cluster.api

    async def store() -> None:
        kind = api.registry.get("", "configmaps")
        assert kind is not None
        for start in range(0, len(objects), 1000):
            some = objects[start : start + 1000]
            names = ((one["metadata"]["namespace"], one["metadata"]["name"]) for one in some)
            keys = (kind.keys.key(*name) for name in names)
            stored = (view.encode_object(kind, one) for one in some)
            await api.store.commit([Operation(key, body, 0) for key, body in zip(keys, stored, strict=True)])

    assert server._loop is not None
    asyncio.run_coroutine_threadsafe(store(), server._loop).result()


def test_ten_thousand_objects_begin_to_show_within_a_second(server: Server, page: Page) -> None:
    own = {"namespace": "many", "creationTimestamp": "2026-01-31T12:00:00Z"}
    items = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"n{number:05}", "uid": f"u-{number}", **own}}
        for number in range(MANY)
    ]
    server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "many"}})
    store_together(server, items)
    browser = page("#/list/core/v1/configmaps?ns=many")
    browser.find(".table-foot", f"of {MANY} objects")
    assert len(browser.all("tbody tr")) < 100
    first = browser.run("return performance.getEntriesByName('first-table')[0]?.startTime ?? -1")
    print(f"first table of {MANY} objects after {first:.0f} ms")
    assert first > 0
    browser.find(".table-box").send_keys(Keys.END)
    browser.find(".table-foot", f"1000 shown of {MANY}")
    server.create({**items[0], "metadata": {"name": "a-first"}}, namespace="many")
    browser.find(".table-foot", f"of {MANY + 1}")
    browser.find(".filters input[type=search]").send_keys("n09999")
    browser.click(".note button", "Load all")
    browser.wait(lambda: "n09999" in rows(browser))


PAGES = [
    "#/",
    f"{DATABASES}?ns=shop",
    ORDERS,
    f"{ORDERS}&tab=yaml",
    f"{ORDERS}&tab=form",
    f"{ORDERS}&tab=history",
    f"{ORDERS}&tab=relations",
    f"{ORDERS}&tab=managers",
    "#/definitions/databases.data.example.com",
    "#/definitions/databases.data.example.com?part=Rules",
    "#/history?ns=shop",
    "#/access?who=[[%22reader%22],[%22%22,%22system:masters%22]]",
    "#/server",
]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1360), ("dark", 390)])
def test_pages_keep_the_policy_fit_and_are_accessible(page: Page, scheme: str, width: int) -> None:
    script = AXE.read_text() if AXE.exists() else ""
    wrong: list[str] = []
    for place in PAGES:
        browser = page(place, width=width)
        browser.prefer(scheme)
        browser.find("main h1, main h2")
        browser.gone(".loading")
        wrong += [f"{place}: {line}" for line in browser.errors() if "Security Policy" in line or "Uncaught" in line]
        foreign = "return performance.getEntriesByType('resource').filter(one => !one.name.startsWith(origin)).length"
        assert browser.run(foreign) == 0
        wide = browser.run(
            "const main = document.querySelector('main');"
            "const root = document.documentElement;"
            "const inside = main.scrollWidth - main.clientWidth;"
            "return [root.scrollWidth - innerWidth, inside, root.scrollHeight - innerHeight]"
        )
        wrong += [f"{place} is {pixels} pixels too wide or high" for pixels in wide if pixels > 0]
        if script:
            browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
            wrong += [f"{place}: {line}" for line in find_barriers(browser, RULES if width < 760 else None)]
    assert "\n".join(wrong) == ""
    if not script:
        pytest.skip("axe-core is not installed: run `make console`")


def find_barriers(browser: Browser, rules: list[str] | None) -> list[str]:
    """Return what axe finds serious. rules: all for None."""
    result = browser.driver.execute_async_script(
        "const [rules, done] = arguments;"
        "const only = rules === null ? {} : {runOnly: {type: 'rule', values: rules}};"
        "axe.run(document, {resultTypes: ['violations'], ...only}).then(done, error => done({violations: [], error}))",
        rules,
    )
    assert "error" not in result
    serious = [violation for violation in result["violations"] if violation["impact"] in ("serious", "critical")]
    return [f"{seriou['id']}: {node['html'][:150]}" for seriou in serious for node in seriou["nodes"][:3]]


def test_the_menu_of_a_phone_opens_and_leads_on(page: Page) -> None:
    browser = page("#/", width=390)
    browser.click("button[aria-label=Menu]")
    browser.find(".sidebar a", "Server").click()
    browser.find("h1", "Server")
    browser.gone(".sidebar")
