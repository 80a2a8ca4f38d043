"""Two ways to say the same to a server: with a real kubectl, and in plain HTTP."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Protocol

import yaml

from podless import Server
from podless.runtime.jsonobject import Object
from tests.conftest import Client


class Refused(Exception):
    """The server said no; the text is what the user gets to see."""


class Driver(Protocol):
    """What the walks need. All raise Refused."""

    def apply(self, manifest: str) -> None:
        """Create the object, or change it."""

    def create(self, manifest: str) -> Object:
        """Create the object; the answer is it."""

    def show(self, api: str, plural: str, name: str) -> Object:
        """The object as one version shows it."""

    def listed(self, api: str, plural: str, selector: str = "") -> list[str]:
        """The names of the objects in the namespace default."""

    def delete(self, manifest: str) -> None:
        """Delete the object, and wait until it is gone."""


class Kubectl:
    """A kubectl of any age."""

    def __init__(self, command: str, server: Server, folder: Path) -> None:
        self.command, self.folder = command, folder
        self.environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(folder)}

    def run(self, *arguments: str, stdin: str = "") -> str:
        """What it prints; what it warns of is left out."""
        done = subprocess.run(
            [self.command, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.folder,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    def apply(self, manifest: str) -> None:
        self.run("apply", "-f", "-", stdin=manifest)

    def create(self, manifest: str) -> Object:
        made: Object = yaml.safe_load(self.run("create", "--validate=false", "-o", "yaml", "-f", "-", stdin=manifest))
        return made

    def show(self, api: str, plural: str, name: str) -> Object:
        group, version = api.split("/")
        found: Object = json.loads(self.run("get", f"{plural}.{version}.{group}", name, "-o", "json"))
        return found

    def listed(self, api: str, plural: str, selector: str = "") -> list[str]:
        group, version = api.split("/")
        shown = self.run("get", f"{plural}.{version}.{group}", "-o", "name", "-l", selector)
        return [line.rpartition("/")[2] for line in shown.split()]

    def delete(self, manifest: str) -> None:
        self.run("delete", "-f", "-", stdin=manifest)


class Plain:
    """HTTP, JSON, and what discovery says."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.client.send(method, path, body)
        if answer.status >= 400:
            raise Refused(answer.body["message"] if isinstance(answer.body, dict) else str(answer.body))
        return answer.body

    def _where(self, api: str, plural: str = "", kind: str = "") -> str:
        known = self._send("GET", f"/apis/{api}")["resources"]
        found = next(one for one in known if "/" not in one["name"] and (one["name"] == plural or one["kind"] == kind))
        place = "namespaces/default/" if found["namespaced"] else ""
        return f"/apis/{api}/{place}{found['name']}"

    def _path(self, obj: Object) -> str:
        return self._where(obj["apiVersion"], kind=obj["kind"])

    def apply(self, manifest: str) -> None:
        obj = yaml.safe_load(manifest)
        path = self._path(obj)
        there = self.client.get(f"{path}/{obj['metadata']['name']}")
        if there.status == 404:
            self._send("POST", path, obj)
        else:
            obj["metadata"]["resourceVersion"] = there.body["metadata"]["resourceVersion"]
            self._send("PUT", f"{path}/{obj['metadata']['name']}", obj)

    def create(self, manifest: str) -> Object:
        obj = yaml.safe_load(manifest)
        made: Object = self._send("POST", self._path(obj), obj)
        return made

    def show(self, api: str, plural: str, name: str) -> Object:
        found: Object = self._send("GET", f"{self._where(api, plural)}/{name}")
        return found

    def listed(self, api: str, plural: str, selector: str = "") -> list[str]:
        query = f"?labelSelector={selector.replace('=', '%3D')}" if selector else ""
        return [one["metadata"]["name"] for one in self._send("GET", self._where(api, plural) + query)["items"]]

    def delete(self, manifest: str) -> None:
        obj = yaml.safe_load(manifest)
        path = f"{self._path(obj)}/{obj['metadata']['name']}"
        self._send("DELETE", path)
        while self.client.get(path).status != 404:
            pass
