"""Texts of authorization.k8s.io: what somebody may do."""

from __future__ import annotations

_ASK = {"spec": "What is asked.", "status": "The answer."}
_ABOUT = {
    "nonResourceAttributes": "What the question is about, where it is a path.",
    "resourceAttributes": "What the question is about, where it is a resource.",
}
_SELECTOR = {
    "rawSelector": "The selector as it stands in a query; it is read, and left out where it cannot be.",
    "requirements": "The selector's requirements, which must all hold.",
}

TEXTS: dict[str, dict[str, str]] = {
    "SubjectAccessReview": {"": "Asks whether somebody may do something. Nothing is stored.", **_ASK},
    "LocalSubjectAccessReview": {
        "": "Asks whether somebody may do something in one namespace. Nothing is stored.",
        **_ASK,
    },
    "SelfSubjectAccessReview": {"": "Asks whether the asker may do something. Nothing is stored.", **_ASK},
    "SubjectAccessReviewSpec": {
        "": "Who wants to do what.",
        **_ABOUT,
        "extra": "Whatever else the authenticator knows of the user, by key.",
        "groups": "The groups that the user is in.",
        "uid": "The user's UID.",
        "user": "The user's name.",
    },
    "SelfSubjectAccessReviewSpec": {"": "What the asker wants to do.", **_ABOUT},
    "SubjectAccessReviewStatus": {
        "": "Whether it may be done.",
        "allowed": "Whether it may be done.",
        "denied": "Whether it is forbidden outright, so that nobody else needs to be asked.",
        "evaluationError": "What went wrong on the way; the answer can be right all the same.",
        "reason": "Why, for people.",
    },
    "ResourceAttributes": {
        "": "Something that is done with a resource.",
        "fieldSelector": "By which fields objects are selected.",
        "group": "The API group; * for all.",
        "labelSelector": "By which labels objects are selected.",
        "name": "The object's name; empty for all.",
        "namespace": "The namespace; empty for all, and for resources that are in none.",
        "resource": "The resource; * for all.",
        "subresource": "The subresource; empty for none.",
        "verb": "What is done: get, list, watch, create, update, patch, delete, or * for all.",
        "version": "The API version; * for all.",
    },
    "FieldSelectorAttributes": {"": "By which fields objects are selected.", **_SELECTOR},
    "LabelSelectorAttributes": {"": "By which labels objects are selected.", **_SELECTOR},
    "NonResourceAttributes": {
        "": "Something that is done with a path.",
        "path": "The path.",
        "verb": "What is done, such as get.",
    },
    "SelfSubjectRulesReview": {"": "Asks what the asker may do in a namespace. Nothing is stored.", **_ASK},
    "SelfSubjectRulesReviewSpec": {"": "The namespace that is asked about.", "namespace": "The namespace."},
    "SubjectRulesReviewStatus": {
        "": "What may be done.",
        "evaluationError": "What went wrong on the way; what is listed holds all the same.",
        "incomplete": "Whether more may be allowed than is listed.",
        "nonResourceRules": "What may be done with paths.",
        "resourceRules": "What may be done with resources.",
    },
    "ResourceRule": {
        "": "What may be done with some resources.",
        "apiGroups": "The API groups; * for all.",
        "resourceNames": "The objects; all where none is named.",
        "resources": "The resources; * for all.",
        "verbs": "What may be done; * for everything.",
    },
    "NonResourceRule": {
        "": "What may be done with some paths.",
        "nonResourceURLs": "The paths; a * at the end stands for the rest.",
        "verbs": "What may be done; * for everything.",
    },
}
