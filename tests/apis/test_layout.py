"""Built-in kinds are in etcd where kube-apiserver has them, and readable in its protobuf form."""

from __future__ import annotations

import pytest

from podless.apis.core.group import CONFIG_MAPS
from podless.apis.layout import key_layout
from podless.structs import protobuf

LAYOUT = key_layout("/registry")


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("/core/pods/a/b", "/registry/pods/a/b"),
        ("/core/services/a/b", "/registry/services/specs/a/b"),
        ("/core/endpoints/a/b", "/registry/services/endpoints/a/b"),
        ("/core/nodes/a", "/registry/minions/a"),
        ("/core/events/a/b", "/registry/events/a/b"),
        ("/apps/deployments/a/b", "/registry/deployments/a/b"),
        ("/coordination.k8s.io/leases/a/b", "/registry/leases/a/b"),
        (
            "/apiextensions.k8s.io/customresourcedefinitions/a",
            "/registry/apiextensions.k8s.io/customresourcedefinitions/a",
        ),
        ("/example.com/services/a/b", "/registry/example.com/services/a/b"),
    ],
)
def test_keys_are_those_of_a_real_server(here: str, there: str) -> None:
    assert LAYOUT.encode_key(here) == there.encode()
    assert LAYOUT.decode_key(there.encode()) == here


def test_protobuf_is_read() -> None:
    kind = CONFIG_MAPS
    assert kind.struct is not None
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "uid": "1"}, "data": {"k": "v"}}
    stored = LAYOUT.decode_value("/core/configmaps/default/a", protobuf.write_object(kind.struct, obj))
    assert stored.with_revision(7) == (
        b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"1","resourceVersion":"7"},'
        b'"data":{"k":"v"}}'
    )
