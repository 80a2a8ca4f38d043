"""Whatever is sent as an older definition is taken or refused: nothing ends in an error of the server."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podless.apis.apiextensions import manifests
from tests.conftest import CRDS, Client, tries
from tests.legacy.conftest import BETA, THIRD, beta
from tests.legacy.test_third import third

GROUP = "hostile.example.com"
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "b": {"items": {"pattern": "a"}},
        "c": {"x-kubernetes-embedded-resource": True},
    },
    "not": {"required": ["z"]},
}
WHOLE = beta(
    GROUP,
    versions=[
        {"name": "v1", "served": True, "storage": True},
        {"name": "v2", "served": True, "storage": False, "subresources": {"status": {}}},
    ],
    validation={"openAPIV3Schema": SCHEMA},
    additionalPrinterColumns=[{"name": "A", "type": "string", "JSONPath": ".a"}],
    conversion={"strategy": "None"},
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    (
        None,
        "",
        "a",
        "v1",
        0,
        -1,
        1.5,
        True,
        False,
        [],
        [None],
        [1],
        [{}],
        {},
        {"a": None},
        {"type": "object"},
        "x" * 300,
    )
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(place for key, item in inner for place in places(item, (*path, key)))]


@st.composite
def spoilt(draw: st.DrawFn, whole: Any) -> Any:
    """A document with something odd in up to three places."""
    found = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(found) or [("kind",)]))
        holder = found
        for key in path[:-1]:
            holder = holder[key]
        if draw(st.booleans()) and isinstance(holder, dict):
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(draw(ODD))
    return found


@settings(max_examples=tries(150), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.one_of(spoilt(WHOLE), spoilt(third(GROUP))))
def test_definitions(client: Client, document: Any) -> None:
    path = THIRD if "versions" in document or "description" in document else BETA
    made = client.post(path, document)
    assert made.status < 500, made.body
    if made.status == 201:
        name = made.body["metadata"]["name"]
        for shown in (BETA, CRDS) if path == BETA else (THIRD,):
            assert client.get(f"{shown}/{name}").status == 200
        client.send("DELETE", f"{path}/{name}")


@settings(max_examples=tries(150), deadline=None)
@given(st.one_of(spoilt(WHOLE), spoilt(third(GROUP))))
def test_manifests(document: Any) -> None:
    if not manifests.is_older(document):
        return
    with contextlib.suppress(manifests.BadManifest):
        assert manifests.convert_definition(document).definition["apiVersion"] == "apiextensions.k8s.io/v1"
