"""Texts of admissionregistration.k8s.io: webhooks and policies that judge or change what is written."""

from __future__ import annotations

_NEW = "The API versions of the AdmissionReview that the webhook knows, the best one first."
_RULE = {
    "apiGroups": "The API groups that it is about; * for all.",
    "apiVersions": "The versions that it is about; * for all.",
    "operations": "CREATE, UPDATE, DELETE, CONNECT, or * for all.",
    "resources": "The resources that it is about, such as pods, pods/status or */*.",
    "scope": "Cluster, Namespaced or *: whether it is about objects without a namespace, with one, or both.",
}
_WEBHOOK = {
    "admissionReviewVersions": _NEW,
    "clientConfig": "How the webhook is called.",
    "failurePolicy": "What becomes of a request when the webhook cannot be asked: Fail or Ignore.",
    "matchConditions": "CEL expressions that must all hold for the webhook to be asked.",
    "matchPolicy": "Exact takes the rules as they stand; Equivalent also takes the same objects in other versions.",
    "name": "The webhook's name, a domain name such as check.example.com.",
    "namespaceSelector": "Ask only about objects in namespaces with such labels.",
    "objectSelector": "Ask only about objects with such labels, before or after the change.",
    "rules": "What the webhook is asked about.",
    "sideEffects": "None or NoneOnDryRun: whether the webhook changes anything itself.",
    "timeoutSeconds": "How many seconds the webhook has for an answer, 1 to 30; 10 where nothing is given.",
}
_AGAIN = "Whether it is asked again when a later one changed the object: Never or IfNeeded."
_POLICY = {
    "failurePolicy": "What becomes of a request when an expression fails: Fail or Ignore.",
    "matchConditions": "CEL expressions that must all hold for the policy to look at a request.",
    "matchConstraints": "Which requests the policy looks at.",
    "paramKind": "The kind of the objects that hold the policy's parameters.",
    "variables": "Values that the expressions share, each usable in those after it.",
}
_BINDING = {
    "matchResources": "Which of the policy's requests the binding is about.",
    "paramRef": "The parameters with which the policy is used.",
    "policyName": "The policy's name.",
}
_EXPRESSION = "The CEL expression."

TEXTS: dict[str, dict[str, str]] = {
    "MutatingWebhookConfiguration": {
        "": "Webhooks that may change objects before they are stored.",
        "webhooks": "The webhooks, asked one after the other.",
    },
    "MutatingWebhook": {
        "": "A webhook that may change objects before they are stored.",
        **_WEBHOOK,
        "reinvocationPolicy": _AGAIN,
    },
    "ValidatingWebhookConfiguration": {
        "": "Webhooks that may refuse objects before they are stored.",
        "webhooks": "The webhooks, asked side by side.",
    },
    "ValidatingWebhook": {"": "A webhook that may refuse objects before they are stored.", **_WEBHOOK},
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
    "RuleWithOperations": {"": "Operations on resources: what a webhook is asked about.", **_RULE},
    "NamedRuleWithOperations": {
        "": "Operations on resources, and on certain objects of them.",
        **_RULE,
        "resourceNames": "Names of the objects that it is about; all where none is given.",
    },
    "MatchResources": {
        "": "Which requests a policy looks at.",
        "excludeResourceRules": "Operations on resources that are left out, whatever else fits.",
        "matchPolicy": "Exact takes the rules as they stand; Equivalent also takes the same objects in other versions.",
        "namespaceSelector": "Only objects in namespaces with such labels.",
        "objectSelector": "Only objects with such labels, before or after the change.",
        "resourceRules": "Operations on resources, of which one must fit.",
    },
    "MatchCondition": {
        "": "A condition on requests.",
        "expression": "A CEL expression with the result true or false.",
        "name": "The condition's name, for messages.",
    },
    "Variable": {
        "": "A value that expressions share.",
        "expression": _EXPRESSION,
        "name": "The name under which others use it, as variables.name.",
    },
    "ParamKind": {
        "": "The kind of objects that hold parameters.",
        "apiVersion": "Group and version of the kind.",
        "kind": "The kind.",
    },
    "ParamRef": {
        "": "Objects that hold parameters: one by its name, or several by their labels.",
        "name": "The object's name.",
        "namespace": "The namespace to look in; that of the request where nothing is given.",
        "parameterNotFoundAction": "What becomes of a request when there are no such objects: Allow or Deny.",
        "selector": "The objects' labels.",
    },
    "ValidatingAdmissionPolicy": {
        "": "Rules in CEL that refuse objects. A binding puts it in force.",
        "spec": "What is looked at, and the rules.",
        "status": "What is wrong with the rules.",
    },
    "ValidatingAdmissionPolicySpec": {
        "": "What a policy looks at, and its rules.",
        **_POLICY,
        "auditAnnotations": "What is added to the audit log of a request.",
        "validations": "The rules.",
    },
    "Validation": {
        "": "A rule that requests must keep.",
        "expression": "A CEL expression that is true for good requests.",
        "message": "What is said where the rule is broken.",
        "messageExpression": "A CEL expression that makes the message; message is said where it fails.",
        "reason": "Why a request is refused, in one word for programs; Invalid where nothing is given.",
    },
    "AuditAnnotation": {
        "": "A note for the audit log.",
        "key": "The note's key; the policy's name is put before it.",
        "valueExpression": "A CEL expression that makes the note's text; null makes no note.",
    },
    "ValidatingAdmissionPolicyStatus": {
        "": "What is known of a policy.",
        "conditions": "What is known of the policy.",
        "observedGeneration": "The generation of the policy that was looked at.",
        "typeChecking": "What was found when the types of the expressions were checked.",
    },
    "TypeChecking": {
        "": "What was found when the types of expressions were checked.",
        "expressionWarnings": "What is doubtful in each expression.",
    },
    "ExpressionWarning": {
        "": "What is doubtful in an expression.",
        "fieldRef": "The field that holds the expression, such as spec.validations[0].expression.",
        "warning": "What is doubtful, kind by kind.",
    },
    "ValidatingAdmissionPolicyBinding": {
        "": "Puts a validating policy in force, for certain requests and with certain parameters.",
        "spec": "Which policy, for which requests, with what effect.",
    },
    "ValidatingAdmissionPolicyBindingSpec": {
        "": "How a validating policy is put in force.",
        **_BINDING,
        "validationActions": "What is done about a broken rule: Deny, Warn, Audit.",
    },
    "MutatingAdmissionPolicy": {
        "": "Changes to objects, as expressions in CEL. A binding puts it in force.",
        "spec": "What is looked at, and the changes.",
    },
    "MutatingAdmissionPolicySpec": {
        "": "What a policy looks at, and its changes.",
        **_POLICY,
        "mutations": "The changes, made one after the other.",
        "reinvocationPolicy": _AGAIN,
    },
    "Mutation": {
        "": "A change.",
        "applyConfiguration": "The change as an object that is merged into the one written.",
        "jsonPatch": "The change as a JSON patch.",
        "patchType": "Which of the two it is: ApplyConfiguration or JSONPatch.",
    },
    "ApplyConfiguration": {
        "": "A change as an object that is merged into the one written.",
        "expression": "A CEL expression that makes the object, as Object{...}.",
    },
    "JSONPatch": {
        "": "A change as a JSON patch.",
        "expression": "A CEL expression that makes a list of JSONPatch{...}.",
    },
    "MutatingAdmissionPolicyBinding": {
        "": "Puts a mutating policy in force, for certain requests and with certain parameters.",
        "spec": "Which policy, for which requests.",
    },
    "MutatingAdmissionPolicyBindingSpec": {"": "How a mutating policy is put in force.", **_BINDING},
}
