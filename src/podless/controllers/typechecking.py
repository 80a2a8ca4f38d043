"""Type checks the expressions of ValidatingAdmissionPolicies against the kinds that they match.

Errors are reported in the policy's status, and do not change how it is evaluated. Source: the controller
validatingadmissionpolicystatus of k8s.io/kubernetes, and k8s.io/apiserver pkg/admission/plugin/policy.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from podless.apis.admissionregistration.group import VALIDATING_POLICIES
from podless.auth.user import SERVER
from podless.controllers.controller import KindController
from podless.controllers.write import apply_status
from podless.kinds.kind import Kind, Version
from podless.kinds.registry import Registry
from podless.publish.openapi import builtin, schema
from podless.publish.openapi.standard import REF, find_package
from podless.runtime.jsonobject import Object, Schema

if TYPE_CHECKING:
    from podless.cel.policies import TypedEnvironment
    from podless.cel.schematypes import SchemaTypes

Named = tuple[str, str, str]  # group, version, kind

_MAX_KINDS = 10  # maximum kinds to check a policy against
_RECURSIVE: Schema = {"type": "object"}  # in place of a recursive reference
_INT_OR_STRING = "int-or-string"


class PolicyTypeChecking(KindController):
    """Follows the policies. Keys are theirs."""

    name = "validatingadmissionpolicy-status-controller"
    kind = VALIDATING_POLICIES

    async def reconcile(self, key: str) -> None:
        entry = self._collection.get(key)
        if entry is None:
            return
        policy = entry.decode()
        generation = policy["metadata"].get("generation") or 0
        if generation <= ((policy.get("status") or {}).get("observedGeneration") or 0):
            return
        warnings = await self._find_warnings(policy["spec"])
        checked = {"expressionWarnings": warnings} if warnings else {}
        status = {"observedGeneration": generation, "typeChecking": checked}
        await apply_status(self.api, self.kind, entry.name, self.name, status)

    async def _find_warnings(self, spec: Object) -> list[Object]:
        """Return the type errors of the expressions, by field."""
        kinds = match_kinds(self.api.registry, (spec.get("matchConstraints") or {}).get("resourceRules") or ())
        checks = [(named, _make_environment(spec, self.api.registry, *kinds[named])) for named in sorted(kinds)]
        warnings = []
        async for entry in self.api.pace.iterate_slices(SERVER.name, list(_list_expressions(spec)) if checks else []):
            for field, source in entry:
                text = "\n".join(
                    _format_warning(named, problem) for named, check in checks if (problem := check.find_error(source))
                )
                if text:
                    warnings.append({"fieldRef": field, "warning": text})
        return warnings


def _format_warning(kind_names: Named, text: str) -> str:
    group, version, kind = kind_names
    return f"{group}/{version}, Kind={kind}: {text}\n"


def _list_expressions(spec: Object) -> Iterator[tuple[str, str]]:
    """Yield the checked expressions with their fields."""
    for index, validation in enumerate(spec.get("validations") or ()):
        path = f"spec.validations[{index}]"
        yield f"{path}.expression", validation["expression"]
        if validation.get("messageExpression"):
            yield f"{path}.messageExpression", validation["messageExpression"]


def match_kinds(registry: Registry, rules: Iterable[Mapping[str, Any]]) -> dict[Named, tuple[Kind, Version]]:
    """Return the kinds that rules name without wildcards."""
    result: dict[Named, tuple[Kind, Version]] = {}
    for rule in rules:
        groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
        if any("*" in name for name in (*groups, *versions)):
            continue
        resources = [name for name in rule.get("resources") or () if not {"*", "/"} & set(name)]
        resource_paths = ((g, v, r) for g in sorted(groups) for v in sorted(versions) for r in sorted(resources))
        count = 0
        for resource_path in resource_paths:
            for kind, version in _served_kinds(registry, *resource_path):
                result[kind.group, version.name, kind.kind] = kind, version
                count += 1
                if count == _MAX_KINDS:
                    return result
    return result


def _served_kinds(registry: Registry, group: str, version: str, resource: str) -> Iterator[tuple[Kind, Version]]:
    """Yield the kinds of a resource. Without a group, all groups are searched."""
    name = resource.lower()
    for kind in registry:
        declared = kind.by_version.get(version)
        if declared is not None and group in ("", kind.group) and name in (kind.plural, kind.singular):
            yield kind, declared


def _make_environment(spec: Object, registry: Registry, kind: Kind, version: Version) -> TypedEnvironment:
    """Return the environment of a policy's expressions for the objects of one kind."""
    from podless.cel.policies import TypedEnvironment  # a slow import, needed only for policies

    param_kind = spec.get("paramKind")
    environment = TypedEnvironment(
        _declared_type(kind, version),
        _parameters_type(registry, param_kind) if param_kind else None,
        has_parameters=bool(param_kind),
    )
    for variable in spec.get("variables") or ():
        environment.declare_variable(variable["name"], variable["expression"])
    return environment


def _parameters_type(registry: Registry, param_kind: Object) -> SchemaTypes | None:
    """Return the type of the parameters, None if unknown."""
    group, _, name = (param_kind.get("apiVersion") or "").rpartition("/")
    for kind in registry.list_kinds_of(group, name):
        if kind.kind == param_kind.get("kind"):
            return _declared_type(kind, kind.by_version[name])
    return None


def _declared_type(kind: Kind, version: Version) -> SchemaTypes:
    from podless.cel.schematypes import SchemaTypes

    # as in kube-apiserver, the nanoseconds make the names of types unique
    return SchemaTypes(resolve_schema(kind, version), resource=True, name=f"{kind.kind}{time.monotonic_ns() % 10**9}")


def resolve_schema(kind: Kind, version: Version) -> Schema:
    """Return the schema of a kind in a version, cached with the kind."""
    return kind.derive(("resolved", version.name), lambda: _resolve_schema(kind, version))


def _resolve_schema(kind: Kind, version: Version) -> Schema:
    if kind.custom:
        root = schema.make_component(kind.structural_schema(version))
        return _inline_references(root, builtin.make_standard_components(), frozenset())
    components = {**builtin.make_standard_components(), **builtin.make_kind_components(kind, version)}
    name = find_package(kind.group, version.name) + kind.kind
    if name not in components:
        name = next((key for key in components if key.endswith(f".{kind.kind}")), name)
    return _inline_references({"$ref": REF + name}, components, frozenset())


def _inline_references(schema: Schema, components: Mapping[str, Schema], parents: frozenset[str]) -> Schema:
    """Return a schema with its references replaced. parents: references that contain it."""
    name = _find_reference(schema)
    if name is not None:
        if name in parents:
            return _RECURSIVE
        schema, parents = components.get(name, {}), parents | {name}
    result = dict(schema)
    if "properties" in result:
        result["properties"] = {
            key: _inline_references(child, components, parents) for key, child in result["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = _inline_references(result[key], components, parents)
    if result.get("format") == _INT_OR_STRING:
        result["x-kubernetes-int-or-string"] = True
    elif name is not None and "oneOf" in result:
        result["type"] = "string"  # a quantity
    return result


def _find_reference(schema: Schema) -> str | None:
    """Return the component that a schema refers to, directly or in allOf; None without a reference."""
    reference = schema.get("$ref")
    if reference is not None:
        return str(reference).removeprefix(REF)
    return next((name for child in schema.get("allOf") or () if (name := _find_reference(child)) is not None), None)
