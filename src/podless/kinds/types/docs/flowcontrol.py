"""Texts of flowcontrol.apiserver.k8s.io: which requests go first when the server is busy."""

from __future__ import annotations

from podless.kinds.types.docs.common import CONDITION

_VERBS = "The verbs; * for all."
_SHARES = "The part of the server's concurrency that the level has, in proportion to all others'"
_LENT = "How many percent of it other levels may borrow; 0 where nothing is given."

TEXTS: dict[str, dict[str, str]] = {
    "PriorityLevelConfigurationReference": {
        "": "Names a priority level.",
        "name": "The PriorityLevelConfiguration's name.",
    },
    "FlowDistinguisherMethod": {
        "": "What makes requests of a schema one flow.",
        "type": "ByUser or ByNamespace.",
    },
    "UserSubject": {
        "": "A user.",
        "name": "The user's name; * for all.",
    },
    "GroupSubject": {
        "": "A group of users.",
        "name": "The group's name; * for all.",
    },
    "ServiceAccountSubject": {
        "": "A service account.",
        "name": "The account's name; * for all of the namespace.",
        "namespace": "The account's namespace.",
    },
    "Subject": {
        "": "Who sends requests.",
        "group": "The group, for the kind Group.",
        "kind": "User, Group or ServiceAccount: which of the other fields is given.",
        "serviceAccount": "The service account, for the kind ServiceAccount.",
        "user": "The user, for the kind User.",
    },
    "ResourcePolicyRule": {
        "": "Requests for resources.",
        "apiGroups": "The API groups; * for all.",
        "clusterScope": "Whether requests without a namespace are meant.",
        "namespaces": "The namespaces that are meant; * for all.",
        "resources": "The resources, such as pods and pods/status; * for all.",
        "verbs": _VERBS,
    },
    "NonResourcePolicyRule": {
        "": "Requests for other paths.",
        "nonResourceURLs": "The paths, such as /healthz or /healthz/*; * for all.",
        "verbs": _VERBS,
    },
    "PolicyRulesWithSubjects": {
        "": "Requests, by who sends them and what they are for: one subject and one rule must fit.",
        "nonResourceRules": "Requests for paths that are no resources.",
        "resourceRules": "Requests for resources.",
        "subjects": "Who sends them.",
    },
    "FlowSchemaSpec": {
        "": "Which requests are meant, and which priority level they have.",
        "distinguisherMethod": "What makes requests one flow; all are one where nothing is given.",
        "matchingPrecedence": "The fitting schema with the lowest wins, 1 to 10000; 1000 where nothing is given.",
        "priorityLevelConfiguration": "The priority level that the requests have.",
        "rules": "Which requests are meant; one rule must fit.",
    },
    "FlowSchemaCondition": {
        "": "One thing that is so, or is not so, of a flow schema.",
        **CONDITION,
        "type": "What the condition is about: Dangling says whether the priority level is missing.",
    },
    "FlowSchemaStatus": {
        "": "What is known of a flow schema.",
        "conditions": "Whether its priority level is there.",
    },
    "FlowSchema": {
        "": "Gives requests their priority level, and sorts them into flows.",
        "spec": "Which requests are meant, and which priority level they have.",
        "status": "What is known of the schema.",
    },
    "QueuingConfiguration": {
        "": "How requests wait.",
        "handSize": "Among how many queues each flow has its choice, 1 to queues; 8 where nothing is given.",
        "queueLengthLimit": "How many requests one queue holds at most; 50 where nothing is given.",
        "queues": "How many queues there are; 64 where nothing is given.",
    },
    "LimitResponse": {
        "": "What is done with requests that are too many.",
        "queuing": "How they wait; only for Queue.",
        "type": "Queue makes them wait, Reject answers 429.",
    },
    "LimitedPriorityLevelConfiguration": {
        "": "How many requests of a priority level are worked on at a time.",
        "borrowingLimitPercent": "How many percent of its own it may borrow from others; any where nothing is given.",
        "lendablePercent": _LENT,
        "limitResponse": "What is done with requests that are too many.",
        "nominalConcurrencyShares": f"{_SHARES}; 30 where nothing is given.",
    },
    "ExemptPriorityLevelConfiguration": {
        "": "What a level without limits sets aside for itself.",
        "lendablePercent": _LENT,
        "nominalConcurrencyShares": f"{_SHARES}; 0 where nothing is given.",
    },
    "PriorityLevelConfigurationSpec": {
        "": "Whether a priority level is limited, and how.",
        "exempt": "What the level sets aside; only for Exempt.",
        "limited": "The limits; only for Limited.",
        "type": "Limited, or Exempt for requests that never wait.",
    },
    "PriorityLevelConfigurationCondition": {"": "One thing that is so of a priority level.", **CONDITION},
    "PriorityLevelConfigurationStatus": {
        "": "What is known of a priority level.",
        "conditions": "What is known of the level.",
    },
    "PriorityLevelConfiguration": {
        "": "A priority level: how many of its requests are worked on at a time, and how the others wait.",
        "spec": "Whether the level is limited, and how.",
        "status": "What is known of the level.",
    },
}
