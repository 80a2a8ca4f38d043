"""Texts of the core group, but for Services."""

from __future__ import annotations

_IMMUTABLE = "Once true, the contents can no longer be changed; only the metadata can."
_SCOPES = "BestEffort, NotBestEffort, Terminating, NotTerminating, PriorityClass, CrossNamespacePodAffinity or "

TEXTS: dict[str, dict[str, str]] = {
    "ConfigMap": {
        "": "Configuration that is no secret, as values under keys.",
        "binaryData": "Values that are no UTF-8 text, in base64. A key is here or in data, not in both.",
        "data": "Values as text, under keys of letters, digits, '-', '_' and '.'.",
        "immutable": _IMMUTABLE,
    },
    "Secret": {
        "": "Passwords, keys and other secrets, as values under keys.",
        "data": "The values in base64, under keys of letters, digits, '-', '_' and '.'.",
        "immutable": _IMMUTABLE,
        "stringData": "Values as plain text, for writing only: they go into data, before what is there.",
        "type": "What the secret is for; some types require certain keys. It never changes.",
    },
    "Namespace": {
        "": "A space for names, in which objects can be held apart from those of others.",
        "spec": "What keeps the namespace from going.",
        "status": "Whether the namespace is in use or being emptied.",
    },
    "NamespaceSpec": {
        "": "What keeps a namespace from going.",
        "finalizers": "Those who have to empty the namespace before it may go.",
    },
    "NamespaceStatus": {
        "": "Whether a namespace is in use or being emptied.",
        "conditions": "What is in the way of emptying the namespace.",
        "phase": "Active, or Terminating from its deletion on.",
    },
    "NamespaceCondition": {
        "": "How far the deletion of a namespace is.",
        "lastTransitionTime": "When the status last became another one.",
        "message": "Details, for people.",
        "reason": "Why the status is what it is, in one CamelCase word.",
        "status": "True, False or Unknown.",
        "type": "What the condition is about.",
    },
    "ServiceAccount": {
        "": "A user for programs, in a namespace.",
        "automountServiceAccountToken": "Whether pods of this account get a token of it in their files.",
        "imagePullSecrets": "Secrets with which images for pods of this account are pulled.",
        "secrets": "Secrets that pods of this account may use. Tokens are better asked for by TokenRequest.",
    },
    "ObjectReference": {
        "": "Names an object, or a part of it.",
        "apiVersion": "Group and version of the object.",
        "fieldPath": "The part of the object that is meant, such as spec.containers{web}; empty for all of it.",
        "kind": "Kind of the object.",
        "name": "Name of the object.",
        "namespace": "Namespace of the object.",
        "resourceVersion": "The state of the object that is meant, if it is a certain one.",
        "uid": "UID of the object.",
    },
    "LocalObjectReference": {
        "": "Names an object in the same namespace.",
        "name": "Name of the object.",
    },
    "Event": {
        "": "Something that happened to an object. Events are for people, and are dropped after a while.",
        "action": "What was done to the object.",
        "count": "How often it happened.",
        "eventTime": "When it happened first, in microseconds.",
        "firstTimestamp": "When it happened first.",
        "involvedObject": "The object that it happened to.",
        "lastTimestamp": "When it happened last.",
        "message": "What happened, for people.",
        "reason": "Why it happened, in one CamelCase word.",
        "related": "Another object that has to do with it.",
        "reportingComponent": "The controller that reports it.",
        "reportingInstance": "Which one of several such controllers reports it.",
        "series": "How it goes on, where it happens again and again.",
        "source": "Who saw it.",
        "type": "Normal or Warning.",
    },
    "EventSeries": {
        "": "Something that happens again and again.",
        "count": "How often it has happened by now.",
        "lastObservedTime": "When it happened last.",
    },
    "EventSource": {
        "": "Who saw an event.",
        "component": "The program that saw it.",
        "host": "The node on which that program runs.",
    },
    "ResourceQuota": {
        "": "Limits what the objects of a namespace may use together.",
        "spec": "The limits.",
        "status": "The limits in force, and what is used of them.",
    },
    "ResourceQuotaSpec": {
        "": "Limits for a namespace.",
        "hard": "The most that may be used, by resource: count/configmaps, secrets, requests.cpu ...",
        "scopeSelector": "Count only objects that all of these scopes hold for, besides those in scopes.",
        "scopes": "Count only objects that all of these scopes hold for.",
    },
    "ResourceQuotaStatus": {
        "": "Limits in force, and what is used of them.",
        "hard": "The limits in force, by resource.",
        "used": "What is used, by resource.",
    },
    "ScopeSelector": {
        "": "Requirements on the scope of objects, which must all hold.",
        "matchExpressions": "The requirements.",
    },
    "ScopedResourceSelectorRequirement": {
        "": "What one scope of an object must be like.",
        "operator": "In, NotIn, Exists or DoesNotExist.",
        "scopeName": f"The scope: {_SCOPES}VolumeAttributesClass.",
        "values": "The values for In and NotIn; none for the others.",
    },
}
