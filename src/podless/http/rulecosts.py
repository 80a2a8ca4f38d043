"""The estimated costs of a definition's rules: GET of a CustomResourceDefinition with ?ruleCosts=true.

A real server ignores the parameter and answers the definition. RBAC is that of the GET.
"""

from __future__ import annotations

import orjson

from podless.codec.gotext import MAX_INT64
from podless.http.message import JSON, Response
from podless.kinds import view
from podless.runtime.jsonobject import Object
from podless.verbs import options
from podless.verbs.call import API, Call
from podless.verbs.get import get_object

PARAMETER = "ruleCosts"


def asks_costs(call: Call) -> bool:
    """Return whether a GET of a definition asks for the costs of its rules."""
    kind = call.kind
    return (
        PARAMETER in call.query
        and (kind.group, kind.plural, call.version.name) == ("apiextensions.k8s.io", "customresourcedefinitions", "v1")
        and not call.subresource
        and options.read_boolean(call, PARAMETER) is True
    )


async def read_costs(api: API, call: Call) -> Response:
    """Return the costs. Raises the errors of `get_object`."""
    entry = get_object(api, call, await api.load_collection(call.kind)).entry
    assert entry is not None
    definition = view.load_object(call.kind, call.version, entry)
    return await api.off_loop.run(len(entry.body), _render_costs, definition)


def _render_costs(definition: Object) -> Response:
    from podless.cel.rules.definitions import RULE_LIMIT, TOTAL_LIMIT  # imported late: CEL is slow to import

    versions = [_list_costs(version) for version in definition["spec"]["versions"]]
    report = {
        "apiVersion": "podless.dev/v1",
        "kind": "RuleCosts",
        "definition": definition["metadata"]["name"],
        "limits": {"rule": RULE_LIMIT, "total": TOTAL_LIMIT},
        "versions": versions,
    }
    return Response(200, [orjson.dumps(report, option=orjson.OPT_APPEND_NEWLINE)], JSON)


def _list_costs(version: Object) -> Object:
    from podless.cel.rules.definitions import estimate_rules, list_nodes
    from podless.cel.rules.rule import RULES

    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    rules, total = [], 0
    for steps, nodes in list_nodes(schema):
        for rule, cost in zip(nodes[-1].get(RULES) or (), estimate_rules(nodes), strict=True):
            total += cost.total + cost.message
            costs = {"once": cost.per_evaluation, "times": cost.times, "cost": cost.total, "messageCost": cost.message}
            entry = {"path": ".".join(steps), "rule": rule.get("rule") or ""}
            entry |= {name: min(value, MAX_INT64) for name, value in costs.items()}
            rules.append(entry | ({"error": cost.error} if cost.error else {}))
    return {"name": version["name"], "total": min(total, MAX_INT64), "rules": rules}
