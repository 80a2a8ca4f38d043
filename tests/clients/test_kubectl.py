"""The walk of the documents with the real kubectl: definition, objects, and the end of both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED

pytestmark = pytest.mark.clients

DOCUMENTS = SHARED / "seeds"


def example(section: str, number: int) -> str:
    """The nth YAML example of a section of the CustomResourceDefinition document."""
    found = sorted(DOCUMENTS.glob("003*"))
    if not found:
        pytest.skip("the documents are not beside this checkout")
    text = found[0].read_text()
    start = text.index(f"## {section}\n")
    examples: list[str] = re.findall(r"```yaml\n(.*?)```", text[start:], re.DOTALL)
    return examples[number]


def test_the_documented_walk(kubectl: Any, tmp_path: Path) -> None:
    (tmp_path / "resourcedefinition.yaml").write_text(example("Create a CustomResourceDefinition", 0))
    (tmp_path / "my-crontab.yaml").write_text(example("Create custom objects", 0))
    created = kubectl("apply", "-f", "resourcedefinition.yaml")
    assert created == "customresourcedefinition.apiextensions.k8s.io/crontabs.stable.example.com created\n"
    waited = kubectl("wait", "--for=condition=Established", "crd/crontabs.stable.example.com", "--timeout=5s")
    assert waited == "customresourcedefinition.apiextensions.k8s.io/crontabs.stable.example.com condition met\n"

    assert kubectl("apply", "-f", "my-crontab.yaml") == "crontab.stable.example.com/my-new-cron-object created\n"
    assert re.fullmatch(r"NAME +AGE\nmy-new-cron-object +\d+s\n", kubectl("get", "crontab"))
    shown = kubectl("get", "ct", "-o", "yaml")
    for line in ("generation: 1", "cronSpec: '* * * * */5'", "image: my-awesome-cron-image", "namespace: default"):
        assert line in shown
    assert "cronSpec\t<string>" in kubectl("explain", "crontab.spec")
    assert kubectl("apply", "-f", "my-crontab.yaml") == "crontab.stable.example.com/my-new-cron-object unchanged\n"

    deleted = kubectl("delete", "-f", "resourcedefinition.yaml")
    assert deleted == 'customresourcedefinition.apiextensions.k8s.io "crontabs.stable.example.com" deleted\n'
    gone = kubectl("get", "crontabs")
    assert "the server doesn't have a resource type" in gone or "could not find the requested resource" in gone

    # made again it starts out empty
    kubectl("apply", "-f", "resourcedefinition.yaml")
    assert kubectl("get", "crontabs") == "No resources found in default namespace.\n"
    kubectl("delete", "-f", "resourcedefinition.yaml")


def test_the_examples_of_the_readme(kubectl: Any) -> None:
    examples = Path(__file__).parent.parent.parent / "docs" / "examples"
    kubectl("apply", "-f", str(examples / "crontab-crd.yaml"))
    assert kubectl("apply", "-f", str(examples / "crontab.yaml")).endswith("my-new-cron-object created\n")
    assert re.search(r"my-new-cron-object +\* \* \* \* \*/5 +1 +\d+s", kubectl("get", "crontabs"))
    assert kubectl("delete", "-f", str(examples / "crontab-crd.yaml")).endswith("deleted\n")


def test_system_namespaces_are_there(kubectl: Any) -> None:
    shown = kubectl("get", "namespaces", "-o", "name")
    for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
        assert f"namespace/{name}\n" in shown


def test_the_version_tells_clients_how_to_behave(kubectl: Any) -> None:
    from podless import __version__

    assert f"Server Version: v1.36.2+podless.{__version__}" in kubectl("version")


def test_a_watch_shows_changes_as_they_come(kubectl: Any, client: Any) -> None:
    from tests.conftest import CRDS, definition, gadget

    group = "kubectl-watch.example.com"
    assert client.post(CRDS, definition(group)).status == 201
    base = f"/apis/{group}/v1/namespaces/default/gadgets"
    client.post(base, gadget(group, "one"))
    shown = kubectl("wait", "--for=jsonpath={.metadata.name}=one", f"gadgets.{group}/one", "--timeout=5s")
    assert shown == f"gadget.{group}/one condition met\n"
    client.send("DELETE", f"{CRDS}/gadgets.{group}")
