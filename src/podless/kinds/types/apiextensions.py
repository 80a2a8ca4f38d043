"""CustomResourceDefinition of apiextensions.k8s.io, v1 and v1beta1."""

from __future__ import annotations

from dataclasses import replace

from podless.kinds.types.jsonschema import JSON_SCHEMA_PROPS, make
from podless.meta.gotypes import BOOL, BYTES, INT32, INT64, STRING, ListOf, String, Type
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import OBJECT_META, STRINGS, TYPE_META, condition, resource

NAMES = Struct(
    "CustomResourceDefinitionNames",
    (
        Field("plural", STRING, 1, always=True),
        Field("singular", STRING, 2),
        Field("shortNames", STRINGS, 3),
        Field("kind", STRING, 4, always=True),
        Field("listKind", STRING, 5),
        Field("categories", STRINGS, 6),
    ),
)

SERVICE_REFERENCE = Struct(
    "ServiceReference",
    (
        Field("namespace", STRING, 1, always=True),
        Field("name", STRING, 2, always=True),
        Field("path", STRING, 3, pointer=True),
        Field("port", INT32, 4, pointer=True),
    ),
)

WEBHOOK_CLIENT_CONFIG = Struct(
    "WebhookClientConfig",
    (
        Field("url", STRING, 3, pointer=True),
        Field("service", SERVICE_REFERENCE, 1, pointer=True),
        Field("caBundle", BYTES, 2),
    ),
)

WEBHOOK_CONVERSION = Struct(
    "WebhookConversion",
    (
        Field("clientConfig", WEBHOOK_CLIENT_CONFIG, 2, pointer=True),
        Field("conversionReviewVersions", STRINGS, 3, always=True),
    ),
)

CONVERSION = Struct(
    "CustomResourceConversion",
    (
        Field("strategy", String("v1.ConversionStrategyType"), 1, always=True),
        Field("webhook", WEBHOOK_CONVERSION, 2, pointer=True),
    ),
)

SUBRESOURCE_STATUS = Struct("CustomResourceSubresourceStatus", ())

SUBRESOURCE_SCALE = Struct(
    "CustomResourceSubresourceScale",
    (
        Field("specReplicasPath", STRING, 1, always=True),
        Field("statusReplicasPath", STRING, 2, always=True),
        Field("labelSelectorPath", STRING, 3, pointer=True),
    ),
)

SUBRESOURCES = Struct(
    "CustomResourceSubresources",
    (Field("status", SUBRESOURCE_STATUS, 1, pointer=True), Field("scale", SUBRESOURCE_SCALE, 2, pointer=True)),
)

COLUMN = Struct(
    "CustomResourceColumnDefinition",
    (
        Field("name", STRING, 1, always=True),
        Field("type", STRING, 2, always=True),
        Field("format", STRING, 3),
        Field("description", STRING, 4),
        Field("priority", INT32, 5),
        Field("jsonPath", STRING, 6, always=True),
    ),
)

SELECTABLE_FIELD = Struct("SelectableField", (Field("jsonPath", STRING, 1, always=True),))

VALIDATION = Struct(
    "CustomResourceValidation",
    (Field("openAPIV3Schema", JSON_SCHEMA_PROPS, 1, pointer=True),),
)

VERSION = Struct(
    "CustomResourceDefinitionVersion",
    (
        Field("name", STRING, 1, always=True),
        Field("served", BOOL, 2, always=True),
        Field("storage", BOOL, 3, always=True),
        Field("deprecated", BOOL, 7),
        Field("deprecationWarning", STRING, 8, pointer=True),
        Field("schema", VALIDATION, 4, pointer=True),
        Field("subresources", SUBRESOURCES, 5, pointer=True),
        Field("additionalPrinterColumns", ListOf(COLUMN), 6),
        Field("selectableFields", ListOf(SELECTABLE_FIELD), 9),
    ),
)

SPEC = Struct(
    "CustomResourceDefinitionSpec",
    (
        Field("group", STRING, 1, always=True),
        Field("names", NAMES, 3, required=True),
        Field("scope", String("v1.ResourceScope"), 4, always=True),
        Field("versions", ListOf(VERSION), 7, always=True),
        Field("conversion", CONVERSION, 9, pointer=True),
        Field("preserveUnknownFields", BOOL, 10),
    ),
)

DEFINITION_CONDITION = condition("CustomResourceDefinitionCondition", Field("observedGeneration", INT64, 6))

DEFINITION_STATUS = Struct(
    "CustomResourceDefinitionStatus",
    (
        Field("conditions", ListOf(DEFINITION_CONDITION), 1, always=True, required=False, keys=("type",)),
        Field("acceptedNames", NAMES, 2),
        Field("storedVersions", STRINGS, 3, always=True, required=False),
        Field("observedGeneration", INT64, 4),
    ),
)

CUSTOM_RESOURCE_DEFINITION = resource(
    "CustomResourceDefinition", Field("spec", SPEC, 2, required=True), Field("status", DEFINITION_STATUS, 3)
)

# v1beta1: what all versions share stands at the top, and a few fields have other names

_BETA = "v1beta1"


def _beta(struct: Struct, **changed: Type) -> Struct:
    """A struct of v1 in the package of v1beta1, with some fields of another type."""
    fields = (replace(field, type=changed.get(field.name, field.type)) for field in struct)
    return Struct(struct.name, tuple(fields), _BETA)


_NAMES = _beta(NAMES)
_CLIENT_CONFIG = _beta(WEBHOOK_CLIENT_CONFIG, service=_beta(SERVICE_REFERENCE))
_CONVERSION = Struct(
    "CustomResourceConversion",
    (
        Field("strategy", String("v1beta1.ConversionStrategyType"), 1, always=True),
        Field("webhookClientConfig", _CLIENT_CONFIG, 2, pointer=True),
        Field("conversionReviewVersions", STRINGS, 3),
    ),
    _BETA,
)
_SUBRESOURCES = _beta(SUBRESOURCES, status=_beta(SUBRESOURCE_STATUS), scale=_beta(SUBRESOURCE_SCALE))
_COLUMN = Struct(
    "CustomResourceColumnDefinition",
    tuple(replace(field, name="JSONPath") if field.name == "jsonPath" else field for field in COLUMN),
    _BETA,
)
_SELECTABLE = _beta(SELECTABLE_FIELD)
_VALIDATION = _beta(VALIDATION, openAPIV3Schema=make(_BETA))
_VERSION = _beta(
    VERSION,
    schema=_VALIDATION,
    subresources=_SUBRESOURCES,
    additionalPrinterColumns=ListOf(_COLUMN),
    selectableFields=ListOf(_SELECTABLE),
)
_SPEC = Struct(
    "CustomResourceDefinitionSpec",
    (
        Field("group", STRING, 1, always=True),
        Field("version", STRING, 2),
        Field("names", _NAMES, 3, required=True),
        Field("scope", String("v1beta1.ResourceScope"), 4, always=True),
        Field("validation", _VALIDATION, 5, pointer=True),
        Field("subresources", _SUBRESOURCES, 6, pointer=True),
        Field("versions", ListOf(_VERSION), 7),
        Field("additionalPrinterColumns", ListOf(_COLUMN), 8),
        Field("selectableFields", ListOf(_SELECTABLE), 11),
        Field("conversion", _CONVERSION, 9, pointer=True),
        Field("preserveUnknownFields", BOOL, 10, pointer=True),
    ),
    _BETA,
)
_CONDITION = _beta(
    DEFINITION_CONDITION,
    type=String("v1beta1.CustomResourceDefinitionConditionType"),
    status=String("v1beta1.ConditionStatus"),
)
_STATUS = _beta(DEFINITION_STATUS, conditions=ListOf(_CONDITION), acceptedNames=_NAMES)

CUSTOM_RESOURCE_DEFINITION_BETA = Struct(
    "CustomResourceDefinition",
    (
        *TYPE_META,
        Field("metadata", OBJECT_META, 1),
        Field("spec", _SPEC, 2, required=True),
        Field("status", _STATUS, 3),
    ),
    _BETA,
)
