"""v1 -> v1beta1 -> v1 and v1beta1 -> v1 -> v1beta1: nothing is lost on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis.apiextensions.definition import beta, fill
from podless.structs import structs
from podless.structs.structfiles import load_struct
from tests.conformance import recorded
from tests.conftest import CRDS, Client
from tests.legacy.conftest import BETA

CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
CUSTOM_RESOURCE_DEFINITION_BETA = load_struct("apiextensions/v1beta1", "CustomResourceDefinition")

pytestmark = pytest.mark.slow

REAL = recorded.real_definitions()


def text(value: Any) -> str:
    """JSON with the order of keys, which counts."""
    return json.dumps(value)


@pytest.mark.parametrize("real", REAL, ids=lambda real: real["metadata"]["name"])
def test_real_definitions_come_back_as_they_were(real: Any) -> None:
    crd = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, real)
    fill.set_defaults(crd)
    before = text(crd)
    older = beta.from_v1(crd)
    assert text(structs.decode_struct(CUSTOM_RESOURCE_DEFINITION_BETA, older)) == text(
        older
    )  # all of it is known there
    assert text(beta.to_v1(older)) == before
    assert text(crd) == before


@pytest.mark.slow
def test_real_definitions_written_back_through_v1beta1_do_not_change(client: Client) -> None:
    for crd in REAL:
        name = crd["metadata"]["name"]
        assert client.post(CRDS, crd).status == 201, name
        before = client.get(f"{CRDS}/{name}").body
        older = client.get(f"{BETA}/{name}").body
        written = client.send(
            "PUT", f"{BETA}/{name}?fieldManager={before['metadata']['managedFields'][0]['manager']}", older
        )
        assert written.status == 200, (name, written.body)
        assert client.get(f"{CRDS}/{name}").body == before, name
        client.send("DELETE", f"{CRDS}/{name}")


_SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {}, optional={"type": st.sampled_from(("string", "object")), "description": st.text(max_size=3)}
    ),
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=2)}
    ),
    max_leaves=4,
)
_PARTS: dict[str, st.SearchStrategy[Any]] = {
    "schema": st.fixed_dictionaries({}, optional={"openAPIV3Schema": _SCHEMAS}),
    "subresources": st.fixed_dictionaries(
        {},
        optional={
            "status": st.just({}),
            "scale": st.just({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}),
        },
    ),
    "additionalPrinterColumns": st.lists(
        st.fixed_dictionaries(
            {"name": st.text(min_size=1, max_size=2), "type": st.just("string"), "jsonPath": st.just(".a")}
        ),
        min_size=1,
        max_size=2,
    ),
    "selectableFields": st.lists(st.just({"jsonPath": ".spec.a"}), min_size=1, max_size=2),
}
_VERSIONS = st.lists(
    st.fixed_dictionaries({"served": st.booleans(), "storage": st.booleans()}, optional=_PARTS), min_size=1, max_size=3
)
_CONVERSIONS = st.sampled_from(
    (
        {"strategy": "None"},
        {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}},
    )
)


@given(_VERSIONS, _CONVERSIONS, st.booleans())
def test_any_definition_of_v1_comes_back(versions: list[Any], conversion: Any, preserve: bool) -> None:
    spec = {
        "group": "a.b",
        "names": {"plural": "as", "kind": "A"},
        "scope": "Cluster",
        "versions": [{"name": f"v{index}", **version} for index, version in enumerate(versions, 1)],
        "conversion": conversion,
    }
    if preserve:
        spec["preserveUnknownFields"] = True
    crd = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, {"spec": spec})
    older = beta.from_v1(crd)
    assert text(beta.to_v1(older)) == text(crd)
    # what came from v1 obeys v1beta1's rules of what may stand where
    assert not beta.check_exclusive(beta.read_layout(older["spec"]))
    again = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION_BETA, older)
    assert text(beta.from_v1(beta.to_v1(again))) == text(again)


@given(
    st.dictionaries(st.sampled_from(("group", "scope", "versions", "version", "names", "conversion")), st.just(None))
)
def test_parts_may_be_missing(absent: dict[str, None]) -> None:
    """Server-side apply compares what managers said, which is rarely a whole definition."""
    whole = {
        "group": "a.b",
        "scope": "Cluster",
        "version": "v1",
        "names": {},
        "conversion": {},
        "versions": [{"name": "v1"}],
    }
    crd = {"kind": "CustomResourceDefinition", "spec": {key: item for key, item in whole.items() if key not in absent}}
    beta.from_v1(beta.to_v1(crd))
    assert beta.to_v1({"kind": "CustomResourceDefinition"}) == {"kind": "CustomResourceDefinition"}
