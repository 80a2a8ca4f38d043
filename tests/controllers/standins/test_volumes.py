"""Claims are bound to volumes, and go when nobody uses them."""

from __future__ import annotations

from podless.runtime.jsonobject import Object
from tests.controllers.standins.conftest import POD, Namespace
from tests.eventually import until

SPEC: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def phase(obj: Object) -> str:
    found: str = (obj.get("status") or {}).get("phase", "")
    return found


def test_a_claim_gets_a_volume_that_goes_with_it(home: Namespace) -> None:
    where = home.make("", "PersistentVolumeClaim", "data", SPEC)
    claim = home.status(where, phase="Bound", capacity={"storage": "1Gi"}, accessModes=["ReadWriteOnce"])
    volume = f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}"
    found = home.until(volume, lambda obj: phase(obj) == "Bound")
    assert found["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
    home.client.send("DELETE", where)
    until(lambda: home.client.get(where).status == 404)
    until(lambda: home.client.get(volume).status == 404)


def test_one_that_a_pod_uses_stays(home: Namespace) -> None:
    where = home.make("", "PersistentVolumeClaim", "data", SPEC)
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    pod = home.make("", "Pod", "user", {**POD, "volumes": volumes})
    home.status(pod, phase="Running")
    home.client.send("DELETE", where)
    assert "deletionTimestamp" in home.status(where, phase="Bound")["metadata"]
    home.client.send("DELETE", pod)
    until(lambda: home.client.get(where).status == 404)


def test_a_volume_that_a_claim_names_is_kept(home: Namespace) -> None:
    name = f"own-{home.name}"
    spec = {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    ref = {"namespace": home.name, "name": "data"}
    answer = home.client.post(
        "/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": {**spec, "claimRef": ref}}
    )
    assert answer.status == 201, answer.body
    where = home.make("", "PersistentVolumeClaim", "data", {**SPEC, "volumeName": name})
    home.status(where, phase="Bound", capacity={"storage": "2Gi"})
    home.client.send("DELETE", where)
    until(lambda: home.client.get(where).status == 404)
    assert home.client.get(f"/api/v1/persistentvolumes/{name}").status == 200


def test_a_class_of_attributes_goes_when_no_claim_names_it(home: Namespace) -> None:
    name = f"fast-{home.name}"
    classes = "/apis/storage.k8s.io/v1/volumeattributesclasses"
    made = home.client.post(classes, {"metadata": {"name": name}, "driverName": "d", "parameters": {"iops": "9"}})
    assert made.body["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]
    claim = home.make("", "PersistentVolumeClaim", "data", {**SPEC, "volumeAttributesClassName": name})
    home.status(claim, phase="Bound")
    assert "deletionTimestamp" in home.client.send("DELETE", f"{classes}/{name}").body["metadata"]
    home.client.send("DELETE", claim)
    until(lambda: home.client.get(claim).status == 404)
    until(lambda: home.client.get(f"{classes}/{name}").status == 404)
