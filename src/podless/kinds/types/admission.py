"""The kinds of admissionregistration.k8s.io/v1."""

from __future__ import annotations

from podless.kinds.types.apiextensions import WEBHOOK_CLIENT_CONFIG
from podless.meta.gotypes import INT32, INT64, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import CONDITION, LABEL_SELECTOR, STRINGS, resource

_FAILURE_POLICY = String("v1.FailurePolicyType", ("Fail", "Ignore"))
_MATCH_POLICY = String("v1.MatchPolicyType", ("Equivalent", "Exact"))
_REINVOCATION = String("v1.ReinvocationPolicyType", ("IfNeeded", "Never"))
_OPERATION = String("v1.OperationType", ("*", "CONNECT", "CREATE", "DELETE", "UPDATE"))

# rules

RULE = Struct(
    "Rule",
    (
        Field("apiGroups", STRINGS, 1),
        Field("apiVersions", STRINGS, 2),
        Field("resources", STRINGS, 3),
        Field("scope", String("v1.ScopeType", ("*", "Cluster", "Namespaced")), 4, pointer=True, fill="*"),
    ),
)

RULE_WITH_OPERATIONS = Struct(
    "RuleWithOperations",
    (Field("operations", ListOf(_OPERATION), 1), Field("rule", RULE, 2, inline=True)),
)

NAMED_RULE_WITH_OPERATIONS = Struct(
    "NamedRuleWithOperations",
    (Field("resourceNames", STRINGS, 1), Field("ruleWithOperations", RULE_WITH_OPERATIONS, 2, inline=True)),
    atomic=True,
)

MATCH_CONDITION = Struct(
    "MatchCondition",
    (Field("name", STRING, 1, always=True), Field("expression", STRING, 2, always=True)),
)

MATCH_RESOURCES = Struct(
    "MatchResources",
    (
        Field("namespaceSelector", LABEL_SELECTOR, 1, pointer=True, fill={}),
        Field("objectSelector", LABEL_SELECTOR, 2, pointer=True, fill={}),
        Field("resourceRules", ListOf(NAMED_RULE_WITH_OPERATIONS), 3),
        Field("excludeResourceRules", ListOf(NAMED_RULE_WITH_OPERATIONS), 4),
        Field("matchPolicy", _MATCH_POLICY, 7, pointer=True, fill="Equivalent"),
    ),
    atomic=True,
)

# webhooks

_SIDE_EFFECTS = String("v1.SideEffectClass", ("None", "NoneOnDryRun", "Some", "Unknown"))

VALIDATING_WEBHOOK = Struct(
    "ValidatingWebhook",
    (
        Field("name", STRING, 1, always=True),
        Field("clientConfig", WEBHOOK_CLIENT_CONFIG, 2, required=True),
        Field("rules", ListOf(RULE_WITH_OPERATIONS), 3),
        Field("failurePolicy", _FAILURE_POLICY, 4, pointer=True, fill="Fail"),
        Field("matchPolicy", _MATCH_POLICY, 9, pointer=True, fill="Equivalent"),
        Field("namespaceSelector", LABEL_SELECTOR, 5, pointer=True, fill={}),
        Field("objectSelector", LABEL_SELECTOR, 10, pointer=True, fill={}),
        Field("sideEffects", _SIDE_EFFECTS, 6, pointer=True, required=True),
        Field("timeoutSeconds", INT32, 7, pointer=True, fill=10),
        Field("admissionReviewVersions", STRINGS, 8, always=True),
        Field("matchConditions", ListOf(MATCH_CONDITION), 11, keys=("name",), patch="merge", merge="name"),
    ),
)

MUTATING_WEBHOOK = Struct(
    "MutatingWebhook",
    (
        Field("name", STRING, 1, always=True),
        Field("clientConfig", WEBHOOK_CLIENT_CONFIG, 2, required=True),
        Field("rules", ListOf(RULE_WITH_OPERATIONS), 3),
        Field("failurePolicy", _FAILURE_POLICY, 4, pointer=True, fill="Fail"),
        Field("matchPolicy", _MATCH_POLICY, 9, pointer=True, fill="Equivalent"),
        Field("namespaceSelector", LABEL_SELECTOR, 5, pointer=True, fill={}),
        Field("objectSelector", LABEL_SELECTOR, 11, pointer=True, fill={}),
        Field("sideEffects", _SIDE_EFFECTS, 6, pointer=True, required=True),
        Field("timeoutSeconds", INT32, 7, pointer=True, fill=10),
        Field("admissionReviewVersions", STRINGS, 8, always=True),
        Field("reinvocationPolicy", _REINVOCATION, 10, pointer=True, fill="Never"),
        Field("matchConditions", ListOf(MATCH_CONDITION), 12, keys=("name",), patch="merge", merge="name"),
    ),
)

VALIDATING_WEBHOOK_CONFIGURATION = resource(
    "ValidatingWebhookConfiguration",
    Field("webhooks", ListOf(VALIDATING_WEBHOOK), 2, keys=("name",), patch="merge", merge="name"),
)

MUTATING_WEBHOOK_CONFIGURATION = resource(
    "MutatingWebhookConfiguration",
    Field("webhooks", ListOf(MUTATING_WEBHOOK), 2, keys=("name",), patch="merge", merge="name"),
)

# policies

PARAM_KIND = Struct("ParamKind", (Field("apiVersion", STRING, 1), Field("kind", STRING, 2)), atomic=True)

VARIABLE = Struct(
    "Variable", (Field("name", STRING, 1, always=True), Field("expression", STRING, 2, always=True)), atomic=True
)

VALIDATION = Struct(
    "Validation",
    (
        Field("expression", STRING, 1, always=True),
        Field("message", STRING, 2),
        Field("reason", String("v1.StatusReason"), 3, pointer=True),
        Field("messageExpression", STRING, 4),
    ),
)

AUDIT_ANNOTATION = Struct(
    "AuditAnnotation",
    (Field("key", STRING, 1, always=True), Field("valueExpression", STRING, 2, always=True)),
)

VALIDATING_ADMISSION_POLICY_SPEC = Struct(
    "ValidatingAdmissionPolicySpec",
    (
        Field("paramKind", PARAM_KIND, 1, pointer=True),
        Field("matchConstraints", MATCH_RESOURCES, 2, pointer=True),
        Field("validations", ListOf(VALIDATION), 3),
        Field("failurePolicy", _FAILURE_POLICY, 4, pointer=True, fill="Fail"),
        Field("auditAnnotations", ListOf(AUDIT_ANNOTATION), 5),
        Field("matchConditions", ListOf(MATCH_CONDITION), 6, keys=("name",), patch="merge", merge="name"),
        Field("variables", ListOf(VARIABLE), 7, keys=("name",), patch="merge", merge="name"),
    ),
)

EXPRESSION_WARNING = Struct(
    "ExpressionWarning",
    (Field("fieldRef", STRING, 2, always=True), Field("warning", STRING, 3, always=True)),
)

TYPE_CHECKING = Struct("TypeChecking", (Field("expressionWarnings", ListOf(EXPRESSION_WARNING), 1),))

VALIDATING_ADMISSION_POLICY_STATUS = Struct(
    "ValidatingAdmissionPolicyStatus",
    (
        Field("observedGeneration", INT64, 1),
        Field("typeChecking", TYPE_CHECKING, 2, pointer=True),
        Field("conditions", ListOf(CONDITION), 3, keys=("type",)),
    ),
)

VALIDATING_ADMISSION_POLICY = resource(
    "ValidatingAdmissionPolicy",
    Field("spec", VALIDATING_ADMISSION_POLICY_SPEC, 2),
    Field("status", VALIDATING_ADMISSION_POLICY_STATUS, 3),
)

APPLY_CONFIGURATION = Struct("ApplyConfiguration", (Field("expression", STRING, 1),))

JSON_PATCH = Struct("JSONPatch", (Field("expression", STRING, 1),))

MUTATION = Struct(
    "Mutation",
    (
        Field("patchType", String("v1.PatchType", ("ApplyConfiguration", "JSONPatch")), 2, always=True),
        Field("applyConfiguration", APPLY_CONFIGURATION, 3, pointer=True),
        Field("jsonPatch", JSON_PATCH, 4, pointer=True),
    ),
)

MUTATING_ADMISSION_POLICY_SPEC = Struct(
    "MutatingAdmissionPolicySpec",
    (
        Field("paramKind", PARAM_KIND, 1, pointer=True),
        Field("matchConstraints", MATCH_RESOURCES, 2, pointer=True),
        Field("variables", ListOf(VARIABLE), 3),
        Field("mutations", ListOf(MUTATION), 4),
        Field("failurePolicy", _FAILURE_POLICY, 5, pointer=True, fill="Fail"),
        Field("matchConditions", ListOf(MATCH_CONDITION), 6, keys=("name",), patch="merge", merge="name"),
        Field("reinvocationPolicy", _REINVOCATION, 7),
    ),
)

MUTATING_ADMISSION_POLICY = resource("MutatingAdmissionPolicy", Field("spec", MUTATING_ADMISSION_POLICY_SPEC, 2))

# bindings

PARAM_REF = Struct(
    "ParamRef",
    (
        Field("name", STRING, 1),
        Field("namespace", STRING, 2),
        Field("selector", LABEL_SELECTOR, 3, pointer=True),
        Field("parameterNotFoundAction", String("v1.ParameterNotFoundActionType"), 4, pointer=True),
    ),
    atomic=True,
)

VALIDATING_ADMISSION_POLICY_BINDING_SPEC = Struct(
    "ValidatingAdmissionPolicyBindingSpec",
    (
        Field("policyName", STRING, 1, required=True),
        Field("paramRef", PARAM_REF, 2, pointer=True),
        Field("matchResources", MATCH_RESOURCES, 3, pointer=True),
        Field(
            "validationActions",
            ListOf(String("v1.ValidationAction", ("Audit", "Deny", "Warn"))),
            4,
            required=True,
            keys=(),
        ),
    ),
)

VALIDATING_ADMISSION_POLICY_BINDING = resource(
    "ValidatingAdmissionPolicyBinding", Field("spec", VALIDATING_ADMISSION_POLICY_BINDING_SPEC, 2, required=True)
)

MUTATING_ADMISSION_POLICY_BINDING_SPEC = Struct(
    "MutatingAdmissionPolicyBindingSpec",
    (
        Field("policyName", STRING, 1),
        Field("paramRef", PARAM_REF, 2, pointer=True),
        Field("matchResources", MATCH_RESOURCES, 3, pointer=True),
    ),
)

MUTATING_ADMISSION_POLICY_BINDING = resource(
    "MutatingAdmissionPolicyBinding", Field("spec", MUTATING_ADMISSION_POLICY_BINDING_SPEC, 2)
)
