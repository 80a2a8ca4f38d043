"""What requests ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.auth.authorizer import Attributes
from podless.http.info import UnclearPath, _path_info, request_info
from podless.http.message import HTTPRequest

CASES = [
    ("GET", "/api/v1/namespaces", Attributes("list", "", "v1", "namespaces")),
    ("GET", "/api/v1/namespaces/a", Attributes("get", "", "v1", "namespaces", "", "a", "a")),
    ("PUT", "/api/v1/namespaces/a/finalize", Attributes("update", "", "v1", "namespaces", "finalize", "a", "a")),
    ("GET", "/api/v1/namespaces/a/secrets", Attributes("list", "", "v1", "secrets", "", "a")),
    ("DELETE", "/api/v1/namespaces/a/secrets", Attributes("deletecollection", "", "v1", "secrets", "", "a")),
    ("DELETE", "/api/v1/namespaces/a/secrets/b", Attributes("delete", "", "v1", "secrets", "", "a", "b")),
    ("HEAD", "/apis/g/v1/cogs/b/status", Attributes("get", "g", "v1", "cogs", "status", "", "b")),
    ("PATCH", "/apis/g/v1/cogs/b/status/more", Attributes("patch", "g", "v1", "cogs", "status", "", "b")),
    ("POST", "/apis/g/v1/cogs", Attributes("create", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/cogs?watch=1", Attributes("watch", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/cogs?w%61tch=1", Attributes("watch", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/cogs?a=1&watch=1", Attributes("watch", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/cogs?watch=0&watch=1", Attributes("list", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/cogs?watch=false", Attributes("list", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/cogs/b?watch=1", Attributes("get", "g", "v1", "cogs", "", "", "b")),
    ("GET", "/apis/g/v1/watch/cogs/b", Attributes("watch", "g", "v1", "cogs", "", "", "b")),
    ("GET", "/apis/g/v1/cogs?fieldSelector=metadata.name%3Db", Attributes("list", "g", "v1", "cogs", "", "", "b")),
    ("GET", "/apis/g/v1/cogs?fieldSelector=metadata.name%3Db%2Fc", Attributes("list", "g", "v1", "cogs")),
    ("GET", "/apis/g/v1/namespaces//cogs", Attributes("list", "g", "v1", "cogs")),
    ("OPTIONS", "/apis/g/v1/namespaces/a/cogs//b/c", Attributes("", "g", "v1", "cogs", "b", "a")),
    ("GET", "//apis/g/v1/cogs", Attributes("get", path="//apis/g/v1/cogs")),
    ("GET", "/apis/g/v1", Attributes("get", path="/apis/g/v1")),
    ("POST", "/healthz", Attributes("post", path="/healthz")),
]


@pytest.mark.parametrize(("method", "target", "asked"), CASES)
def test_a_request_asks_for_a_verb_on_something(method: str, target: str, asked: Attributes) -> None:
    made = HTTPRequest.of(method, target, {})
    assert request_info(made.method, made.path, made.query_text).attributes == asked


PARTS = ("api", "apis", "v1", "g", "namespaces", "a", "cogs", "watch", "proxy", "status", "finalize", "-", "")


@given(st.sampled_from(("GET", "DELETE", "POST", "OPTIONS")), st.lists(st.sampled_from(PARTS), max_size=10))
def test_an_object_is_asked_for_in_the_same_way_whatever_its_name(method: str, parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    try:
        whole = _path_info(method, path, "")
    except UnclearPath:
        with pytest.raises(UnclearPath):
            request_info(method, path, "")
        return
    assert request_info(method, path, "") == whole


SORTED: dict[str, object] = {}


@given(st.sampled_from(("GET", "HEAD", "POST")), st.lists(st.sampled_from(PARTS), max_size=8), st.booleans())
def test_requests_of_one_sort_differ_in_namespace_and_name_only(method: str, parts: list[str], watch: bool) -> None:
    try:
        info = request_info(method, "/" + "/".join(parts), "watch=1" if watch else "")
    except UnclearPath:
        return
    asked = info.attributes
    assert bool(info.route_key) == bool(asked.resource)
    if info.route_key:
        same = asked._replace(namespace=bool(asked.namespace), name=bool(asked.name))  # type: ignore[arg-type]
        shown = (*same, method, bool(info.name), *info._replace(attributes=same, namespace="", name="", legacy=False))
        assert SORTED.setdefault(info.route_key, shown) == shown
