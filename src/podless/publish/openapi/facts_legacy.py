"""The same for APIs that no current server has: the texts of v1 where v1beta1 has the same field, else our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from podless.publish.openapi.fact import EXTENSIONS, EXTENSIONS_BETA, LEGACY, Fact

_TOP = "The same for all versions; not to be given where versions have their own."
_ATOMIC = {"x-kubernetes-list-type": "atomic"}

FACTS: dict[str, Fact] = {
    LEGACY + "ThirdPartyResource": Fact(
        "Defines a kind of objects: cron-tab.mygroup.example.com is the kind CronTab of the group mygroup.example.com.",
        (),
        {
            "metadata": "Metadata; the name says kind and group.",
            "description": "What objects of the kind are, for people.",
            "versions": "The versions in which the objects are served.",
        },
    ),
    LEGACY + "ThirdPartyResourceList": Fact(
        "A list of ThirdPartyResources.",
        ("items",),
        {"metadata": "Metadata of the list.", "items": "The ThirdPartyResources."},
    ),
    LEGACY + "APIVersion": Fact(
        "One version of a kind.",
        (),
        {"name": "The name of the version, such as v1.", "apiGroup": "The group; where given, that of the name."},
    ),
}


def beta(known: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts of apiextensions.k8s.io/v1beta1, from all that is known of v1."""
    found = {
        EXTENSIONS_BETA + name.removeprefix(EXTENSIONS): fact for name, fact in known.items() if EXTENSIONS in name
    }
    spec = EXTENSIONS_BETA + "CustomResourceDefinitionSpec"
    found[spec] = replace(
        found[spec],
        required=("group", "names", "scope"),
        fields=found[spec].fields
        | {
            "version": "The name of the first version. Deprecated: use versions.",
            "validation": f"The schema. {_TOP}",
            "subresources": f"The subresources. {_TOP}",
            "additionalPrinterColumns": f"The columns of tables. {_TOP}",
            "selectableFields": f"The fields that may be selected by. {_TOP}",
            "preserveUnknownFields": "Keep fields that the schema does not know. True where it is not given.",
        },
        more=dict.fromkeys(("versions", "additionalPrinterColumns", "selectableFields"), _ATOMIC),
    )
    column = EXTENSIONS_BETA + "CustomResourceColumnDefinition"
    texts = found[column].fields
    found[column] = replace(
        found[column],
        required=("name", "type", "JSONPath"),
        fields=texts | {"JSONPath": texts["jsonPath"]},
    )
    conversion = EXTENSIONS_BETA + "CustomResourceConversion"
    found[conversion] = replace(
        found[conversion],
        fields=found[conversion].fields
        | {
            "webhookClientConfig": "How the conversion webhook is called; for the strategy Webhook.",
            "conversionReviewVersions": "The versions of ConversionReview that the webhook knows, the best one first.",
        },
        more={"conversionReviewVersions": _ATOMIC},
    )
    return found
