"""Facts about the choice of an answer's form."""

from __future__ import annotations

import pytest

from podless.http import negotiate
from podless.http.negotiate import Form
from podless.meta.errors import NotAcceptable

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form()),
        ("*/*", Form()),
        ("application/*", Form()),
        ("application/yaml", Form("application/yaml")),
        ("text/html, */*;q=0.1", Form()),
        ("application/json;q=0.5, application/yaml", Form("application/yaml")),
        (TABLE, Form(target="Table", version="v1")),
        (f"{TABLE}, application/json", Form(target="Table", version="v1")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io, application/json", Form()),
    ],
)
def test_the_best_clause_that_can_be_met_decides(accept: str, form: Form) -> None:
    assert negotiate.of_resource(accept) == form


@pytest.mark.parametrize("accept", ["text/html", "application/json;as=Table;v=v9;g=meta.k8s.io"])
def test_what_is_not_offered_is_refused(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="accepted: application/json, application/yaml, "):
        negotiate.of_resource(accept)


@pytest.mark.parametrize("accept", ["application/yaml", "application/yaml,application/json"])
def test_a_watch_is_no_yaml(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="application/json;stream=watch"):
        negotiate.of_resource(accept, watch=True)
