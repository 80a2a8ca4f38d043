"""Reviews: answer a question that a client creates; nothing is stored.

Source: the reviews of authentication.k8s.io/v1 and authorization.k8s.io/v1, and the recorded answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from podless.apis.authentication.group import SELF_SUBJECT_REVIEWS, TOKEN_REQUESTS, TOKEN_REVIEWS
from podless.apis.authorization.group import (
    GROUP,
    LOCAL_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
    SUBJECT_ACCESS_REVIEWS,
)
from podless.apis.core.group import BINDINGS
from podless.apis.policy.group import EVICTIONS
from podless.auth import authenticate, rules
from podless.auth.authorizer import Attributes
from podless.auth.user import User
from podless.cache.entry import Entry
from podless.kinds.kind import Kind
from podless.meta import field, selectors, validation
from podless.meta.errors import BadRequest, Invalid
from podless.meta.field import FieldError
from podless.runtime import clock
from podless.runtime.collector import pause_gc
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.structs import gostructs, structs
from podless.structs.gated import drop_gated
from podless.structs.structfiles import load_struct
from podless.verbs import admit, fieldmanager, options, steps
from podless.verbs.call import API, AnswerDocument, Call
from podless.verbs.runner import PARSE, Stages, Write
from podless.virtual import pods, tokens

OBJECT_META = load_struct("meta/v1", "ObjectMeta")
_ATTRIBUTES = load_struct("authorization/v1", "NonResourceAttributes")


_RULE = 64  # approximate bytes of a rule
_ONE_REQUIRED = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_LABELS, _FIELDS = "labelSelector", "fieldSelector"
_REQUIREMENT = 8  # steps on the meter to check one requirement of a selector
_RESOURCE, _PATH = "spec.resourceAttributes", "spec.nonResourceAttributes"


class Review(Write):
    """A review in progress. question: the call as one for the review's kind.

    subject: the user of an access review. account: the ServiceAccount of a TokenRequest, None if it does not exist.
    """

    subject: User | None = None
    account: Entry | None = None

    def __init__(self, call: Call, question: Call) -> None:
        super().__init__(call, options.read_write_options(call, "CreateOptions"))
        self.question = question


async def answer_review(api: API, call: Call) -> AnswerDocument:
    """Answer the review in the body. Raises BadRequest, Invalid, NotFound, Conflict, and errors of admission."""
    subresource = call.kind.find_subresource(call.subresource)
    question = call
    if subresource is not None and subresource.kind is not None:
        question = replace(call, kind=subresource.kind, version=subresource.kind.versions[0], subresource="")
    write = Review(call, question)
    if question.kind == TOKEN_REQUESTS:
        write.account = (await api.load_collection(call.kind)).get(call.key)
    await REVIEW.run(api, write)
    if write.subject is not None:
        return AnswerDocument(await api.off_loop.slices.run(_decide_review, api, write.obj, write.subject), 201)
    return AnswerDocument(await _ANSWERS[question.kind](api, call, write.obj), 201, may_be_long=True)


def read_question(write: Review) -> None:
    """Decode the review in the body. Raises BadRequest."""
    question = write.question
    write.obj = steps.decode_body(question, write.options)
    if not write.call.subresource:
        steps.strip_server_fields(write.obj["metadata"])
    steps.fit_namespace(question, write.obj["metadata"])
    steps.drop_repeated_owners(write)
    fieldmanager.set_fields_of_created(question, write.obj, write.options.manager)
    if write.call.subresource:
        for entry in each(write.obj["metadata"].get("managedFields") or ()):
            entry["subresource"] = write.call.subresource


def check_question(write: Review) -> None:
    """Drop fields whose gate is off, and validate the review before validating admission sees it.

    Sets the subject of an access review, and fills in a TokenRequest. Raises APIError.
    """
    question = write.question
    drop_gated(question.kind.struct_of(question.version), write.obj)
    if question.kind == TOKEN_REQUESTS:
        tokens.complete_request(write.call, write.obj, write.account)
    elif (check := _CHECKS.get(question.kind)) is not None:
        write.subject = check(write.call, write.obj)


REVIEW: Final = Stages[Review](PARSE, read_question, admit.MUTATE, check_question, admit.VALIDATE)


async def _review_self(api: API, call: Call, obj: Object) -> Object:
    """Answer a SelfSubjectReview."""
    return _review_head(obj) | {"metadata": {"creationTimestamp": clock.now()}, "status": {"userInfo": call.user.info}}


def _review_head(obj: Object) -> Object:
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"]}


async def _review_token(api: API, call: Call, obj: Object) -> Object:
    """Answer a TokenReview."""
    spec = obj["spec"]
    audiences = spec.get("audiences") or [authenticate.AUDIENCE]
    verdict = await api.authenticator.review_token(spec["token"], audiences)
    if verdict.user is None:
        status: Object = {"user": {}, "error": authenticate.INVALID}
    else:
        status = {"authenticated": True, "user": verdict.user.info, "audiences": list(verdict.audiences)}
    return obj | {"status": status}


def _require_token(call: Call, obj: Object) -> None:
    """Validate a TokenReview."""
    if not obj["spec"].get("token"):
        raise BadRequest("token is required for TokenReview in authentication")


def _read_subject(call: Call, obj: Object) -> User:
    """Validate an access review, and return its subject. Raises Invalid, without a kind."""
    spec, own = obj["spec"], call.kind == SELF_SUBJECT_ACCESS_REVIEWS
    local = call.kind == LOCAL_SUBJECT_ACCESS_REVIEWS
    errors = _attribute_errors(spec)
    if not own and not spec.get("user") and not spec.get("groups"):
        errors.append(field.invalid("spec.user", "", "at least one of user or group must be specified"))
    errors += _metadata_errors(obj, local)
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if local and resource is not None and (namespace := resource.get("namespace", "")) != call.namespace:
        errors.append(field.invalid(f"{_RESOURCE}.namespace", namespace, "must match metadata.namespace"))
    if local and path is not None:
        errors.append(field.invalid(_PATH, _format_attributes(path), "disallowed on this kind of request"))
    if errors:
        raise Invalid("", GROUP.name, "", errors)
    return call.user if own else _make_subject(spec)


def _attribute_errors(spec: Object) -> list[FieldError]:
    """Require either resourceAttributes or nonResourceAttributes."""
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    errors, shown = [*_selector_errors(resource or {})], None if path is None else _format_attributes(path)
    if (resource is None) is not (path is None):
        return errors
    if not has("ReviewAttributePaths"):
        return [field.invalid("spec", shown, _ONE_REQUIRED)]
    if path is None:
        return [field.invalid(_RESOURCE, None, _ONE_REQUIRED)]
    return [field.invalid(_PATH, shown, "cannot be specified in combination with resourceAttributes"), *errors]


def _selector_errors(resource: Object) -> field.Errors:
    """Validate selectors, which may have unknown operators."""
    for name in (_FIELDS, _LABELS):
        selector = resource.get(name)
        if selector is None:
            continue
        path = f"{_RESOURCE}.{name}"
        raw_selector, requirements = selector.get("rawSelector"), selector.get("requirements") or []
        if raw_selector and requirements:
            yield field.invalid(
                f"{path}.rawSelector", raw_selector, "may not specified at the same time as requirements"
            )
        if not raw_selector and not requirements:
            detail = f"when {path} is specified, requirements or rawSelector is required"
            yield field.required(f"{path}.requirements", detail)
        for index, requirement in enumerate(requirements):
            charge(_REQUIREMENT)
            yield from _requirement_errors(requirement, f"{path}.requirements[{index}]", label=name == _LABELS)


def _requirement_errors(requirement: Object, path: str, *, label: bool) -> list[FieldError]:
    if label:
        return [*validation.validate_requirement(requirement, path, any_operator=True)]
    missing = [] if requirement.get("key") else [field.required(f"{path}.key", "must be specified")]
    return [*missing, *validation.validate_operator(requirement, path, any_operator=True)]


def _metadata_errors(obj: Object, local: bool) -> list[FieldError]:
    allowed = ("managedFields", "namespace") if local else ("managedFields",)
    if all(value is None or name in allowed for name, value in obj["metadata"].items()):
        return []
    arranged = structs.arrange_fields(OBJECT_META, obj["metadata"])
    return [field.invalid("metadata", arranged, "must be empty except for namespace" if local else "must be empty")]


def _format_attributes(path: Object) -> Any:
    """Return nonResourceAttributes as errors show them."""
    return gostructs.format_struct(_ATTRIBUTES, path)


def _make_subject(spec: Object) -> User:
    extra = {key.lower(): tuple(values or ()) for key, values in each(spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)


def _decide_review(api: API, obj: Object, user: User) -> Object:
    spec = obj["spec"]
    resource = spec.get("resourceAttributes")
    if resource is not None:
        names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
        attributes = Attributes(*(resource.get(name, "") for name in names))
    else:
        path = spec["nonResourceAttributes"]
        attributes = Attributes(path.get("verb", ""), path=path.get("path", ""))
    decision = api.authorizer.decide(user, attributes)
    status: Object = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    errors = [decision.error] if decision.error else []
    if resource is not None:
        errors += unread_warnings(resource)
    if errors:
        status["evaluationError"] = "; ".join(errors)
    return obj | {"status": status}


def _require_namespace(call: Call, obj: Object) -> None:
    """Validate a SelfSubjectRulesReview."""
    if not obj["spec"].get("namespace"):
        raise BadRequest("no namespace on request")


async def _review_rules(api: API, call: Call, obj: Object) -> Object:
    """Answer a SelfSubjectRulesReview."""
    namespace = obj["spec"]["namespace"]
    with pause_gc():  # the garbage collector would scan the rules several times
        allowed, errors = await api.off_loop.slices.run(api.authorizer.list_rules, call.user, namespace)
        status = await api.off_loop.run(len(allowed) * _RULE, _format_rules, allowed)
    if errors:
        status["evaluationError"] = rules.join_errors(errors)
    metadata = {} if has("OmittedTimestamps") else {"creationTimestamp": None}
    return _review_head(obj) | {"metadata": metadata, "spec": {}, "status": status}


def _format_rules(rules: Sequence[Object]) -> Object:
    resources, paths = ("verbs", "apiGroups", "resources", "resourceNames"), ("verbs", "nonResourceURLs")
    return {
        "resourceRules": [_select_fields(rule, resources) for rule in each(rules) if rule.get("resources")],
        "nonResourceRules": [_select_fields(rule, paths) for rule in each(rules) if rule.get("nonResourceURLs")],
        "incomplete": False,
    }


def _select_fields(rule: Object, names: Sequence[str]) -> Object:
    return {name: rule[name] for name in names if rule.get(name)}


_ANSWERS: dict[Kind, Callable[[API, Call, Object], Awaitable[Object]]] = {
    SELF_SUBJECT_REVIEWS: _review_self,
    TOKEN_REVIEWS: _review_token,
    SELF_SUBJECT_RULES_REVIEWS: _review_rules,
    TOKEN_REQUESTS: tokens.request_token,
    BINDINGS: pods.bind_pod,
    EVICTIONS: pods.evict_pod,
}

# validates a review; returns the user whose rights an access review asks about
_CHECKS: dict[Kind, Callable[[Call, Object], User | None]] = {
    SELF_SUBJECT_ACCESS_REVIEWS: _read_subject,
    SUBJECT_ACCESS_REVIEWS: _read_subject,
    LOCAL_SUBJECT_ACCESS_REVIEWS: _read_subject,
    SELF_SUBJECT_RULES_REVIEWS: _require_namespace,
    TOKEN_REVIEWS: _require_token,
    BINDINGS: pods.check_binding,
    EVICTIONS: pods.check_eviction,
}


def unread_warnings(resource: Object) -> list[str]:
    """Return one text for each selector of an access review that has an unreadable part, which is ignored.

    Source: kube-apiserver's pkg/registry/authorization/util.
    """
    result = []
    for name in (_FIELDS, _LABELS):
        selector = resource.get(name) or {}
        requirements = selector.get("requirements") or []
        sound = [requirement for requirement in requirements if _is_supported(name, requirement)]
        if len(sound) < len(requirements) or (
            not requirements and not _is_parseable(name, selector.get("rawSelector"))
        ):
            result.append(f"{_RESOURCE}.{name} {'partially ' if sound else ''}ignored due to parse error")
    return result


def _is_parseable(name: str, text: str | None) -> bool:
    try:
        if text:
            (selectors.parse_labels if name == _LABELS else selectors.parse_fields)(text)
    except BadRequest:
        return False
    return True


def _is_supported(name: str, requirement: Object) -> bool:
    charge(_REQUIREMENT)
    if name == _FIELDS:  # field selectors support only one value so far
        return requirement.get("operator") in ("In", "NotIn") and len(requirement.get("values") or ()) == 1
    try:
        selectors.from_object({"matchExpressions": [requirement]})
    except BadRequest:
        return False
    return True
