"""list: objects of one namespace or all, with selectors, in pages, at the present or an earlier revision."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import NamedTuple

from podless.apis.core.components import list_components
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.codec import gobase64, gotext, serializer
from podless.kinds import view
from podless.meta.errors import BadRequest, Expired, Internal
from podless.runtime.release import has
from podless.store import HistoryCompacted
from podless.structs import structs
from podless.structs.gotypes import Int, String
from podless.structs.structs import Field, Struct
from podless.verbs.call import API, Call, Many
from podless.verbs.options import ListOptions, make_revision_error, make_too_large_error

Match = Callable[[Entry], bool]

_VERSION = "meta.k8s.io/v1"
_OBJECTS_PER_READ = 500  # objects of an earlier state that one read takes from the history log
_MAX_CACHED = 512  # characters: longer selectable fields are not cached for other requests
_TOKEN = Struct(
    "continueToken", (Field("v", String()), Field("rv", Int(64)), Field("start", String())), package="storage"
)

_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class ContinueToken(NamedTuple):
    """The position after a page: revision of the whole list, and the next key without the scope.

    revision: negative for the state at the time when the token is used.
    """

    revision: int
    start: str


def write_token(token: ContinueToken) -> str:
    """Encode a continue token."""
    raw = serializer.encode_json({"v": _VERSION, "rv": token.revision, "start": token.start})
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def read_token(text: str) -> ContinueToken:
    """Decode a continue token. Raises BadRequest."""
    try:
        raw = serializer.decode_json(gobase64.decode_base64(text, url=True, padded=False))
        struct = structs.decode_struct(_TOKEN, {} if raw is None else raw)
        return _check_token(struct.get("v", ""), struct.get("rv", 0), struct.get("start", ""))
    except ValueError as error:
        raise BadRequest(f"invalid continue token: continue key is not valid: {error}") from None


def _check_token(version: str, revision: int, start: str) -> ContinueToken:
    """Make a token from its fields. Raises ValueError if it points outside of the listed keys."""
    if version != _VERSION:
        raise ValueError(f"server does not recognize this encoded version {version}")
    if not revision:
        raise ValueError(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise ValueError(f"encoded start key empty (version {_VERSION})")
    key = start.removeprefix("/")
    if any(segment in ("", ".", "..") for segment in key.split("/")) and start != "/":
        raise ValueError(start)
    return ContinueToken(revision, key)


def make_selector(call: Call, options: ListOptions, *, keep: bool = False) -> Match | None:
    """Return a filter for the selectors; None if they select everything. keep: cache it for other requests."""
    labels, fields = options.labels, options.fields
    if labels.empty and fields.empty:
        return None
    if fields.empty and call.kind.webhook is None:
        matches = labels.matches
        return lambda entry: matches(entry.labels)
    deep = needs_decoding(options)

    def matches_entry(entry: Entry) -> bool:
        if not labels.empty and not labels.matches(_read_labels(call, entry)):
            return False
        values = {"metadata.name": entry.name, "metadata.namespace": entry.namespace}
        if deep:
            values |= _read_fields(call, entry, keep)
        return fields.matches(lambda name: values.get(name, ""))

    return matches_entry


def matches_objects(call: Call, collection: WatchCache, options: ListOptions) -> bool:
    """Return whether the selectors are matched with objects, or an index is made; False if an index has the answer."""
    if options.labels.empty and options.fields.empty:
        return False
    present = collection.loaded and not (options.revision or options.token) and call.kind.webhook is None
    if not present or not options.fields.empty or len(options.labels.requirements) > 1:
        return True
    pinned = options.labels.required_label
    return pinned is None or not collection.is_indexed(pinned[0])


def needs_decoding(options: ListOptions) -> bool:
    """Return whether the selectors need decoded objects."""
    return any(name not in ("metadata.name", "metadata.namespace") for name in options.fields.names)


def _read_fields(call: Call, entry: Entry, keep: bool) -> dict[str, str]:
    """Return the selectable fields of an object. keep: cache them with the entry if they are short."""
    key = ("fields", call.kind.group, call.version.name, call.kind.changed)
    fields: dict[str, str] | None = entry.forms.get(key) if keep else None
    if fields is None:
        fields = call.kind.strategy.read_selectable_fields(
            call.version, view.load_object(call.kind, call.version, entry)
        )
        if keep and sum(map(len, fields.values())) < _MAX_CACHED:
            entry.forms[key] = fields
    return fields


def _read_labels(call: Call, entry: Entry) -> dict[str, str]:
    """Return the labels in the requested version, which a conversion webhook may have changed."""
    if call.kind.webhook is None:
        return entry.labels
    return view.load_object(call.kind, call.version, entry)["metadata"].get("labels") or {}


async def list_objects(
    api: API, call: Call, collection: WatchCache, options: ListOptions, *, paged: bool = False
) -> Many:
    """Return a list or a page of one. paged: a real server pages this list in any case, whatever the limit.

    collection: need not be loaded if the request is for an earlier state.

    Raises BadRequest, Timeout for a future revision, Expired for a forgotten one.
    """
    token = read_token(options.token) if options.token else None
    current = api.cache.revision
    wanted_revision = find_wanted_revision(options, token, current, paged=paged)
    # a real server ignores the limit at revision 0, except for kinds that it does not cache
    limit = options.limit if options.revision != "0" or not call.kind.strategy.reads.cached else 0
    pages = limit or paged
    exact = wanted_revision and (token is not None or options.match == "Exact" or (pages and not options.match))
    revision = wanted_revision if exact else current
    if revision < api.store.compacted_revision and revision < _find_horizon(api, call):
        raise _make_expired(token)
    start = call.scope + token.start if token is not None else ""
    match = make_selector(call, options)
    if not call.kind.strategy.reads.revisioned:
        return Many([entry for entry in await list_components(api.store) if match is None or match(entry)], 0)
    if limit and revision < api.store.compacted_revision:
        return await _list_past_page(api, call, collection, revision, start, limit, match)
    if match is None:
        oldest = collection.oldest if collection.is_loaded_at(revision) else 0
        entries, remaining = await _list_entries(call, collection, revision, start, limit)
        next_token = _make_continue(call, entries, revision) if remaining else ""
        return Many(entries, revision, next_token, remaining or None, oldest)
    # a conversion webhook may change labels
    pinned = options.labels.required_label if call.kind.webhook is None else None
    chosen: list[Entry] = []
    indexed: list[Entry] | None = None
    if pinned is not None and collection.is_loaded_at(revision):
        collection.index_label(pinned[0])
        if collection.is_loaded_at(revision):  # asked again, because other requests can write during `index_label`
            indexed = collection.entries_labelled(call.scope, *pinned, start)
    if indexed is not None:
        entries = indexed
        if len(options.labels.requirements) == 1 and options.fields.empty:
            chosen, entries = entries, []  # the index has applied the only requirement
    else:
        entries, _ = await _list_entries(call, collection, revision, start, 0)
    await api.converter.prepare_entries(call.kind, call.version, entries)
    async for slice_ in api.pace.iterate_slices(call.user.name, entries):
        chosen += filter(match, slice_)
        if limit and len(chosen) >= limit:
            break
    if not limit or len(chosen) < limit:
        return Many(chosen, revision)
    entries = chosen[:limit]
    behind, _ = await _list_entries(call, collection, revision, entries[-1].key + "\0", 1)
    return Many(entries, revision, _make_continue(call, entries, revision) if behind else "")


async def _list_past_page(
    api: API, call: Call, collection: WatchCache, revision: int, start: str, limit: int, match: Match | None
) -> Many:
    """Return a page of a state that only the history log has, read in parts. Raises Expired."""
    chosen, after, has_more = list[Entry](), start.removesuffix("\0"), True
    while has_more and len(chosen) < limit:
        try:
            entries, has_more = await collection.page_at(call.scope, revision, after, min(limit, _OBJECTS_PER_READ))
        except HistoryCompacted:
            raise Expired(_TOO_OLD) from None
        if match is not None:
            await api.converter.prepare_entries(call.kind, call.version, entries)
        async for slice_ in api.pace.iterate_slices(call.user.name, entries):
            chosen += slice_ if match is None else filter(match, slice_)
        after = entries[-1].key if entries else after
    has_more = has_more or len(chosen) > limit
    return Many(chosen[:limit], revision, _make_continue(call, chosen[:limit], revision) if has_more else "")


def _find_horizon(api: API, call: Call) -> int:
    """Return the oldest revision at which a list can be read."""
    log = api.store.changelog
    return log.read_horizon(call.scope) if log is not None else api.store.compacted_revision


def _make_continue(call: Call, entries: Sequence[Entry], revision: int) -> str:
    return write_token(ContinueToken(revision, entries[-1].key[len(call.scope) :] + "\0"))


def _make_expired(token: ContinueToken | None) -> Expired:
    """Return the error for a forgotten state. For a page it has a token that continues in the present state."""
    if token is None:
        return Expired(_TOO_OLD)
    return Expired(_TOKEN_TOO_OLD, write_token(ContinueToken(-1, token.start)))


def find_wanted_revision(options: ListOptions, token: ContinueToken | None, current: int, *, paged: bool) -> int:
    """Return the requested revision, 0 for none. current: the newest revision.

    Raises BadRequest, and Timeout for a future revision; Internal in releases that answer so.
    """
    if token is not None and options.revision not in ("", "0"):
        raise BadRequest("specifying resource version is not allowed when using continue")
    try:
        requested = token.revision if token is not None else gotext.parse_uint(options.revision or "0")
    except ValueError as error:
        text = make_revision_error(options.revision, error)
        if paged or options.limit or options.match == "Exact" or has("BadRevisions"):
            raise BadRequest(f"invalid resource version: {text}") from None
        raise Internal(text) from None
    if requested > current:
        if options.match == "Exact" and not has("FutureRevisions"):
            raise Internal("etcdserver: mvcc: required revision is a future revision")
        raise make_too_large_error(requested, current)
    return max(requested, 0)


async def _list_entries(
    call: Call, collection: WatchCache, revision: int, start: str, limit: int
) -> tuple[list[Entry], int]:
    """Return entries from a key on, and how many more there are. Raises Expired."""
    if collection.is_loaded_at(revision):
        return collection.entries_under(call.scope, start, limit)
    try:
        entries = await collection.read_entries_at(call.scope, revision)
    except HistoryCompacted:
        raise Expired(_TOO_OLD) from None
    if start:
        entries = [entry for entry in entries if entry.key >= start]
    if limit and len(entries) > limit:
        return entries[:limit], len(entries) - limit
    return entries, 0
