from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.console.browser import Browser


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    """A browser, shared by the tests of a module."""
    from tests.console.browser import Browser  # with selenium, whose import takes others 0.2 s

    browser = Browser()
    yield browser
    browser.close()
