"""The founding documents: their examples, found by section and number."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest
import yaml

from tests.conftest import SHARED

DEFINITIONS = "003"
SUBRESOURCES = "002"


class Document:
    """One document. Examples are its fenced blocks, counted from the heading on, in sections below it too."""

    def __init__(self, number: str) -> None:
        found = sorted((SHARED / "seeds").glob(f"{number}*"))
        if not found:
            pytest.skip("the documents are not beside this checkout")
        self._text = found[0].read_text()

    def block(self, section: str, number: int, form: str = "yaml") -> str:
        """The nth example of a form, "" for those that name none."""
        start = re.search(rf"^#+ {re.escape(section)}( {{.*)?$", self._text, re.MULTILINE)
        assert start is not None, section
        blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```", self._text[start.end() :], re.DOTALL | re.MULTILINE)
        return textwrap.dedent([text for kind, text in blocks if kind == form][number])

    def schema(self, section: str, number: int, form: str = "yaml") -> Any:
        """An example that is a schema, or a part of a definition with one."""
        found = yaml.safe_load(self.block(section, number, form))
        return found.get("openAPIV3Schema", found)


def crontabs(schema: Any, **names: Any) -> dict[str, Any]:
    """The documents' definition with another schema."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "crontabs.stable.example.com"},
        "spec": {
            "group": "stable.example.com",
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "shortNames": ["ct"], **names},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def crontab(**fields: Any) -> dict[str, Any]:
    """The documents' object with other fields."""
    head = {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "my-new-cron-object"}}
    return head | fields
