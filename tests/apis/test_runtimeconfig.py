"""Which of the older APIs are served: the syntax of kube-apiserver's --runtime-config."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server, StartError
from podless.apis import runtimeconfig
from podless.apis.catalog import ALL
from podless.apis.features import choose_release
from podless.cli import main

BETA, THIRD = "apiextensions.k8s.io/v1beta1", "extensions/v1beta1"


def older(text: str) -> set[str]:
    """The older group-versions that are served."""
    kinds = runtimeconfig.serve_kinds(ALL, runtimeconfig.parse_runtime_config(text))
    return {f"{kind.group}/{version.name}" for kind in kinds for version in kind.versions} & {BETA, THIRD}


@pytest.mark.parametrize(
    ("text", "served"),
    [
        ("", set()),
        (f"{BETA}=true", {BETA}),
        (f"{BETA}", {BETA}),
        (f"{THIRD}=true", {THIRD}),
        (f"{THIRD}/thirdpartyresources=true", {THIRD}),
        (f"{BETA}=true,{THIRD}/thirdpartyresources=true", {BETA, THIRD}),
        (f" {BETA}=true , {THIRD}=false", {BETA}),
        ("api/all=true", {BETA, THIRD}),
        (f"api/all=true,{THIRD}=false", {BETA}),
        (f"{THIRD}=true,{THIRD}/thirdpartyresources=false", set()),
    ],
)
def test_what_is_chosen_is_served(text: str, served: set[str]) -> None:
    assert older(text) == served


def test_all_else_is_served_whatever_is_chosen() -> None:
    kinds = {kind.prefix: kind for kind in runtimeconfig.serve_kinds(ALL, {})}
    left_out = [kind for kind in ALL if kind.prefix not in kinds]
    assert [kind.plural for kind in left_out] == ["thirdpartyresources"]
    assert [version.name for version in kinds["/apiextensions.k8s.io/customresourcedefinitions/"].versions] == ["v1"]


@pytest.mark.parametrize("text", ["apps/v1=true", f"{BETA}=yes", f"{BETA}/pods=true", "=true,x"])
def test_what_cannot_be_chosen_is_said(text: str, capsys: Any) -> None:
    with pytest.raises(runtimeconfig.BadRuntimeConfig, match="runtime-config: "):
        runtimeconfig.parse_runtime_config(text)
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--memory", "--runtime-config", text])
    assert ended.value.code == 2
    assert "runtime-config: " in capsys.readouterr().err


def test_a_server_says_it_too() -> None:
    with pytest.raises(StartError, match="apps/v1 is not one of"), Server(runtime_config={"apps/v1": True}):
        pass


def plurals(**chosen: Any) -> set[str]:
    """group/version/plural of what is served."""
    kinds = runtimeconfig.serve_kinds(ALL, {}, release=choose_release(), **chosen)
    return {f"{kind.group}/{version.name}/{kind.plural}" for kind in kinds for version in kind.versions}


def test_the_profile_crds_has_only_what_definitions_need() -> None:
    left, all_of_them = plurals(profile="crds"), plurals()
    assert left < all_of_them
    assert {"/v1/services", "/v1/configmaps", "apiextensions.k8s.io/v1/customresourcedefinitions"} <= left
    assert not {name for name in left if name.startswith(("apps/", "batch/", "/v1/pods"))}


def test_apis_are_left_out_by_group_version_and_resource() -> None:
    gone = plurals() - plurals(disabled=runtimeconfig.parse_disabled("apps/v1, v1/pods,autoscaling/v1"))
    assert {name for name in gone if not name.startswith("apps/v1/")} == {
        "/v1/pods",
        "autoscaling/v1/horizontalpodautoscalers",
    }
    assert "apps/v1/deployments" in gone


@pytest.mark.parametrize("text", ["apps", "v1/configmaps", "apps/v1/pods", "rbac.authorization.k8s.io/v1"])
def test_what_cannot_be_left_out_is_said(text: str) -> None:
    with pytest.raises(runtimeconfig.BadRuntimeConfig, match="disable-builtin: "):
        runtimeconfig.parse_disabled(text)
    with pytest.raises(StartError, match="disable-builtin: "), Server(disable_builtin=[text]):
        pass


def test_a_profile_that_is_none_is_said() -> None:
    with pytest.raises(StartError, match="unknown profile 'some'"), Server(profile="some"):
        pass


@pytest.mark.parametrize("name", ["secret", "foo", "deployments", "deployment.apps", "Secrets"])
def test_history_bounds_name_resources_that_can_exist(name: str) -> None:
    with pytest.raises(StartError, match=f"history-for: {name} is not a resource"):
        Server(history_for={name: None}).__enter__()


@pytest.mark.parametrize("name", ["secrets", "deployments.apps", "leases.coordination.k8s.io", "gadgets.example.com"])
def test_history_bounds_for_built_in_and_custom_resources(name: str) -> None:
    runtimeconfig.validate_resources("history-for", [name])
