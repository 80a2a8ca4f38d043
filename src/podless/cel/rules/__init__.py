"""The rules of CustomResourceDefinitions (x-kubernetes-validations): checks of definitions and of objects.

DefinitionRules implements podless.schema's Expressions; NodeRules is compiled from a schema once and validates objects.
Source: apiextensions-apiserver pkg/apiserver/schema/cel and pkg/apis/apiextensions/validation, and recorded answers.
"""

from __future__ import annotations

from podless.cel.rules.definitions import DefinitionRules
from podless.cel.rules.objects import BUDGET, NodeRules

__all__ = ["BUDGET", "DefinitionRules", "NodeRules"]
