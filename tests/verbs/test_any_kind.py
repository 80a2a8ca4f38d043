"""Any object and any nonsense to every built-in kind: taken, or refused in clear words."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podless.apis.catalog import ALL
from podless.kinds.kind import Kind, Version
from tests.conftest import Client, tries
from tests.structs.test_protobuf_random import ANYTHING, objects

pytestmark = pytest.mark.slow

SERVED = [
    (kind, version)
    for kind in ALL
    for version in kind.versions
    if {"create", "delete"} <= set(kind.verbs) and version.name == "v1"
]
METADATA = st.sampled_from([{}, {"labels": {"a": "b"}}, {"annotations": {"": ""}}])
# lists with keys need them when they are applied, and not every text can be said in YAML
UNAPPLIED = ("omits all key fields", "error decoding YAML")
UNMERGED = ("does not contain declared merge key", "list element types are not identical")
NAMES = st.sampled_from(["any", "a.b", "Bad_", "", "x" * 300])


def path(kind: Kind, version: Version) -> str:
    root = f"/apis/{kind.group}/{version.name}" if kind.group else f"/api/{version.name}"
    return f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"


@st.composite
def bodies(draw: st.DrawFn, kind: Kind, version: Version) -> dict[str, Any]:
    """An object of the kind, of which some parts may be something else."""
    struct = kind.struct_of(version)
    assert struct is not None
    body = draw(objects(struct))
    body["metadata"] = {
        "name": draw(NAMES),
        **draw(st.sampled_from([{}, {"labels": {"a": "b"}}, {"annotations": {"": ""}}])),
    }
    for _ in range(draw(st.integers(0, 2))):
        inner = body
        while True:
            name = draw(st.sampled_from(sorted(inner)))
            if not isinstance(inner[name], dict) or not inner[name] or draw(st.booleans()):
                break
            inner = inner[name]
        inner[name] = draw(ANYTHING)
    return body


@pytest.mark.parametrize(("kind", "version"), SERVED, ids=lambda given: getattr(given, "plural", ""))
@settings(max_examples=tries(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_fails(client: Client, kind: Kind, version: Version, data: st.DataObject) -> None:
    where = path(kind, version)
    made = client.post(f"{where}?dryRun=All", data.draw(bodies(kind, version)))
    assert made.status in (201, 400, 403, 404, 409, 422), made.body
    if made.status != 201:
        return
    # what is taken can be applied as it is
    metadata = {key: value for key, value in made.body["metadata"].items() if key != "managedFields"}
    applied = json.dumps({**made.body, "metadata": {**metadata, "uid": ""}}, ensure_ascii=False).encode()
    target = f"{where}/{quote(metadata['name'])}?dryRun=All&fieldManager=m&force=true"
    answer = client.send("PATCH", target, applied, Content_Type="application/apply-patch+yaml")
    if answer.status != 201:
        assert any(text in answer.body["message"] for text in UNAPPLIED), answer.body


@pytest.mark.parametrize(("kind", "version"), SERVED, ids=lambda given: getattr(given, "plural", ""))
@settings(max_examples=tries(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_change_fails(client: Client, kind: Kind, version: Version, data: st.DataObject) -> None:
    where = path(kind, version)
    made = client.post(where, {**data.draw(bodies(kind, version)), "metadata": {"name": "any"}})
    try:
        body = {**data.draw(bodies(kind, version)), "metadata": {"name": "any"}}
        assert client.send("PUT", f"{where}/any?dryRun=All", body).status in (200, 201, 400, 404, 409, 422)
        for form in ("merge-patch", "strategic-merge-patch"):
            answer = client.send("PATCH", f"{where}/any?dryRun=All", body, Content_Type=f"application/{form}+json")
            # items of lists that are merged by a key must be alike and have it: a real server speaks of a failure, too
            unfit = answer.status == 500 and any(text in answer.body["message"] for text in UNMERGED)
            assert unfit or answer.status in (200, 400, 403, 404, 409, 422), answer.body
    finally:
        if made.status == 201:
            client.send("DELETE", f"{where}/any")
