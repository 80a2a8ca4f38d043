"""Kinds that are loaded at first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from podless.apis.catalog import OPTIONAL
from podless.kinds.kind import Version, serve_versions
from podless.kinds.late import NOT_YET, LateKind

LOADED = """
import sys
from podless import Server
from podless.structs.structfiles import load_file
def late():
    names = ("apps.deployments", "core.pods")
    structs = ("core/v1", "Pod"), ("apps/v1", "Deployment"), ("networking/v1", "Ingress")
    parsed = [name for home, name in structs if "declared_fields" in vars(load_file(home).get_struct(name))]
    return [name for name in names if f"podless.apis.{name}" in sys.modules] + parsed
import json, ssl, urllib.request
with Server(profile="full") as server:
    print(late())
    def get(path):
        request = urllib.request.Request(server.url + path, headers={"Authorization": f"Bearer {server.token}"})
        urllib.request.urlopen(request, context=ssl._create_unverified_context()).read()
    get("/apis/apps/v1"), get("/apis"), get("/apis/apps/v1/namespaces/default/configmaps".replace("apis/apps", "api"))
    print(late())
    get("/openapi/v2")
    print(late())
    get("/apis/apps/v1/namespaces/default/deployments")
    print("apps.deployments" in late(), "core.pods" in late())
"""


def test_a_server_holds_no_kinds_that_nobody_uses() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]", str(["Pod", "Deployment", "Ingress"]), "True False"]


@pytest.mark.parametrize("kind", OPTIONAL, ids=lambda kind: kind.resource)
def test_all_have_their_rules_and_fields(kind: LateKind) -> None:
    for version in kind.versions:
        struct = kind.struct_of(version)
        assert struct is not None
        assert struct.name == kind.kind
        assert version.status <= ("status" in struct.field_ranks)
    assert kind.strategy is not NOT_YET
    assert not kind.custom


def test_a_kind_with_fewer_versions_is_as_late() -> None:
    whole = next(kind for kind in OPTIONAL if len(kind.versions) > 1)
    left = serve_versions(whole, {"v2"})
    assert isinstance(left, LateKind)
    assert [version.name for version in left.versions] == ["v2"]
    assert left.struct_of(Version("v2")) is whole.struct_of(Version("v2"))
