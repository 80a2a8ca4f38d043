"""Each team has a namespace, which its members may edit. Run it with: kopf run --standalone teams.py"""

from __future__ import annotations

import os
from typing import Any

import kopf
from kubernetes import client, config

GROUP = "people.example.com"
BINDING = "members"


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    """Read the kubeconfig, post no events, and retry soon after errors of the API."""
    path = os.environ.get("KUBECONFIG")  # the library looks at it once, when it is imported
    config.load_config(**({"config_file": path} if path else {}))
    settings.posting.enabled = False
    settings.networking.error_backoffs = [0.1, 0.2, 0.5, 1, 2]


@kopf.on.login()
def login(**given: Any) -> kopf.ConnectionInfo | None:
    """Give kopf the same server and credentials."""
    return kopf.login_with_kubeconfig(**given) or kopf.login_with_service_account(**given)


def namespace_of(team: str) -> str:
    """Return the name of a team's namespace."""
    return f"team-{team}"


def binding(team: str, members: list[str]) -> dict[str, Any]:
    """Return the RoleBinding that lets the members edit."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": BINDING, "namespace": namespace_of(team)},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name} for name in members],
    }


@kopf.on.create(GROUP, "v1", "teams", backoff=0.2)
@kopf.on.resume(GROUP, "v1", "teams", backoff=0.2)
@kopf.on.update(GROUP, "v1", "teams", field="spec", backoff=0.2)
def publish(name: str, spec: kopf.Spec, body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
    """Make the namespace and the binding match the spec. kopf retries after an error."""
    core, rbac = client.CoreV1Api(), client.RbacAuthorizationV1Api()
    space = {"metadata": {"name": namespace_of(name), "labels": {f"{GROUP}/team": name}}}
    kopf.append_owner_reference(space, owner=body)
    ensure(lambda: core.create_namespace(space))
    wanted = binding(name, list(spec["members"]))
    if not ensure(lambda: rbac.create_namespaced_role_binding(namespace_of(name), wanted)):
        rbac.patch_namespaced_role_binding(BINDING, namespace_of(name), {"subjects": wanted["subjects"]})
    patch.status["namespace"] = namespace_of(name)
    patch.status["members"] = len(spec["members"])


def ensure(create: Any) -> bool:
    """Create an object. Return False if it exists."""
    try:
        create()
    except client.ApiException as error:
        if error.status != 409:
            raise
        return False
    return True


@kopf.on.delete(GROUP, "v1", "teams", backoff=0.2)
def close(name: str, **_: Any) -> None:
    """Delete the binding. The garbage collector deletes the namespace with its owner."""
    try:
        client.RbacAuthorizationV1Api().delete_namespaced_role_binding(BINDING, namespace_of(name))
    except client.ApiException as error:
        if error.status != 404:
            raise
