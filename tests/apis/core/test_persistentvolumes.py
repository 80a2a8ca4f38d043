"""Persistent volumes: of the place of one the same is asked as of a volume of a pod, and more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Client

VOLUMES = "/api/v1/persistentvolumes"
FORM = "must be valid format"


def causes(client: Client, **source: Any) -> list[tuple[str, str]]:
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, **source}
    answer = client.post(f"{VOLUMES}?dryRun=All", {"metadata": {"name": "volume"}, "spec": spec})
    assert answer.status in (201, 422), answer.body
    found = (answer.body.get("details") or {}).get("causes") or ()
    return [(cause["field"], cause["message"].rpartition(": ")[2]) for cause in found]


ISCSI = {"targetPortal": "10.0.0.1:3260", "iqn": "iqn.2001-04.com.example:disk1", "lun": 0}
PAIRS = "must be a host:port pair or multiple pairs separated by commas"
RESERVED = "kubernetes.io and k8s.io namespaces are reserved"
WHY = "must be under 64 characters if iscsi.initiatorName is specified."
LONG = f"Total length of <volume name>:<iscsi.targetPortal> {WHY}"


@pytest.mark.parametrize(
    ("source", "field", "text"),
    [
        ({"iscsi": {**ISCSI, "iqn": "disk"}}, "iscsi.iqn", FORM),
        ({"iscsi": {**ISCSI, "iqn": "iqn.disk"}}, "iscsi.iqn", FORM),
        ({"iscsi": {**ISCSI, "initiatorName": "me"}}, "iscsi.initiatorname", FORM),
        ({"iscsi": {**ISCSI, "secretRef": {"namespace": "a"}}}, "iscsi.secretRef.name", "Required value"),
        ({"quobyte": {"registry": "a,b:1", "volume": "v"}}, "quobyte.registry", PAIRS),
        ({"cinder": {"volumeID": "v", "secretRef": {"name": "s"}}}, "cinder.secretRef.namespace", "Required value"),
        (
            {"storageos": {"volumeName": "v", "secretRef": {"name": "s"}}},
            "storageos.secretRef.namespace",
            "Required value",
        ),
        ({"flexVolume": {"driver": "d", "options": {"k8s.io/a": "b"}}}, "flexVolume.options[k8s.io/a]", RESERVED),
        (
            {"azureFile": {"secretName": "s", "shareName": "n", "secretNamespace": ""}},
            "azureFile.secretNamespace",
            "Required value",
        ),
        ({"hostPath": {"path": ""}}, "hostPath.path", "Required value"),
    ],
)
def test_what_a_type_of_volume_needs(client: Client, source: dict[str, Any], field: str, text: str) -> None:
    assert causes(client, **source) == [(f"spec.{field}", text)]


def test_the_names_of_a_volume_and_of_its_portal_are_not_too_long_together(client: Client) -> None:
    disk = {**ISCSI, "targetPortal": "a" * 58, "initiatorName": "iqn.2001-04.com.example:me"}
    assert causes(client, iscsi=disk) == [("spec.iscsi.targetportal", LONG)]
    assert causes(client, iscsi={**disk, "targetPortal": "a" * 57}) == []


def test_the_nodes_of_a_volume_are_selected_as_those_of_a_pod(client: Client) -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["A", "b"]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    where = "spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields[0].values"
    assert causes(client, local={"path": "/x"}, nodeAffinity=affinity)[0] == (where, why)


def test_a_local_volume_says_something_of_nodes(client: Client) -> None:
    needed = [("spec.nodeAffinity", "Local volume requires node affinity")]
    assert causes(client, local={"path": "/x"}) == needed
    bare = [("spec.nodeAffinity.required", "must specify required node constraints")]
    assert causes(client, local={"path": "/x"}, nodeAffinity={}) == bare


def test_a_negative_size_is_shown_in_whole_bytes(client: Client) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "-1500m"}, "nfs": {"server": "s", "path": "/"}}
    answer = client.post(f"{VOLUMES}?dryRun=All", {"metadata": {"name": "volume"}, "spec": spec})
    assert [cause["message"] for cause in answer.body["details"]["causes"]] == [
        "Invalid value: -2: must be a valid resource quantity",
        'Invalid value: "-1500m": must be greater than zero',
    ]


def test_a_capacity_of_nothing_is_shown(client: Client) -> None:
    assert ("spec.capacity", '"storage"') in causes(client, capacity={}, hostPath={"path": "/a"})
    body = {"metadata": {"name": "v"}, "spec": {"capacity": {}, "accessModes": ["ReadWriteOnce"]}}
    assert (
        'spec.capacity: Unsupported value: {}: supported values: "storage"'
        in client.post(VOLUMES, body).body["message"]
    )
