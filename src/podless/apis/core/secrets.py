"""Strategy of Secret."""

from __future__ import annotations

import base64

from podless.apis.shared import keypair
from podless.apis.shared.checks import validate_immutable_fields
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gobase64, serializer
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys, sort_texts
from podless.structs.gotypes import explain_unmarshal

ACCOUNT_TOKEN = "kubernetes.io/service-account-token"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"

_MAX = 1024 * 1024  # maximum bytes of all values
_TLS = "kubernetes.io/tls"
_IMMUTABLE = "field is immutable when `immutable` is set"
# required keys by type; for the last two types one of the keys, and one that is not empty
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    _TLS: ("tls.crt", "tls.key"),
}
_JSON_TYPES = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")
_BASIC_AUTH, _BASIC_KEYS = "kubernetes.io/basic-auth", ("username", "password")
_SSH_AUTH, _SSH_KEY = "kubernetes.io/ssh-auth", "ssh-privatekey"


class SecretStrategy(TypedStrategy):
    """Strategy of Secret. The type is immutable, and some types require certain keys."""

    selects = frozenset({"type"})

    def complete(self, obj: Object, raw: Object) -> None:
        """Move stringData to data."""
        texts = obj.pop("stringData", None)
        if texts:
            encoded = {key: base64.b64encode(text.encode()).decode() for key, text in each(texts).items()}
            data = sort_keys({**(obj.get("data") or {}), **encoded})
            type_ = obj.pop("type", None)
            obj |= {"data": data} | ({"type": type_} if type_ is not None else {})

    def validate_create(self, version: Version, obj: Object) -> Faults:
        errors: list[FieldError] = []
        data = obj.get("data") or {}
        for key in each(sort_texts(data)):
            errors += field.invalid_details(f"data[{key}]", key, names.check_config_key(key))
        if sum(gobase64.count_decoded_bytes(value or "") for value in each(data).values()) > _MAX:
            errors.append(field.too_long("data", _MAX))
        return [*errors, *_check_type(obj, data)]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        errors = [*validate_immutable_fields(obj, old, "type", named=True)]
        if old.get("immutable"):
            if not obj.get("immutable"):
                errors.append(field.forbidden("immutable", _IMMUTABLE))
            if (obj.get("data") or {}) != (old.get("data") or {}):
                errors.append(field.forbidden("data", _IMMUTABLE))
        return [*errors, *self.validate_create(version, obj)]

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        if obj.get("type") != _TLS:
            return []
        data = obj.get("data") or {}
        pair_fault = keypair.find_key_pair_fault(*(base64.b64decode(data.get(key) or "") for key in _NEEDED[_TLS]))
        return [pair_fault] if pair_fault else []

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"type": obj.get("type", "")}


def _check_type(obj: Object, data: Object) -> list[FieldError]:
    """Require the keys and values of the Secret's type."""
    type_ = obj.get("type", "")
    if type_ == ACCOUNT_TOKEN:
        account = (obj["metadata"].get("annotations") or {}).get(ACCOUNT_NAME)
        return [] if account else [field.required(f"metadata.annotations[{ACCOUNT_NAME}]")]
    if type_ == _BASIC_AUTH:
        has_basic_key = any(key in data for key in _BASIC_KEYS)
        return [] if has_basic_key else [field.required(f"data[{key}]") for key in _BASIC_KEYS]
    if type_ == _SSH_AUTH:
        return [] if data.get(_SSH_KEY) else [field.required(f"data[{_SSH_KEY}]")]
    needed = _NEEDED.get(type_, ())
    missing = [field.required(f"data[{key}]") for key in each(needed) if key not in data]
    if missing or type_ not in _JSON_TYPES:
        return missing
    fault = _json_fault(base64.b64decode(data[needed[0]] or ""))
    return [field.invalid(f"data[{needed[0]}]", "<secret contents redacted>", fault)] if fault else []


def _json_fault(raw: bytes) -> str:
    """Return the fault of bytes that are not a JSON object, or ""."""
    try:
        value = serializer.decode_json(raw)
    except serializer.JSONError as error:
        return str(error)
    if value is None or isinstance(value, dict):
        return ""
    return explain_unmarshal(value)


STRATEGY = SecretStrategy()
