"""Declarations of a class for its definition: names, columns, subresources, rules and schema keywords."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from podless.runtime.jsonobject import Object
from podless.runtime.messages import suggest_name
from podless.schema.vocabulary import KEYWORDS

C = TypeVar("C", bound=type)

KIND, MARKS = "__podless_kind__", "__podless__"
RULES = "x-kubernetes-validations"
_RULE_OPTIONS = frozenset(("message", "message_expression", "reason", "field_path", "optional_old_self"))


@dataclass(frozen=True, eq=False)
class Keywords:
    """Schema keywords that a type does not express. None removes a keyword that the type would add."""

    given: Object = field(default_factory=dict)


def schema(**keywords: Any) -> Keywords:
    """Declare keywords for the schema of a field (in `Annotated`) or of a class (in its `__podless__`).

    Write them as in OpenAPI or in snake case: `schema(max_length=5, x_kubernetes_list_type="set")`. Append an
    underscore to a word of Python: `not_`. Raises TypeError for unknown keywords.
    """
    given = {_make_openapi_name(name): value for name, value in keywords.items()}
    for name in given:
        if name not in KEYWORDS:
            raise TypeError(f"a schema has no keyword {name}{suggest_name(name, sorted(KEYWORDS))}")
    return Keywords(given)


def _make_openapi_name(name: str) -> str:
    name = name.removesuffix("_")
    if name.startswith("x_kubernetes_"):
        return name.replace("_", "-")
    first, *later = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in later)


def rule(expression: str, **options: Any) -> Keywords:
    """Declare a CEL rule for a field or a class.

    options: message, message_expression, reason, field_path, optional_old_self. Raises TypeError for other options.
    """
    unknown = options.keys() - _RULE_OPTIONS
    if unknown:
        raise TypeError(f"a rule has no option {', '.join(sorted(unknown))}")
    fields = {_make_openapi_name(name): value for name, value in options.items()}
    return Keywords({RULES: [{"rule": expression} | fields]})


@dataclass(frozen=True)
class Named:
    """The names and places of a kind in one version, as `kind` takes them."""

    group: str
    version: str
    given: Object
    metadata: Object = field(default_factory=dict)

    @property
    def api_version(self) -> str:
        """The apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version


def column(
    name: str, path: str, type: str = "string", *, description: str = "", format: str = "", priority: int = 0
) -> Object:
    """Declare a column for kubectl.

    path: such as ".spec.size". type: integer, number, string, boolean or date.
    """
    options = {"description": description, "format": format, "priority": priority}
    return {"name": name, "type": type, "jsonPath": path} | {key: value for key, value in options.items() if value}


def kind(
    group: str,
    version: str,
    *,
    plural: str = "",
    name: str = "",
    singular: str = "",
    list_kind: str = "",
    short_names: Sequence[str] = (),
    categories: Sequence[str] = (),
    scope: str = "Namespaced",
    metadata: Object | None = None,
    columns: Sequence[Object] = (),
    status: bool = False,
    scale: Object | None = None,
    selectable: Sequence[str] = (),
    storage: bool = True,
    served: bool = True,
    deprecated: bool | str = False,
) -> Callable[[C], C]:
    """Declare that a class is a kind: a decorator.

    group, version: such as "example.com" and "v1"; "" for the core group. name: of the kind (default: that of the
    class). plural (default: the name in lower case with an s). singular (default: the name in lower case). list_kind
    (default: the name with List). scope: "Namespaced" or "Cluster". metadata: its schema,
    which can restrict name and generateName. columns: as `column` makes them. status: whether there is a status
    subresource. scale: the scale subresource, as in a definition. selectable: paths of selectable fields. storage:
    whether this version is stored. deprecated: True, or a warning.
    """

    def declare_kind(cls: C) -> C:
        noun = name or cls.__name__
        declared: Object = {
            "names": {
                "kind": noun,
                "plural": plural or f"{noun.lower()}s",
                "singular": singular or noun.lower(),
                "listKind": list_kind or f"{noun}List",
            },
            "scope": scope,
            "version": {"name": version, "served": served, "storage": storage},
        }
        names, version_fields = declared["names"], declared["version"]
        name_lists = {"shortNames": [*short_names], "categories": [*categories]}
        names |= {key: value for key, value in name_lists.items() if value}
        subresources: Object = ({"status": {}} if status else {}) | ({"scale": scale} if scale is not None else {})
        optional = {
            "subresources": subresources,
            "additionalPrinterColumns": [*columns],
            "selectableFields": [{"jsonPath": path} for path in selectable],
            "deprecated": bool(deprecated),
            "deprecationWarning": deprecated if isinstance(deprecated, str) else "",
        }
        version_fields |= {key: value for key, value in optional.items() if value}
        setattr(cls, KIND, Named(group, version, declared, metadata or {}))
        return cls

    return declare_kind
