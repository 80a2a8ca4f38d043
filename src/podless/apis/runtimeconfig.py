"""Selects the served APIs of built-in kinds: those of a current server, and others on request.

Three options choose: runtime-config turns versions that are off by default on, disable-builtin leaves APIs out, and a
profile leaves out all that custom kinds do not need. Source: the syntax of kube-apiserver's --runtime-config.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from podless.apis.catalog import ALL, GROUPS, OPTIONAL
from podless.kinds.kind import Kind, serve_versions
from podless.kinds.late import adapt_kind
from podless.runtime.option import StartError
from podless.runtime.release import ALL_ON, Release

# group/version/resource of APIs that are off by default
_OFF_BY_DEFAULT = frozenset(
    f"{group.name}/{version}/{kind.plural}"
    for group in GROUPS.values()
    for version in group.off_by_default
    for kind in group.kinds
    if version in kind.by_version
)
_WHOLE_GROUPS = ("api/all", "api/legacy", "api/beta")
PROFILES = ("full", "crds")
_RUNTIME_CONFIG = "runtime-config"  # the option that its errors name


class BadRuntimeConfig(StartError, ValueError):
    """A runtime configuration is invalid. The text is one line for the user."""


def parse_runtime_config(text: str) -> dict[str, bool]:
    """Parse group/version[/resource]=true|false,… Raises BadRuntimeConfig."""
    runtime_config = {}
    for segment in text.split(","):
        name, equals, value = segment.strip().partition("=")
        if not name:
            continue
        if equals and value not in ("true", "false"):
            raise BadRuntimeConfig(f"{segment.strip()}: the value must be true or false", _RUNTIME_CONFIG)
        runtime_config[name] = value != "false"
    validate_runtime_config(runtime_config)
    return runtime_config


def validate_runtime_config(chosen: Mapping[str, bool]) -> None:
    """Raise BadRuntimeConfig for an API that cannot be switched on or off."""
    known_names = {*_OFF_BY_DEFAULT, *(name.rpartition("/")[0] for name in _OFF_BY_DEFAULT), *_WHOLE_GROUPS}
    for name in chosen:
        if name not in known_names:
            raise BadRuntimeConfig(f"{name} is not one of {', '.join(sorted(known_names))}", _RUNTIME_CONFIG)


def parse_disabled(text: str) -> tuple[str, ...]:
    """Parse group/version[/resource],… Raises BadRuntimeConfig."""
    disabled = tuple(filter(None, (segment.strip() for segment in text.split(","))))
    validate_disabled(disabled)
    return disabled


def validate_disabled(names: Iterable[str]) -> None:
    """Raise BadRuntimeConfig for an API that cannot be left out."""
    known_names = {
        name for kind in OPTIONAL for version in kind.versions for name in _disable_names(kind, version.name)
    }
    for name in names:
        if name not in known_names:
            groups = sorted(item for item in known_names if item.count("/") == 1 and not item.startswith("v1/"))
            text = f"{name} is neither one of {', '.join(groups)} nor one of their resources"
            raise BadRuntimeConfig(text, "disable-builtin")


def validate_resources(option: str, names: Iterable[str]) -> None:
    """Raise BadRuntimeConfig for a resource that neither a release nor a definition can have.

    Groups of definitions have a dot, so resources of the others are built-in ones.
    """
    known_names = {f"{kind.plural}.{kind.group}".rstrip(".") for kind in ALL}
    for name in names:
        if "." not in name.partition(".")[2] and name not in known_names:
            raise BadRuntimeConfig(
                f"{name} is not a resource: use the plural and the group, such as secrets or deployments.apps", option
            )


def _disable_names(kind: Kind, version: str) -> tuple[str, str]:
    """Return the group-version and the resource as --disable names them; the core group is v1."""
    api = f"{kind.group}/{version}" if kind.group else version
    return api, f"{api}/{kind.plural}"


def serve_kinds(
    kinds: Iterable[Kind],
    chosen: Mapping[str, bool],
    disabled: Iterable[str] = (),
    profile: str = "full",
    release: Release = ALL_ON,
) -> Iterator[Kind]:
    """Yield the kinds with their served versions, without kinds that have none.

    disabled: the APIs to leave out. profile: one of PROFILES; crds has only what definitions and their objects need.
    """
    left_out = frozenset(disabled)
    optional = frozenset(OPTIONAL)
    for kind in kinds:
        if kind in optional and profile == "crds":
            continue
        names = {version.name for version in kind.versions if _is_enabled(kind, version.name, chosen)}
        names -= {version.name for version in kind.versions if not release.is_in_span(version.releases)}
        if left_out and kind in optional:
            names -= {name for name in names if left_out.intersection(_disable_names(kind, name))}
        if not names:
            continue
        if len(names) < len(kind.versions):  # derived, so that all servers share this kind and its cached values
            kind = kind.derive(("serving", *sorted(names)), partial(serve_versions, kind, names))
        yield kind.derive(("release", release), partial(adapt_kind, kind, release)) if release.without else kind


def _is_enabled(kind: Kind, version: str, chosen: Mapping[str, bool]) -> bool:
    """Return whether a version of a kind is served. The most specific choice wins."""
    resource = f"{kind.group}/{version}/{kind.plural}"
    if resource not in _OFF_BY_DEFAULT:
        return True
    for name in (resource, f"{kind.group}/{version}", *_WHOLE_GROUPS):
        if name in chosen:
            return chosen[name]
    return False
