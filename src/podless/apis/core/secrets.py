"""Strategy of Secret."""

from __future__ import annotations

import base64

from podless.apis.shared import keypair
from podless.apis.shared.checks import validate_immutable_fields, validate_sealed
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gobase64, serializer
from podless.kinds.kind import Version
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys, sort_texts
from podless.structs.gotypes import explain_unmarshal

ACCOUNT_TOKEN = "kubernetes.io/service-account-token"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"

_MAX = 1024 * 1024  # maximum bytes of all values
_TLS = "kubernetes.io/tls"
# required keys by type; all except those for TLS have JSON objects
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    _TLS: ("tls.crt", "tls.key"),
}
# one of two keys, and a key that is not empty
_BASIC_AUTH, _BASIC_KEYS = "kubernetes.io/basic-auth", ("username", "password")
_SSH_AUTH, _SSH_KEY = "kubernetes.io/ssh-auth", "ssh-privatekey"


class SecretStrategy(TypedStrategy):
    """Strategy of Secret. The type is immutable, and some types require certain keys."""

    rearranged = False
    selects = frozenset({"type"})

    def complete(self, obj: Object, raw: Object) -> None:
        """Move stringData to data."""
        texts = obj.pop("stringData", None)
        if texts:
            encoded = {key: base64.b64encode(text.encode()).decode() for key, text in each(texts).items()}
            data = sort_keys({**(obj.get("data") or {}), **encoded})
            type_ = obj.pop("type", None)
            obj |= {"data": data} | ({"type": type_} if type_ is not None else {})

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        if old is not None:
            yield from validate_immutable_fields(obj, old, "type", named=True)
            yield from validate_sealed(obj, old, "data")
        data = obj.get("data") or {}
        for key in each(sort_texts(data)):
            yield from field.invalid_details(f"data[{key}]", key, names.check_config_key(key))
        if sum(gobase64.count_decoded_bytes(value or "") for value in each(data).values()) > _MAX:
            yield field.too_long("data", _MAX)
        yield from _validate_type(obj, data)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        if obj.get("type") != _TLS:
            return []
        data = obj.get("data") or {}
        pair_fault = keypair.find_key_pair_fault(*(base64.b64decode(data.get(key) or "") for key in _NEEDED[_TLS]))
        return [pair_fault] if pair_fault else []

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"type": obj.get("type", "")}


def _validate_type(obj: Object, data: Object) -> field.Errors:
    """Require the keys and values of the Secret's type."""
    type_ = obj.get("type", "")
    if type_ == ACCOUNT_TOKEN and not (obj["metadata"].get("annotations") or {}).get(ACCOUNT_NAME):
        yield field.required(f"metadata.annotations[{ACCOUNT_NAME}]")
    elif type_ == _BASIC_AUTH and data.keys().isdisjoint(_BASIC_KEYS):
        yield from (field.required(f"data[{key}]") for key in _BASIC_KEYS)
    elif type_ == _SSH_AUTH and not data.get(_SSH_KEY):
        yield field.required(f"data[{_SSH_KEY}]")
    for key in _NEEDED.get(type_, ()):
        if key not in data:
            yield field.required(f"data[{key}]")
        elif type_ != _TLS and (fault := _find_json_fault(base64.b64decode(data[key] or ""))):
            yield field.invalid(f"data[{key}]", "<secret contents redacted>", fault)


def _find_json_fault(raw: bytes) -> str:
    """Return the fault of bytes that are not a JSON object, or ""."""
    try:
        value = serializer.decode_json(raw)
    except serializer.JSONError as error:
        return str(error)
    if value is None or isinstance(value, dict):
        return ""
    return explain_unmarshal(value)


STRATEGY = SecretStrategy()
