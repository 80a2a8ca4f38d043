"""The rules of CustomResourceDefinitions: x-kubernetes-validations, when they are written and when objects are.

Definitions plugs into podless.schema as its Expressions; Rules is made of a schema once and checks objects.
Source: apiextensions-apiserver's pkg/apiserver/schema/cel and pkg/apis/apiextensions/validation, as recorded.
"""

from __future__ import annotations

from podless.cel.rules.definitions import DefinitionRules, validate_rules
from podless.cel.rules.objects import BUDGET, NodeRules

__all__ = ["BUDGET", "DefinitionRules", "NodeRules", "validate_rules"]
