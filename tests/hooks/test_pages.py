"""The example of docs/how-to/hooks.md does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podless import Server
from podless.remote.cluster import Refused
from tests.hooks.test_conversion import definition

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "hooks.md"


def test_the_example_runs(tmp_path: Path) -> None:
    text = re.findall(r"```python[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    (tmp_path / "app.py").write_text(text)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    with Server(hooks=tmp_path / "app.py") as server:
        server.apply(definition())
        made = server.create({**widget, "spec": {"size": 60}})
        assert made["metadata"]["labels"] == {"owner": "admin"}
        assert made["spec"] == {"size": 60, "color": "grey"}
        [shown] = server.list("widgets")
        assert shown["spec"] == {"replicas": 60, "color": "grey"}
        with pytest.raises(Refused, match=r"spec\.size cannot shrink"):
            server.apply({**widget, "spec": {"size": 1}})
