from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.console.browser import Browser


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    """A browser, shared by the tests of a module."""
    browser = Browser()
    yield browser
    browser.close()
