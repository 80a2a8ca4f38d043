"""Renders the result of a verb in the form that the client asked for. Stored bytes are sent as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from podless.cache.entry import Entry
from podless.codec import serializer
from podless.http import lists
from podless.http.lists import RowCache
from podless.http.message import LazyBody, ListBody, Response
from podless.http.negotiate import PLAIN, PROTOBUF, YAML, AnswerForm
from podless.kinds import view
from podless.meta.errors import Internal, NotAcceptable
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.memo import remember_value
from podless.runtime.meter import charge
from podless.structs import protobuf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct
from podless.verbs.call import API, AnswerDocument, Call, Many, Outcome, Single

if TYPE_CHECKING:
    from podless.publish import table
else:
    table = lazy.LateModule("podless.publish.table")

PARTIAL_OBJECT_METADATA = load_struct("meta/v1", "PartialObjectMetadata")
SCALE = load_struct("autoscaling/v1", "Scale")
STATUS = load_struct("meta/v1", "Status")


_SHORT_JSON = 1 << 13  # bytes; the JSON of a shorter object becomes YAML, or an answer, in one go
_TREE = 8  # memory of a decoded object, in multiples of its JSON
_MOVED = 64  # bytes per step on the meter, for decoding and encoding


def render_response(call: Call, outcome: Outcome, form: AnswerForm, row_cache: RowCache) -> Response:
    """Return the answer of a verb. row_cache: the cache of table rows.

    Raises NotAcceptable or BadRequest if the outcome does not have this form.
    """
    if form.media == PROTOBUF:
        answer = Response(getattr(outcome, "code", 200), _render_protobuf(call, outcome, form), form.media.encode())
        if isinstance(outcome, Many):  # the messages are cached with the objects
            answer.own_size = 0
        return answer
    body: Sequence[bytes] | ListBody | LazyBody
    if isinstance(outcome, Many):
        body, code = _render_many(call, outcome, form, row_cache), 200
        if isinstance(body, LazyBody):
            return Response(code, body, form.media.encode())
    elif isinstance(outcome, AnswerDocument):
        if outcome.may_be_long and not form.target and (size := serializer.measure_long(outcome.obj)):
            return Response(outcome.code, _document_pieces(outcome.obj, form, size), form.media.encode())
        body, code = [_render_document(call, outcome, form)], outcome.code
    else:
        body, code = [_render_single(call, outcome, form)], outcome.code
    if form.media == YAML:
        text = b"".join(body)
        charge(len(text) // _MOVED)
        obj = serializer.decode_own(text)
        is_short = len(text) <= _SHORT_JSON
        body = (
            [serializer.encode_yaml(obj)]
            if is_short
            else LazyBody(lambda: serializer.encode_yaml_pieces(obj), own_size=_TREE * len(text))
        )
    elif form.pretty:
        text = b"".join(body)
        charge(len(text) // _MOVED)
        obj = serializer.decode_own(text)
        charge(len(text) // _MOVED)
        body = [serializer.encode_pretty(obj)]
    elif not isinstance(body, ListBody):
        body = [*body, b"\n"]  # Go's encoder ends each JSON object with a line break, unless it indents
    return Response(code, body, form.media.encode())


def render_quickly(call: Call, outcome: Outcome, form: AnswerForm, row_cache: RowCache) -> Response | None:
    """Return the answer of a verb about one object; None if rendering it is so expensive that it must be sliced.

    Raises as `render_response` does.
    """
    if isinstance(outcome, Single) and (entry := outcome.entry) is not None:
        body = view.known_body(call.kind, call.version, entry)
        if body is None:  # even a short object can be expensive to convert, or to fill with defaults
            return None
        if form is PLAIN:  # the most frequent case
            return Response(outcome.code, (body, b"\n"))
        if len(body) > _SHORT_JSON or (form.target == "Table" and call.kind.custom):  # its columns can be expensive
            return None
    elif not isinstance(outcome, AnswerDocument) or outcome.may_be_long:
        return None
    return render_response(call, outcome, form, row_cache)


def render_stored_list(call: Call, outcome: Outcome, form: AnswerForm) -> Response | None:
    """Return an answer with a few objects as they are stored; None for all others, which are made in slices."""
    if form is not PLAIN or not isinstance(outcome, Many) or len(outcome.entries) > lists.LONG_LIST:
        return None
    if view.find_indirect(call.kind, call.version, outcome.entries, outcome.oldest):
        return None
    return Response(200, _render_objects(call, outcome))


def longest_object(outcome: Outcome) -> int:
    """Return the bytes of the longest stored object of an answer that is made in one go."""
    if isinstance(outcome, Many):
        is_short = len(outcome.entries) <= lists.LONG_LIST
        return max((len(entry.body) for entry in outcome.entries), default=0) if is_short else 0
    entry = getattr(outcome, "entry", None)
    return len(entry.body) if entry is not None else 0


async def prepare_list(api: API, call: Call, outcome: Outcome, form: AnswerForm) -> None:
    """Make the protobuf messages or sort keys of a long list in slices; the list's length is then known."""
    if not isinstance(outcome, Many) or len(outcome.entries) <= lists.LONG_LIST:
        return
    kind, version = call.kind, call.version
    struct = kind.struct_of(version) if form.media == PROTOBUF and not form.target else None
    binary = struct is not None or form.media == PROTOBUF
    unmade = outcome.entries if binary else view.find_indirect(kind, version, outcome.entries, outcome.oldest)

    def encode_entries(entries: Sequence[Entry]) -> None:
        for entry in entries:
            if struct is not None:
                _encode_message(call, struct, entry)
            elif binary:
                _partial_message(call, form, entry)
            else:
                view.encode_body(kind, version, entry)

    if unmade:
        async with api.pace.get_lock(call.user.name):  # equal lists at the same time find what the first one makes
            async for entries in api.pace.iterate_slices(call.user.name, unmade):
                await api.off_loop.slices.run(encode_entries, entries)
    order = table.get_layout(kind, version).order if form.target == "Table" else None
    if order is not None:
        look = order  # mypy does not narrow `order` inside the function

        def find_sort_keys(entries: Sequence[Entry]) -> None:
            for entry in entries:
                lists.sort_key(call, look, entry)

        async for entries in api.pace.iterate_slices(call.user.name, outcome.entries):
            await api.off_loop.slices.run(find_sort_keys, entries)


def prepare_layout(call: Call, form: AnswerForm) -> None:
    """Compute the columns of a table that is rendered off the loop. Call it on the loop."""
    if form.target == "Table":
        table.get_layout(call.kind, call.version)


_DOCUMENTS = {"Status": STATUS, "Scale": SCALE}


def _render_protobuf(call: Call, outcome: Outcome, form: AnswerForm) -> list[bytes]:
    struct = call.kind.struct_of(call.version)
    if isinstance(outcome, AnswerDocument) and (not form.target or outcome.obj["kind"] == "Status"):
        return [protobuf.write_object(_DOCUMENTS.get(outcome.obj["kind"]) or _review_struct(call), outcome.obj)]
    if struct is not None and not form.target and isinstance(outcome, Many):
        items = [_encode_message(call, struct, entry) for entry in outcome.entries]
        return protobuf.pack_list(call.api_version, call.kind.list_kind, lists.list_metadata(outcome), items)
    if struct is not None and not form.target and isinstance(outcome, Single):
        if outcome.entry is None:
            return [protobuf.write_object(struct, outcome.obj or {})]
        return [protobuf.wrap_message(call.api_version, call.kind.kind, _encode_message(call, struct, outcome.entry))]
    if isinstance(outcome, Many):
        _refuse_partial(call, form)
        items = [_partial_message(call, form, entry) for entry in outcome.entries]
        return protobuf.pack_list(
            f"meta.k8s.io/{form.version}", "PartialObjectMetadataList", lists.list_metadata(outcome), items
        )
    body = _render_single(call, outcome, form) if isinstance(outcome, Single) else _render_document(call, outcome, form)
    return [protobuf.write_object(PARTIAL_OBJECT_METADATA, serializer.decode_own(body))]


def _review_struct(call: Call) -> Struct:
    """Return the struct of a review: that of the subresource's kind, if it has one."""
    subresource = call.kind.find_subresource(call.subresource)
    struct = (subresource.kind if subresource is not None and subresource.kind is not None else call.kind).struct
    assert struct is not None
    return struct


def _encode_message(call: Call, struct: Struct, entry: Entry) -> bytes:
    """Return a stored object's protobuf message, cached by state and version."""
    form = ("protobuf", call.kind.group, call.version.name, call.kind.changed)

    def encode_entry() -> bytes:
        with view.pause_collector(entry):
            return protobuf.encode_message(struct, view.load_object(call.kind, call.version, entry))

    return remember_value(entry.forms, form, encode_entry)


def _partial_message(call: Call, form: AnswerForm, entry: Entry) -> bytes:
    """Return the message of a stored object's PartialObjectMetadata, cached by state and version."""
    kind, version = call.kind, call.version

    def encode_entry() -> bytes:
        metadata_object = table.make_partial(view.load_inner(kind, version, entry), form.version)
        return protobuf.encode_message(PARTIAL_OBJECT_METADATA, metadata_object)

    return remember_value(
        entry.forms, ("protobuf", "partial", form.version, kind.group, version.name, kind.changed), encode_entry
    )


def _render_document(call: Call, outcome: AnswerDocument, form: AnswerForm) -> bytes:
    obj, kind = outcome.obj, outcome.obj.get("kind", "")
    if not form.target or kind == "Status":
        return serializer.encode_json(obj)
    if form.target == "PartialObjectMetadata":
        return serializer.encode_json(table.make_partial(obj, form.version))
    if form.target == "Table" and kind == "Scale":
        return _encode_table(call, table.SCALE, obj, obj["metadata"], form)
    is_custom_scale = kind == "Scale" and call.kind.custom
    raise _not_a_list(form, "v1" if is_custom_scale else obj["apiVersion"].partition("/")[0], kind)


def _document_pieces(obj: Object, form: AnswerForm, size: int) -> LazyBody:
    """Return a document with long lists, made while it is sent. size: the memory that it takes."""
    if form.media == YAML:
        return LazyBody(lambda: serializer.encode_yaml_pieces(obj), own_size=size)
    indent, end = (b"", ()) if form.pretty else (None, (b"\n",))
    return LazyBody(lambda: chain(serializer.encode_json_pieces(obj, indent), end), own_size=size)


def _not_a_list(form: AnswerForm, group: str, kind: str) -> NotAcceptable:
    go = _go_type(group, kind)
    return NotAcceptable(f"you requested {form.target}, but the requested object is not a list ({go})")


def _go_type(group: str, kind: str) -> str:
    """Return the Go type of a built-in kind's objects in a real server. events.k8s.io uses that of the core group."""
    package = "core" if group in ("", "events.k8s.io") else group.partition(".")[0]
    return f"*{package}.{kind}"


def _render_single(call: Call, outcome: Single, form: AnswerForm) -> bytes:
    kind, version, entry = call.kind, call.version, outcome.entry
    if not form.target and entry is not None:
        return view.encode_body(kind, version, entry)
    if entry is not None:
        obj = view.load_inner(kind, version, entry)
    else:
        obj = view.show_unstored(kind, version, outcome.obj or {})
    if not form.target:
        return serializer.encode_json(obj) if kind.strategy.ordered else serializer.encode_sorted(obj)
    if form.target == "PartialObjectMetadataList":
        raise Internal("content is not a list") if kind.custom else _not_a_list(form, kind.group, kind.kind)
    if form.target == "PartialObjectMetadata":
        return serializer.encode_json(table.make_partial(obj, form.version))
    revision = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
    return _encode_table(call, table.get_layout(kind, version), obj, revision, form, entry)


def _encode_table(
    call: Call, layout: table.TableLayout, obj: Object, metadata: Object, form: AnswerForm, entry: Entry | None = None
) -> bytes:
    """Return a Table of one object. entry: its stored state, None for none."""
    include = included_part(call)
    if entry is not None and include == "Object":
        body = view.encode_body(call.kind, call.version, entry)
    else:  # in one piece, because no cache shares it
        body = serializer.encode_json(table.include_object(obj, include, form.version))
    row = table.make_row(layout, obj, include, form.version, body)
    return table.encode_table(layout, row, metadata, form.version)


def _refuse_partial(call: Call, form: AnswerForm) -> None:
    """Raise NotAcceptable if a form for single objects was requested for a list."""
    if form.target == "PartialObjectMetadata":
        custom, group = call.kind.custom, call.kind.group
        go = "*unstructured.UnstructuredList" if custom else _go_type(group, call.kind.list_kind)
        raise NotAcceptable(f"you requested PartialObjectMetadata, but the requested object is a list ({go})")


def _render_many(call: Call, page: Many, form: AnswerForm, row_cache: RowCache) -> list[bytes] | ListBody | LazyBody:
    """Return a list as JSON, or in its form if it is long and not sent as stored."""
    _refuse_partial(call, form)
    include = included_part(call) if form.target == "Table" else ""
    if (form.target or form.pretty or form.media == YAML) and lists.is_long(page):
        return lists.list_pieces(call, page, form, row_cache, include)
    return [lists.encode_list(call, page, form, row_cache, include)] if form.target else _render_objects(call, page)


def _render_objects(call: Call, page: Many) -> ListBody:
    kind, version = call.kind, call.version
    api_version = kind.api_version(version.name)
    items = view.encode_bodies(kind, version, page.entries, page.oldest)
    if kind.strategy.ordered:
        meta = serializer.encode_json(lists.list_metadata(page))
        head = f'{{"kind":"{kind.list_kind}","apiVersion":"{api_version}","metadata":'.encode()
        return ListBody(b'%b%b,"items":[' % (head, meta), items, b"]}\n", view.type_prefix(kind, version))
    meta = serializer.encode_sorted({"continue": ""} | lists.list_metadata(page))
    head = f'{{"apiVersion":"{api_version}","items":['.encode()
    return ListBody(head, items, b'],"kind":"%b","metadata":%b}\n' % (kind.list_kind.encode(), meta))


def included_part(call: Call) -> str:
    """Return the includeObject parameter. Raises BadRequest."""
    values = call.query.get("includeObject")
    return table.check_include(values[0] if values else "")
