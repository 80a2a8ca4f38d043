"""Lists of structs in annotations: what Go's decoder says of others."""

from __future__ import annotations

import pytest

from podless.apis.shared.annotated import read_structs


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("null", ""),
        ("[null]", ""),
        ('[{"TOLERATIONSECONDS": 1, "other": {}}]', ""),
        ("[", "unexpected end of JSON input"),
        ("{}", "json: cannot unmarshal object into Go value of type []core.Toleration"),
        ('["a"]', "json: cannot unmarshal string into Go value of type core.Toleration"),
        (
            '[{"effect": true}]',
            "json: cannot unmarshal bool into Go struct field Toleration.Effect of type core.TaintEffect",
        ),
        (
            '[{"tolerationSeconds": 1.5}]',
            "json: cannot unmarshal number 1.5 into Go struct field Toleration.TolerationSeconds of type int64",
        ),
    ],
)
def test_faults(text: str, fault: str) -> None:
    assert read_structs(text, "Toleration")[1] == fault


def test_names_of_fields_fit_in_any_case() -> None:
    assert read_structs('[{"KEY": "a", "x": 1}]', "Taint") == ([{"key": "a"}], "")
