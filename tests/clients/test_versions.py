"""The example of docs/how-to/versions.md, with kubectl."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from podless import Server
from podless.cli import main
from tests.clients.conftest import Walk
from tests.conftest import kubectl_runner
from tests.webhooks import Webhook

pytestmark = pytest.mark.clients

PAGE = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "versions.md").read_text()


def test_the_page_about_versions(walk: Walk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (manifest,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (service,) = re.findall(r"podless serve --service (\S+)=\S+", PAGE)
    (command,) = re.findall(r"podless (migrate .*)", PAGE)
    named: dict[str, Any] = {}
    exec(program, named)
    hook = Webhook(named["convert"], names=("crontab-conversion.default.svc",))
    with Server(services={service: f"127.0.0.1:{hook.port}"}) as server:
        walk = Walk(kubectl_runner(walk.binary, server, tmp_path), tmp_path, walk.binary, old=walk.old)
        definition = yaml.safe_load(manifest.replace("CA-BUNDLE", hook.bundle))
        walk.save("crd.yaml", definition)
        assert walk.type("kubectl apply -f crd.yaml").endswith("created\n")
        group = "versions.example.com"
        head = {"apiVersion": f"{group}/v1beta1", "kind": "CronTab", "metadata": {"name": "a"}}
        walk.save("old.yaml", head | {"hostPort": "localhost:80"})
        assert walk.type("kubectl apply -f old.yaml") == "crontab.versions.example.com/a created\n"
        assert (
            walk.type("kubectl get crontab a -o jsonpath={.apiVersion}/{.host}/{.port}") == f"{group}/v1/localhost/80"
        )

        walk.save("new.yaml", head | {"apiVersion": f"{group}/v1", "host": "localhost", "port": "81"})
        assert walk.type("kubectl apply -f new.yaml") == "crontab.versions.example.com/a configured\n"
        older = "kubectl get crontabs.v1beta1.versions.example.com a -o jsonpath={.hostPort}"
        assert walk.type(older) == "localhost:81"

        for version in definition["spec"]["versions"]:
            version["storage"] = version["name"] == "v1"
        walk.save("crd.yaml", definition)
        assert walk.type("kubectl apply -f crd.yaml").endswith("configured\n")
        stored = "kubectl get crd crontabs.versions.example.com -o jsonpath={.status.storedVersions}"
        assert walk.type(stored) == '["v1beta1","v1"]'
        assert main([*command.split(), "--kubeconfig", str(server.kubeconfig)]) == 0
        assert "1 object rewritten in v1; none is stored in v1beta1" in capsys.readouterr().out
        assert walk.type(stored) == '["v1"]'
        definition["spec"]["versions"] = [
            version for version in definition["spec"]["versions"] if version["name"] == "v1"
        ]
        walk.save("crd.yaml", definition)
        assert walk.type("kubectl apply -f crd.yaml").endswith("configured\n")
        assert walk.type("kubectl get crontab a -o jsonpath={.host}:{.port}") == "localhost:81"
    hook.close()
