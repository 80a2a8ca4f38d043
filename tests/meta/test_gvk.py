from __future__ import annotations

import random

from podless.meta import gvk


def test_versions_come_in_the_order_of_the_documents_and_odd_names_last() -> None:
    ordered = [
        "v10",
        "v2",
        "v1",
        "v0",
        "v11beta2",
        "v10beta3",
        "v3beta1",
        "v3beta0",
        "v12alpha1",
        "v11alpha2",
        "foo1",
        "foo10",
        "v1rc1",
        "v99999999999999999999",
    ]
    for seed in range(5):
        mixed = random.Random(seed).sample(ordered, len(ordered))
        assert sorted(mixed, key=gvk.rank_version) == ordered


def test_leading_zeros_are_no_other_number() -> None:
    assert gvk.rank_version("v01")[:4] == gvk.rank_version("v1")[:4]
