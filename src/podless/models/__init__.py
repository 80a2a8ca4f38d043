"""Classes and definitions: Python modules from CustomResourceDefinitions, and definitions from classes."""

from __future__ import annotations

from podless.meta.field import FieldError
from podless.models.definition import Inexpressible, crd, schema_of
from podless.models.marks import column, kind, rule, schema
from podless.models.objects import read_object, write_object
from podless.models.resource import CheckedSchema, ObjectMeta, OwnerReference, Resource

__all__ = [
    "CheckedSchema",
    "FieldError",
    "Inexpressible",
    "ObjectMeta",
    "OwnerReference",
    "Resource",
    "column",
    "crd",
    "kind",
    "read_object",
    "rule",
    "schema",
    "schema_of",
    "write_object",
]
