"""ThirdPartyResource of extensions/v1beta1."""

from __future__ import annotations

from podless.meta.gotypes import STRING, ListOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import OBJECT_META, TYPE_META

_PACKAGE = "v1beta1"

API_VERSION = Struct("APIVersion", (Field("name", STRING, 1), Field("apiGroup", STRING, 2)), _PACKAGE)

THIRD_PARTY_RESOURCE = Struct(
    "ThirdPartyResource",
    (
        *TYPE_META,
        Field("metadata", OBJECT_META, 1),
        Field("description", STRING, 2),
        Field("versions", ListOf(API_VERSION), 3),
    ),
    _PACKAGE,
)
