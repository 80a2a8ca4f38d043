"""list: objects of one namespace or all, selected, in pages, now or as they were."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import NamedTuple

from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.kinds import view
from podless.meta import codec
from podless.meta.errors import BadRequest, Expired
from podless.store import Compacted
from podless.verbs.call import API, Call, Many
from podless.verbs.options import ListOptions, parse_revision, revision_error, too_large

Match = Callable[[Entry], bool]


class Token(NamedTuple):
    """Where a page ended: the revision that the whole list is read at, and the last key, without the scope."""

    revision: int
    start: str


def write_token(token: Token) -> str:
    """A continue token."""
    raw = codec.encode({"v": "meta.k8s.io/v1", "rv": token.revision, "start": token.start + "\0"})
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def read_token(text: str) -> Token:
    """The same read back. Raises BadRequest."""
    prefix = "invalid continue token: continue key is not valid: "
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"{prefix}illegal base64 data at input byte {_bad_byte(text)}") from None
    try:
        given = codec.decode_json(raw)
    except codec.JSONError as error:
        raise BadRequest(f"{prefix}{error}") from None
    fields = given if isinstance(given, dict) else {}
    if fields.get("v") != "meta.k8s.io/v1":
        raise BadRequest(f"{prefix}server does not recognize this encoded version {fields.get('v') or ''}")
    revision, start = fields.get("rv"), fields.get("start")
    if not isinstance(revision, int) or isinstance(revision, bool) or not isinstance(start, str) or not start:
        raise BadRequest(f"{prefix}encoded start resourceVersion and key are required")
    return Token(revision, start.rstrip("\0"))


def _bad_byte(text: str) -> int:
    good = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return next((index for index, char in enumerate(text) if char not in good), len(text))


def selector(call: Call, options: ListOptions) -> Match | None:
    """What the selectors leave of a list; None where they leave all."""
    labels, fields = options.labels, options.fields
    if labels.empty and fields.empty:
        return None
    if fields.empty and call.kind.webhook is None:
        return lambda entry: labels.matches(entry.labels)
    deep = any(name not in ("metadata.name", "metadata.namespace") for name, _, _ in fields.requirements)

    def match(entry: Entry) -> bool:
        if not labels.empty and not labels.matches(_labels(call, entry)):
            return False
        known = {"metadata.name": entry.name, "metadata.namespace": entry.namespace}
        if deep:
            known |= call.kind.strategy.fields(call.version, view.load(call.kind, call.version, entry))
        return fields.matches(lambda name: known.get(name, ""))

    return match


def _labels(call: Call, entry: Entry) -> dict[str, str]:
    """The labels in the version that is asked for: a webhook may show others there."""
    if call.kind.webhook is None:
        return entry.labels
    return view.load(call.kind, call.version, entry)["metadata"].get("labels") or {}


async def list_(api: API, call: Call, collection: WatchCache, options: ListOptions) -> Many:
    """A list or a page of one. Raises BadRequest, Timeout for a future revision, Expired for a forgotten one."""
    token = read_token(options.token) if options.token else None
    wanted = _wanted(options, token)
    current = api.cache.revision
    if wanted > current:
        raise too_large(wanted, current)
    exact = token is not None or options.match == "Exact" or (wanted and options.limit and not options.match)
    revision = wanted if exact else current
    after = call.scope + token.start if token is not None else ""
    match = selector(call, options)
    pinned = options.labels.pinned if call.kind.webhook is None else None  # a webhook may change labels
    if pinned is not None and revision >= collection.changed:
        entries, remaining = collection.labelled(call.scope, *pinned, after), 0
    else:
        entries, remaining = await _read(call, collection, revision, after, options.limit if match is None else 0)
    if match is not None:
        await api.converter.ready(call.kind, call.version, entries)
        entries = [entry for entry in entries if match(entry)]
        if options.limit and len(entries) > options.limit:
            remaining = len(entries) - options.limit
            entries = entries[: options.limit]
    if not remaining:
        return Many(entries, revision)
    last = entries[-1].key[len(call.scope) :]
    return Many(entries, revision, write_token(Token(revision, last)), remaining if match is None else None)


def _wanted(options: ListOptions, token: Token | None) -> int:
    """The revision that the client names, 0 for none."""
    try:
        revision = parse_revision(options.revision) if options.revision else 0
    except ValueError as error:
        text = revision_error(options.revision, error)
        raise BadRequest(f"invalid resource version: {text}") from None
    if token is None:
        return revision
    if revision:
        raise BadRequest("specifying resource version is not allowed when using continue")
    return max(token.revision, 0)


async def _read(call: Call, collection: WatchCache, revision: int, after: str, limit: int) -> tuple[list[Entry], int]:
    if revision >= collection.changed:
        return collection.under(call.scope, after, limit)
    try:
        entries = await collection.under_at(call.scope, revision)
    except Compacted:
        raise Expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new "
            "list without the continue parameter."
        ) from None
    if after:
        entries = [entry for entry in entries if entry.key > after]
    if limit and len(entries) > limit:
        return entries[:limit], len(entries) - limit
    return entries, 0
