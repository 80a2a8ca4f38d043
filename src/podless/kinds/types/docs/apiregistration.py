"""Texts of apiregistration.k8s.io."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "APIService": {
        "": "One version of an API group, and who serves it.",
        "metadata": "Metadata; the name is version.group.",
        "spec": "Which version, and who serves it.",
        "status": "Whether it can be reached.",
    },
    "APIServiceSpec": {
        "": "A version of an API group, and who serves it.",
        "caBundle": "The certificates, in PEM, that the other server's own must come from; else the system's.",
        "group": "The group.",
        "groupPriorityMinimum": "Groups with a higher number come first; the highest of all versions counts.",
        "insecureSkipTLSVerify": "Do not check the other server's certificate. Not to be used for anything serious.",
        "service": "The service that serves the version; empty where this server does.",
        "version": "The version.",
        "versionPriority": "Versions with a higher number come first in their group.",
    },
    "ServiceReference": {
        "": "A service that serves an API.",
        "name": "The service's name.",
        "namespace": "The service's namespace.",
        "port": "The service's port; 443 where nothing is given.",
    },
    "APIServiceStatus": {
        "": "Whether an API can be reached.",
        "conditions": "What is known of the API; Available above all.",
    },
    "APIServiceCondition": {
        "": "One thing that is so, is not so, or is not known of an API.",
        "lastTransitionTime": "When the status last became another one.",
        "message": "Details, for people.",
        "reason": "Why the status is what it is, in one CamelCase word.",
        "status": "True, False or Unknown.",
        "type": "What the condition is about.",
    },
}
