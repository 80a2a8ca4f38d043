"""Which FlowSchema and priority level a request belongs to: clients are told by two headers of each answer.

podless takes turns by user (fairness.py), so that a level has no say in when a request is carried out. Source:
k8s.io/apiserver pkg/util/flowcontrol/rule.go, and pkg/server/filters/priority-and-fairness.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podless.auth.attributes import Attributes
from podless.auth.user import User, of_account
from podless.http.message import Answer, Handler, Pending, Request
from podless.kinds.builtin.catalog import FLOW_SCHEMAS, PRIORITY_LEVELS
from podless.verbs.call import API

Object = Mapping[str, Any]

_ANY = "*"
_KEPT = 1024  # answers
_GROUPS = 64  # of a user for whom answers are kept


class Flows:
    """The filter that finds out the flow of each request. Nothing is told where no FlowSchemas are served."""

    _handler: Handler

    def __init__(self, api: API) -> None:
        self._schemas = api.collection(FLOW_SCHEMAS)
        self._levels = api.collection(PRIORITY_LEVELS)
        self._seen = -1, -1
        self._read: list[tuple[Object, bytes]] = []
        self._known: dict[object, bytes] = {}

    def filter(self, handler: Handler) -> Handler:
        """The handler, behind this."""
        self._handler = handler
        return self.handle

    def handle(self, request: Request) -> Answer | Pending:
        """The handler's answer."""
        info = request.info
        if not info.long_running or info.asked.verb == "watch":
            request.flow = self.find(request.user, info.asked)
        return self._handler(request)

    def find(self, user: User, asked: Attributes) -> bytes:
        """The lines of an answer's head that name the flow of a request."""
        if self._seen != (self._schemas.changed, self._levels.changed):
            self._look()
        key = (user.name, user.groups, *asked[:6], asked.path) if len(user.groups) <= _GROUPS else None
        found = self._known.get(key) if key is not None else None
        if found is None:
            found = next((lines for schema, lines in self._read if _matches(schema, user, asked)), b"")
            if key is not None:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[key] = found
        return found

    def _look(self) -> None:
        """Read the schemas whose level is there, those that go first before the others."""
        self._seen = self._schemas.changed, self._levels.changed
        self._known.clear()
        levels = {one.name: one.decode()["metadata"]["uid"] for one in self._levels.under(PRIORITY_LEVELS.prefix)[0]}
        schemas = [entry.decode() for entry in self._schemas.under(FLOW_SCHEMAS.prefix)[0]]
        schemas.sort(key=lambda one: (one["spec"].get("matchingPrecedence") or 0, one["metadata"]["name"]))
        self._read = []
        for one in schemas:
            level = levels.get(one["spec"]["priorityLevelConfiguration"]["name"])
            if level is not None:
                told = one["metadata"]["uid"], level
                lines = "X-Kubernetes-PF-FlowSchema-UID: {}\r\nX-Kubernetes-PF-PriorityLevel-UID: {}\r\n".format(*told)
                self._read.append((one, lines.encode()))


def _matches(schema: Object, user: User, asked: Attributes) -> bool:
    fits = _resource_fits if asked.resource else _path_fits
    part = "resourceRules" if asked.resource else "nonResourceRules"
    return any(
        any(_is_subject(one, user) for one in rule.get("subjects") or ())
        and any(_in(one.get("verbs"), asked.verb) and fits(one, asked) for one in rule.get(part) or ())
        for rule in schema["spec"].get("rules") or ()
    )


def _is_subject(subject: Object, user: User) -> bool:
    kind = subject["kind"]
    if kind == "User":
        return subject["user"]["name"] in (_ANY, user.name)
    if kind == "Group":
        return subject["group"]["name"] == _ANY or subject["group"]["name"] in user.groups
    account = subject["serviceAccount"]
    whole = of_account(account["namespace"], account["name"]).name
    return user.name.startswith(whole.removesuffix(_ANY)) if account["name"] == _ANY else user.name == whole


def _resource_fits(rule: Object, asked: Attributes) -> bool:
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    if not _in(rule.get("apiGroups"), asked.group) or not _in(rule.get("resources"), resource):
        return False
    return _in(rule.get("namespaces"), asked.namespace) if asked.namespace else bool(rule.get("clusterScope"))


def _path_fits(rule: Object, asked: Attributes) -> bool:
    return any(
        one in (_ANY, asked.path) or (one.endswith(_ANY) and asked.path.startswith(one.rstrip(_ANY)))
        for one in rule.get("nonResourceURLs") or ()
    )


def _in(wanted: Sequence[str] | None, value: str) -> bool:
    return wanted is not None and (_ANY in wanted or value in wanted)
