"""What an attack is: what an administrator or a user has stored before, and the requests that it makes expensive."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.asks.ask import CRDS, GROUP, JSON, MERGE, Ask, ask, crd, text
from bench.load.server import Served
from podless.runtime.jsonobject import Object

CORE = "/api/v1/namespaces/default"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ADMIN, PLAIN = "attacker", "plain"  # users: one who may do everything, and one who may do what a set-up grants


class Site:
    """A server and what set-ups need of it. scale: of all numbers. hook: a webhook that runs, where one is needed."""

    def __init__(self, server: Served, scale: float, hook: Any = None) -> None:
        self.server = server
        self.scale = scale
        self.hook = hook

    def many(self, number: int) -> int:
        """A number as it is scaled."""
        return max(2, round(number * self.scale))

    def post(self, path: str, body: Any) -> None:
        """Create something. Raises RuntimeError."""
        self.server.send("POST", path, text(body) if not isinstance(body, bytes) else body)

    def define(self, spec: Object, plural: str = "things", **version: Any) -> str:
        """Serve a kind whose `spec` has this schema. Returns the path of its objects."""
        self.server.install(defined(spec, plural, **version))
        return objects(plural)


@dataclass(frozen=True, slots=True)
class Attack:
    """One of them. row: of the table, with a number where there are several. setup: what is stored before; it returns
    the requests. watches: requests that stay open meanwhile. hook: what a webhook
    answers, where one is needed. keeps: MB of memory that it may keep, for what is made of the set-up once.
    fails: whether a real server answers 500 as well. abreast: how many of the requests are under way at once.
    """

    row: str
    what: str
    setup: Callable[[Site], Sequence[Ask]]
    watches: Callable[[Site], Sequence[Ask]] = lambda site: ()
    hook: Callable[[Site, Any], Any] | None = None
    keeps: float = 64.0
    fails: bool = False
    abreast: int = 1


def objects(plural: str = "things", version: str = "v1") -> str:
    return f"/apis/{GROUP}/{version}/namespaces/default/{plural}"


def defined(spec: Object, plural: str = "things", **version: Any) -> Object:
    """The definition of a kind whose `spec` has this schema."""
    return crd(plural, {"type": "object", "properties": {"spec": spec}}, **version)


def post(path: str, body: Any, user: str = ADMIN, **headers: str) -> Ask:
    return ask("POST", path, body if isinstance(body, bytes) else text(body), Authorization=f"Bearer {user}", **headers)


def merge(path: str, body: Any, user: str = ADMIN) -> Ask:
    return ask("PATCH", path, text(body), MERGE, Authorization=f"Bearer {user}")


def get(path: str, accept: str = JSON, user: str = ADMIN) -> Ask:
    return ask("GET", path, Accept=accept, Authorization=f"Bearer {user}")


def changed(plural: str = "things") -> Ask:
    """A definition changes: what is known of its kind is made anew."""
    return merge(f"{CRDS}/{plural}.{GROUP}", {"spec": {"names": {"shortNames": ["x"]}}})


def numbers(stem: str, many: int) -> list[str]:
    return [f"{stem}{number}" for number in range(many)]


def operations(value: Any) -> str:
    """A JSON patch as an admission webhook answers it."""
    return base64.b64encode(json.dumps(value).encode()).decode()
