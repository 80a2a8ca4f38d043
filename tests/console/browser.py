"""A headless Chromium that a test drives."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE = float(os.environ.get("PATIENCE", "30"))  # seconds: machines are shared
_CERTIFICATES = "profile.managed_auto_select_certificate_for_urls"  # the policy AutoSelectCertificateForUrls
T = TypeVar("T")


class Browser:
    """One page of a browser.

    home: the user's folder, where the browser looks for client certificates. It shows one to each server on this
    machine that asks.
    """

    def __init__(self, width: int = 1360, height: int = 860, *, scale: float = 1, home: Path | None = None) -> None:
        options = Options()
        options.binary_location = str(CHROMIUM)
        for flag in ("headless=new", "no-sandbox", "ignore-certificate-errors", "disable-dev-shm-usage", "disable-gpu"):
            options.add_argument(f"--{flag}")
        options.add_argument(f"--window-size={width},{height}")
        options.add_argument(f"--force-device-scale-factor={scale}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        environment = {**os.environ}
        if home is not None:
            environment["HOME"] = str(home)
            options.add_experimental_option(
                "prefs", {_CERTIFICATES: ['{"pattern": "https://127.0.0.1", "filter": {}}']}
            )
        self.driver = webdriver.Chrome(options, Service(str(DRIVER), env=environment))
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Give the page a size in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme: str) -> None:
        """Say which colours the system prefers: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, url: str) -> None:
        """Open a page; only another fragment of the same page does not load it anew."""
        self.driver.get(url)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, what: Callable[[], T], told: str = "") -> T:
        """Wait until something is true, and return it."""

        def look(_: object) -> T | bool:
            try:
                return what() or False
            except StaleElementReferenceException:
                return False

        found = WebDriverWait(self.driver, PATIENCE, 0.05).until(look, told or "it did not happen")
        assert not isinstance(found, bool) or found
        return found  # type: ignore[return-value]

    def find(self, selector: str, text: str = "") -> WebElement:
        """Wait for an element that is shown and has a text, and return it."""

        def look() -> WebElement | None:
            for element in self.driver.find_elements(By.CSS_SELECTOR, selector):
                if element.is_displayed() and text in element.text:
                    return element
            return None

        return self.wait(look, f"no {selector} with {text!r}; the page has: {self.text()[:600]}")  # type: ignore[return-value]

    def all(self, selector: str) -> list[WebElement]:
        """Return all elements that there are."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def click(self, selector: str, text: str = "") -> None:
        """Click on an element when it is there."""

        def click() -> bool:
            self.find(selector, text).click()
            return True

        self.wait(click)

    def type(self, selector: str, text: str) -> None:
        """Replace what a field has."""
        field = self.find(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)

    def gone(self, selector: str, text: str = "") -> None:
        """Wait until no element with a text is shown."""
        self.wait(
            lambda: not any(one.is_displayed() and text in one.text for one in self.all(selector)),
            f"{selector} with {text!r} is still there",
        )

    def text(self) -> str:
        """Return the text of the page."""
        return str(self.run("return document.body.innerText"))

    def errors(self) -> list[str]:
        """Return what the page reported as errors since the last call."""
        lines = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [line["message"] for line in lines if line["level"] == "SEVERE"]

    def picture(self, file: Path) -> None:
        """Write a picture of the page."""
        self.driver.save_screenshot(str(file))

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()


def editor(browser: Browser) -> str:
    script = "const e = document.querySelector('.editor-place')?.shadowRoot?.querySelector('.cm-content');"
    return str(browser.run(script + "return e ? e.innerText : ''"))


def write(browser: Browser, old: str, new: str) -> None:
    """Replace a text in the editor as a user does who selects a line and types."""
    browser.wait(lambda: old in editor(browser), f"the editor does not have {old}")
    text = browser.run(
        "const lines = [...document.querySelector('.editor-place').shadowRoot.querySelectorAll('.cm-line')];"
        "const line = lines.find(one => one.innerText.includes(arguments[0]));"
        "line.closest('.cm-content').focus();"
        "getSelection().setBaseAndExtent(line, 0, line, line.childNodes.length);"
        "return line.textContent",
        old,
    )
    browser.driver.execute_cdp_cmd("Input.insertText", {"text": text.replace(old, new)})
    browser.wait(lambda: new in editor(browser), f"the editor does not have {new}: {editor(browser)}")
