"""Facts about the choice of an answer's form."""

from __future__ import annotations

import pytest

from podless.http import negotiate
from podless.http.negotiate import AnswerForm
from podless.meta.errors import NotAcceptable, UnsupportedMediaType
from tests.cost import assert_linear

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", AnswerForm()),
        ("*/*", AnswerForm()),
        ("application/*", AnswerForm()),
        ("application/yaml", AnswerForm("application/yaml")),
        ("text/html, */*;q=0.1", AnswerForm()),
        ("application/json;q=0.5, application/yaml", AnswerForm("application/yaml")),
        (TABLE, AnswerForm(target="Table", version="v1")),
        (f"{TABLE}, application/json", AnswerForm(target="Table", version="v1")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io, application/json", AnswerForm()),
    ],
)
def test_the_best_clause_that_can_be_met_decides(accept: str, form: AnswerForm) -> None:
    assert negotiate.choose_object_form(accept) == form


def test_the_next_clause_counts_where_there_are_no_tables() -> None:
    assert negotiate.choose_object_form(f"{TABLE},application/json", tables=False) == AnswerForm()
    assert negotiate.choose_object_form("application/json;sv=v1", tables=False) == AnswerForm()
    with pytest.raises(NotAcceptable):
        negotiate.choose_object_form(TABLE, tables=False)


@pytest.mark.parametrize("accept", ["text/html", "application/json;as=Table;v=v9;g=meta.k8s.io"])
def test_what_is_not_offered_is_refused(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="accepted: application/json, application/yaml, "):
        negotiate.choose_object_form(accept)


@pytest.mark.parametrize("accept", ["application/yaml", "application/yaml,application/json"])
def test_a_watch_is_no_yaml(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="application/json;stream=watch"):
        negotiate.choose_stream_form(negotiate.choose_object_form(accept, of_list=True))


@pytest.mark.parametrize("accept", ["text/html", "application/*", "json", "*"])
def test_what_is_built_in_has_routes_and_those_of_lists_offer_streams(accept: str) -> None:
    offered = "406: Not Acceptable\n\nAvailable representations: " + ", ".join(negotiate.OFFERED)
    for many, streams in ((False, ()), (True, negotiate.STREAMS)):
        with pytest.raises(NotAcceptable) as refused:
            negotiate.choose_object_form(accept, builtin=True, of_list=many)
        assert refused.value.message == ", ".join((offered, *streams))


@pytest.mark.parametrize("accept", ["application/json;stream=chunks", "application/yaml;as=Foo;v=v1;g=x", "*/*;sv=v2"])
def test_a_route_that_is_found_may_not_have_the_form(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="only the following media types are accepted: application/json, "):
        negotiate.choose_object_form(accept, builtin=True, of_list=True)


@pytest.mark.parametrize("accept", ["application/json;stream=watch", "*/*;stream=watch"])
def test_discovery_may_be_called_a_stream(accept: str) -> None:
    assert negotiate.choose_discovery_form(accept, aggregated=True) == AnswerForm()


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        # what is more exact goes first where it comes later, whatever its quality
        ("*/*;q=0.9, application/yaml;q=0.1", "application/yaml"),
        ("application/yaml;q=0.1, */*;q=0.9", "application/json"),
        # no number is 0, and 0 is no refusal
        ("application/yaml;q=high, application/json;q=0.2", "application/json"),
        ("application/yaml;q=0", "application/yaml"),
        ("application/yaml;q= 0.9, application/json;q=0.2", "application/json"),
        # what is no media range is left out
        ("yaml, application/json/more, application/yaml", "application/yaml"),
        ("*, application/yaml;q=0.5", "application/yaml"),
        ("*/yaml, application/json", "application/json"),
        # a stream is only offered where there is one, and of the one kind
        ("application/yaml;stream=watch, application/json", "application/json"),
        ("application/json;stream=chunks, application/yaml", "application/yaml"),
        ("application/json;sv=v9, application/yaml", "application/yaml"),
        ("application/json;sv=v1, application/yaml", "application/json"),
        # half of a conversion is none that is offered
        ("application/json;g=meta.k8s.io;v=v1, application/yaml", "application/yaml"),
        ("application/json;export=1;other=2, application/yaml", "application/json"),
    ],
)
def test_clauses_are_read_as_a_real_server_reads_them(accept: str, media: str) -> None:
    assert negotiate.choose_object_form(accept) == AnswerForm(media)


def test_aggregated_discovery_is_given_where_it_is_asked_for_at_all() -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    form = negotiate.choose_discovery_form(f"application/json, {aggregated};q=0.1", aggregated=True)
    assert form.target == "APIGroupDiscoveryList"
    with pytest.raises(NotAcceptable):
        negotiate.choose_discovery_form(aggregated, aggregated=False)


@pytest.mark.parametrize(
    ("query", "agent", "pretty"),
    [
        ({}, "", False),
        ({"pretty": ["true"]}, "", True),
        ({"pretty": ["1"]}, "", True),
        ({"pretty": ["yes"]}, "", False),
        ({}, "curl/8.5.0", True),
        ({"pretty": ["false"]}, "curl/8.5.0", False),
        ({"pretty": [""]}, "Mozilla/5.0 (X11)", True),
    ],
)
def test_people_get_indented_answers(query: dict[str, list[str]], agent: str, pretty: bool) -> None:
    assert negotiate.make_readable(AnswerForm(), query, agent) == AnswerForm(pretty=pretty)


@pytest.mark.parametrize(
    ("header", "media"),
    [
        ("", "application/json"),
        ("application/json", "application/json"),
        ("Application/YAML; charset=utf-8", "application/yaml"),
        ('application/json ; a="b;c";d=e;', "application/json"),
        ("application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"),
    ],
)
def test_the_form_of_a_body(header: str, media: str) -> None:
    assert negotiate.body_type(header, custom=False) == media


@pytest.mark.parametrize("header", ["text/plain", "json", "application/json; charset", "application/json; a=b c", ";"])
def test_bodies_of_other_forms_are_refused(header: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        negotiate.body_type(header, custom=False)


@pytest.mark.parametrize(
    ("header", "media"),
    [
        ("Application/JSON", "application/json"),
        (" a/b ; c=d", "a/b"),
        ('a/b; c="d;e\\"f" ;', "a/b"),
        ("a/b;", "a/b"),
        ("a/b;;", ""),
        ("a/b; c", ""),
        ("a/b; c=", ""),
        ('a/b; c="d', ""),
        ('a/b; c=d"e"', ""),
        ("a/b c", ""),
        (";c=d", ""),
        ("  ", ""),
    ],
)
def test_the_type_in_a_content_type(header: str, media: str) -> None:
    assert negotiate._media_type(header) == media


@pytest.mark.parametrize("piece", [" ", "; a=b", '; a="\\"', ";a=b ", '"', "\\"])
def test_the_work_grows_with_a_content_type(piece: str) -> None:
    assert_linear(lambda n: negotiate._media_type("a/b; a=b" + piece * n), lambda n: n, 200, charged=False)
    assert_linear(lambda n: negotiate._media_type("a/b; a=b" + piece * n + "!"), lambda n: n, 200, charged=False)


def test_an_error_is_in_no_other_form_than_json_for_who_wants_an_object_turned_into_something() -> None:
    assert negotiate.choose_error_form("application/yaml;as=Table;v=v1;g=meta.k8s.io") == AnswerForm(pretty=True)
    both = "application/yaml;as=Table;v=v1;g=meta.k8s.io,application/yaml"
    assert negotiate.choose_error_form(both).media == negotiate.YAML


def test_a_built_in_kind_has_a_route_for_whole_types_only() -> None:
    for accept in ("*", "application/*"):
        with pytest.raises(NotAcceptable, match="406: Not Acceptable"):
            negotiate.choose_object_form(accept, builtin=True)
        assert negotiate.choose_object_form(accept) == AnswerForm()
