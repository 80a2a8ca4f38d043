"""Fields whose feature gate is off: decoded, and dropped by writes that add them."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from podless.apis.features import choose_release
from podless.structs.gated import drop_gated
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct, decode_struct


def struct_in(release: str, name: str) -> Struct:
    return load_struct("core/v1", name, choose_release(release))


def test_decoding_keeps_a_field_whose_gate_is_off() -> None:
    unknown: list[str] = []
    read = decode_struct(struct_in("1.30", "PodSpec"), {"hostUsers": True, "odd": 1}, unknown)
    assert read["hostUsers"] is True
    assert unknown == ["odd"]


def test_a_new_object_loses_fields_at_any_depth() -> None:
    spec = {"hostUsers": False, "containers": [{"name": "a", "resources": {"claims": [{"name": "b"}]}}]}
    drop_gated(struct_in("1.30", "PodSpec"), spec)
    assert spec == {"containers": [{"name": "a", "resources": {}}]}


def test_an_object_that_has_a_field_of_the_gate_keeps_all_of_them() -> None:
    spec: dict[str, Any] = {"hostUsers": False, "resourceClaims": [{"name": "a"}], "containers": []}
    drop_gated(struct_in("1.30", "PodSpec"), spec, {"containers": [{"resources": {"claims": [{"name": "b"}]}}]})
    assert spec == {"resourceClaims": [{"name": "a"}], "containers": []}


@pytest.mark.parametrize("name", ["Pod", "Service", "PersistentVolumeClaim"])
def test_a_release_with_all_gates_on_looks_at_no_field(name: str) -> None:
    assert struct_in("1.30", name).off_gates
    assert not struct_in("1.36", name).off_gates


def test_who_sends_a_dropped_field_owns_it() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 80}], "trafficDistribution": "PreferClose"},
    }
    with Server(kubernetes_version="1.30") as server:
        created = server.create(service)
    assert "trafficDistribution" not in created["spec"]
    assert "f:trafficDistribution" in created["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
