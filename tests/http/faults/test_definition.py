"""Faults as a kind: the definition is sound, and takes what Python takes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podless.apis import offline
from podless.http.faults import BadFault, InjectedFault
from podless.http.faults.fault import TERMS, FieldSpec
from podless.http.faults.objects import fault_definition, fault_kind

KIND = fault_kind()


def test_the_definition_is_one_that_a_server_takes() -> None:
    made = offline.define_kind(fault_definition())
    assert (list(made.errors), list(made.warnings)) == ([], [])
    assert made.kind is not None
    assert (made.kind.kind, made.kind.plural) == (KIND.kind, KIND.plural)


def values(term: FieldSpec) -> st.SearchStrategy[Any]:
    """Values of a field, most of them good."""
    if term.choices:
        return st.sampled_from([*term.choices, "other"])
    if term.type is str:
        return st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5) | st.just("x" * 5000)
    if term.type is bool:
        return st.booleans()
    near = [term.minimum, term.minimum - 1, term.maximum, term.maximum + 1, 1]
    numbers = st.sampled_from(near).map(term.type)
    return numbers if term.type is int else numbers | st.floats(0, 1)


SPECS = st.lists(st.sampled_from(sorted(TERMS)), max_size=4, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: values(TERMS[name]) for name in names})
)


@given(SPECS)
def test_an_object_is_good_where_python_takes_the_same(spec: dict[str, Any]) -> None:
    obj = {"apiVersion": "testing.podless.dev/v1", "kind": "Fault", "metadata": {"name": "x"}, "spec": spec}
    checked = offline.check_object(KIND, KIND.versions[0], json.dumps(obj).encode())
    assert not checked.findings
    try:
        InjectedFault.from_spec("x", spec)
    except BadFault as error:
        refused = str(error)
    else:
        refused = ""
    assert bool(checked.errors) is bool(refused), (refused, [str(error) for error in checked.errors])
