"""Texts of apiextensions.k8s.io, but for schemas. v1beta1 has some fields besides those of v1."""

from __future__ import annotations

_TOP = "The same for all versions; not to be given where versions have their own."

TEXTS: dict[str, dict[str, str]] = {
    "CustomResourceDefinition": {
        "": "Defines a kind of objects, which the server then serves.",
        "metadata": "Metadata; the name is plural.group.",
        "spec": "Names, versions and schemas of the kind.",
        "status": "Whether the kind is served, and under which names.",
    },
    "CustomResourceDefinitionSpec": {
        "": "What a kind of objects is like.",
        "additionalPrinterColumns": f"The columns of tables. {_TOP}",
        "conversion": "How objects are converted between versions.",
        "group": "The API group of the kind.",
        "names": "What the kind is called.",
        "preserveUnknownFields": "Keep fields that the schema does not know. Always false in v1, where "
        "x-kubernetes-preserve-unknown-fields in the schema says it.",
        "scope": "Namespaced or Cluster: whether the objects are in namespaces.",
        "selectableFields": f"The fields that may be selected by. {_TOP}",
        "subresources": f"The subresources. {_TOP}",
        "validation": f"The schema. {_TOP}",
        "version": "The name of the first version. Deprecated: use versions.",
        "versions": "The versions of the kind. Those of the form v1beta2 are put in order by what they say.",
    },
    "CustomResourceDefinitionNames": {
        "": "What a kind is called.",
        "categories": "Names of groups of resources that it is in, such as all.",
        "kind": "The kind, in CamelCase.",
        "listKind": "The kind of lists; the kind with List behind it where nothing is given.",
        "plural": "The name in paths, in lower case.",
        "shortNames": "Short names for the command line.",
        "singular": "The name of one object; the kind in lower case where nothing is given.",
    },
    "CustomResourceDefinitionVersion": {
        "": "One version of a kind.",
        "additionalPrinterColumns": "The columns of tables; the age where nothing is given.",
        "deprecated": "Whether requests for this version are answered with a warning.",
        "deprecationWarning": "The text of that warning, where it is not to be the usual one.",
        "name": "The version's name in paths, such as v1beta1.",
        "schema": "What the objects are like in this version.",
        "selectableFields": "The fields that may be selected by.",
        "served": "Whether the version is served.",
        "storage": "Whether objects are stored in this version. Exactly one version has true.",
        "subresources": "The subresources of the objects.",
    },
    "CustomResourceColumnDefinition": {
        "": "A column of tables.",
        "JSONPath": "Where the value is in an object, such as .spec.replicas.",
        "description": "What the column shows.",
        "format": "Says more about the type, such as name, date or int32.",
        "jsonPath": "Where the value is in an object, such as .spec.replicas.",
        "name": "The head of the column.",
        "priority": "0 for columns that are always shown, more for those of wide tables.",
        "type": "integer, number, string, boolean or date.",
    },
    "CustomResourceConversion": {
        "": "How objects are converted between versions.",
        "conversionReviewVersions": "The versions of ConversionReview that the webhook knows, the best one first.",
        "strategy": "None changes apiVersion alone, Webhook asks a webhook.",
        "webhook": "The webhook, for the strategy Webhook.",
        "webhookClientConfig": "How the conversion webhook is called; for the strategy Webhook.",
    },
    "WebhookConversion": {
        "": "A webhook that converts objects.",
        "clientConfig": "How the webhook is called.",
        "conversionReviewVersions": "The versions of ConversionReview that the webhook knows, the best one first.",
    },
    "WebhookClientConfig": {
        "": "How a webhook is called: by its URL, or as a service.",
        "caBundle": "The certificates, in PEM, that the webhook's own must come from; else the system's.",
        "service": "The service behind which the webhook is.",
        "url": "The webhook's https URL.",
    },
    "ServiceReference": {
        "": "A service behind which a webhook is.",
        "name": "The service's name.",
        "namespace": "The service's namespace.",
        "path": "The path of the webhook's URL.",
        "port": "The service's port; 443 where nothing is given.",
    },
    "CustomResourceValidation": {
        "": "What the objects of a version are like.",
        "openAPIV3Schema": "The schema.",
    },
    "CustomResourceSubresources": {
        "": "The subresources of the objects of a version.",
        "scale": "Serve the subresource scale, for whoever changes the number of replicas.",
        "status": "Serve the subresource status: the status can then be written there only, all else not there.",
    },
    "CustomResourceSubresourceStatus": {"": "The subresource status. It has nothing to choose."},
    "CustomResourceSubresourceScale": {
        "": "Where the numbers of the subresource scale are in an object.",
        "labelSelectorPath": "Where the label selector is, as a text; below .spec or .status.",
        "specReplicasPath": "Where the wanted number is, such as .spec.replicas.",
        "statusReplicasPath": "Where the number found is, such as .status.replicas.",
    },
    "SelectableField": {
        "": "A field that may be selected by.",
        "jsonPath": "Where the field is in an object, such as .spec.color.",
    },
    "CustomResourceDefinitionStatus": {
        "": "Whether a kind is served, and under which names.",
        "acceptedNames": "The names under which the kind is served; others may have been taken.",
        "conditions": "How far the definition is: NamesAccepted, Established, Terminating and others.",
        "observedGeneration": "The generation of the definition that was looked at.",
        "storedVersions": "The versions in which objects may be stored. Remove one when all of them were rewritten.",
    },
    "CustomResourceDefinitionCondition": {
        "": "One thing that is so, is not so, or is not known of a definition.",
        "lastTransitionTime": "When the status last became another one.",
        "message": "Details, for people.",
        "observedGeneration": "The generation of the definition that was looked at.",
        "reason": "Why the status is what it is, in one CamelCase word.",
        "status": "True, False or Unknown.",
        "type": "What the condition is about.",
    },
}
