"""Pictures of the console's main pages, for the documentation."""

from __future__ import annotations

from pathlib import Path

from podless import Server
from podless.store.history import LOG_BOUNDS
from tests.console import demo
from tests.console.browser import Browser

FOLDER = Path(__file__).parent.parent.parent / "docs" / "images"
ORDERS = "#/object/data.example.com/v1/databases/orders?ns=shop"
# name -> page, colours, width
PAGES = {
    "table": ("#/list/data.example.com/v1/databases?ns=shop", "light", 1280),
    "yaml": (f"{ORDERS}&tab=yaml", "dark", 1280),
    "history": (f"{ORDERS}&tab=history", "light", 1280),
    "definition": ("#/definitions/databases.data.example.com", "light", 1280),
    "server": ("#/server", "dark", 1280),
}


def write_screenshots(folder: Path = FOLDER) -> int:
    """Write the pictures into a folder."""
    browser = Browser(1280, 800)
    try:
        with Server(console=True, enable_faults=True, history_log=LOG_BOUNDS) as server:
            demo.fill(server)
            place = f"{server.url}/console/"
            browser.open(place)
            browser.run("sessionStorage.setItem('podless.token', arguments[0])", server.token)
            for name, (page, scheme, width) in PAGES.items():
                browser.prefer(scheme)
                browser.resize(width, 800)
                browser.open(place + page)
                browser.driver.refresh()
                browser.find("main h1")
                browser.gone(".loading")
                if name == "server":
                    seconds = "return performance.now() > 9000"
                    browser.wait(lambda wait=seconds: browser.run(wait))  # type: ignore[misc]
                file = folder / f"console-{name}.png"
                browser.picture(file)
                print(f"wrote {file}")
    finally:
        browser.close()
    return 0
