"""The descriptions of the API's fields, from the .fields files (structs/structfiles.py).

OpenAPI documents (and so `kubectl explain`) and the columns of tables read them here.
"""

from __future__ import annotations

from collections.abc import Mapping

from podless.runtime.bounded import bounded_cache
from podless.structs.structfiles import homes_of, load_file

META = "meta.k8s.io"  # the group of shared texts


def field_text(group: str, struct: str, field: str = "") -> str:
    """Return the description of a field of a struct, or of the struct itself; "" if there is none.

    The versions of a group share their texts: a text of one version is found for all. Common fields (apiVersion, kind,
    metadata, spec, status) have common texts unless the struct has its own.
    """
    described = struct_texts(group, struct)
    return choose_text(described, field) if field else described.get("", "")


def choose_text(described: Mapping[str, str], field: str) -> str:
    """Return the description of a field, given the texts of its struct; "" if there is none."""
    return described.get(field) or struct_texts(META, "Object").get(field, "")


@bounded_cache(1024)
def struct_texts(group: str, struct: str) -> Mapping[str, str]:
    """Return the struct's own texts by field; that of the struct itself under ""."""
    texts: dict[str, str] = {}
    for home in homes_of(group):
        texts = {**load_file(home).read_texts(struct), **texts}
    return texts
