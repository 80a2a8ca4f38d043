"""Conversion webhooks: convert objects between versions in batches, and cache the results.

Source: apiextensions-apiserver's webhook converter and its conversion.Review types. kinds/view.py keeps results with
the entry. A webhook can change labels and annotations, but no other metadata.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from podless.cache.entry import Entry
from podless.codec import gotext, serializer
from podless.fields.typed import SchemaMisfit
from podless.kinds import view, webhookreviews
from podless.kinds.custom import CustomStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.scheme import NO_SCHEME, GoScheme
from podless.kinds.webhookreviews import InvalidReview
from podless.meta import objectmeta
from podless.meta.errors import Internal
from podless.meta.field import join_errors
from podless.remote import RemoteError, WebhookClient, WebhookTarget
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gotypes
from podless.structs.gotypes import STRING, UID, ListOf, Raw
from podless.structs.structfiles import load_struct
from podless.structs.structs import TYPE_META, Field, Struct

if TYPE_CHECKING:
    from podless.hooks.loaded import LoadedHooks
    from podless.schema import Schema

log = logging.getLogger("podless")

STATUS = load_struct("meta/v1", "Status")


_GROUP = "apiextensions.k8s.io"
_SECONDS = 30  # timeout of one review in seconds
# maximum objects, and bytes of objects, in one review
_MAX_OBJECTS = 500
_MAX_BYTES = 3 << 20
_MAX_ANSWER = 16 << 20  # maximum bytes of an answer
_NO_RESPONSE: Object = {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}  # a real server sends it, too


def _review_type(version: str) -> Struct:
    request_fields = (
        Field("uid", UID, 1, always=True),
        Field("desiredAPIVersion", STRING, 2, always=True),
        Field("objects", ListOf(Raw()), 3, always=True),
    )
    answered = (
        Field("uid", UID, 1, always=True),
        Field("convertedObjects", ListOf(Raw()), 2, always=True),
        Field("result", STATUS, 3, always=True),
    )
    sides = (
        Field("request", Struct("ConversionRequest", request_fields, version), 1, pointer=True),
        Field("response", Struct("ConversionResponse", answered, version), 2, pointer=True),
    )
    return Struct("ConversionReview", (*TYPE_META, *sides), version)


_REVIEWS = {f"{_GROUP}/{version}": _review_type(version) for version in ("v1", "v1beta1")}


class ConversionFailed(Internal):
    """500: an object cannot be converted to a version."""


class Converter:
    """Converts objects of all kinds of a server, with the webhook or hook of the kind if it has one.

    client: calls webhooks. hooks: hooks of podless.hooks, used in place of webhooks.
    """

    def __init__(self, client: WebhookClient, scheme: GoScheme = NO_SCHEME, hooks: LoadedHooks | None = None) -> None:
        self.client = client
        self.hooks = hooks
        self._scheme = scheme

    async def convert_object(self, kind: Kind, obj: Object, desired: str) -> Object:
        """Return an object in the desired version, in the form of its schema; a new object unless it has that version.

        Raises ConversionFailed.
        """
        if obj["apiVersion"] == kind.api_version(desired):
            return obj
        version = kind.by_version[desired]
        if kind.webhook is None:
            return await self.client.run_in_slices(_convert_copy, kind, version, obj)
        (converted,) = await self.ask_webhook(kind, [obj], desired)
        await self.client.run_in_slices(_prune_object, kind, desired, converted)
        return converted

    async def make_stored(self, kind: Kind, obj: Object) -> Object:
        """Return an object as it is stored; may change one of another version in place. Raises ConversionFailed."""
        if kind.webhook is not None and obj["apiVersion"] != kind.api_version(kind.storage_version):
            (obj,) = await self.ask_webhook(kind, [obj], kind.storage_version)
            await self.client.run_in_slices(_prune_object, kind, kind.storage_version, obj)
        return kind.strategy.make_stored(kind, obj)

    async def round_trip(self, kind: Kind, version: Version, obj: Object) -> Object:
        """Return an object as its version would show it after it was stored, with defaults; may change it.

        Raises ConversionFailed.
        """
        if not kind.custom:
            return kind.strategy.round_trip(obj)
        if version.name == kind.storage_version:
            await self.client.run_in_slices(_find_schema(kind, version.name).normalize, obj)
            return obj
        stored = await self.make_stored(kind, obj)
        if kind.webhook is not None:
            await self.client.run_in_slices(_find_schema(kind, kind.storage_version).normalize, stored)
            return await self.convert_object(kind, stored, version.name)
        return await self.client.run_in_slices(kind.strategy.read_stored, kind, version, stored)

    async def prepare_entries(self, kind: Kind, version: Version, entries: Sequence[Entry]) -> None:
        """Convert these entries, so that view.body and view.load can show them in a version.

        Raises ConversionFailed. Concurrent callers for the same entries share one answer.
        """
        if kind.webhook is None:
            return
        flight = ("under way", kind.group, version.name, kind.changed)
        batch: list[Entry] = []
        waiting: dict[asyncio.Task[None], asyncio.Task[None]] = {}
        size = 0
        for entry in entries:
            if not _must_convert(kind, version, entry):
                continue
            task = entry.forms.get(flight)
            if task is not None:
                waiting[task] = task
                continue
            together = batch and view.stored_version(kind, batch[0]) == view.stored_version(kind, entry)
            if batch and (not together or len(batch) >= _MAX_OBJECTS or size + len(entry.body) > _MAX_BYTES):
                await asyncio.shield(self._send_review(kind, version, batch, flight))
                batch, size = [], 0
            batch.append(entry)
            size += len(entry.body)
        task = None
        # no variable may refer to a task that fails: the traceback of its error refers to this frame
        if batch:
            await asyncio.shield(self._send_review(kind, version, batch, flight))
        while waiting:
            await asyncio.shield(waiting.pop(next(iter(waiting))))

    def _send_review(self, kind: Kind, version: Version, batch: list[Entry], flight: Any) -> asyncio.Task[None]:
        """Send one review in its own task, which continues for other callers if one is cancelled."""
        task = asyncio.get_running_loop().create_task(self._convert_batch(kind, version, batch))
        for entry in batch:
            entry.forms[flight] = task

        def forget_batch(finished: asyncio.Task[None]) -> None:
            for entry in batch:
                entry.forms.pop(flight, None)
            if not finished.cancelled():
                finished.exception()  # retrieved so that asyncio does not log it; the callers get it from the task

        task.add_done_callback(forget_batch)
        return task

    async def _convert_batch(self, kind: Kind, version: Version, batch: list[Entry]) -> None:
        name = view.stored_version(kind, batch[0])
        source = kind.by_version.get(name)
        if source is None:
            raise ConversionFailed(f"request to convert CR from an invalid group/version: {kind.api_version(name)}")
        size = sum(len(entry.body) for entry in batch)
        objects = await self.client.run_by_size(size, _decode_entries, kind, source, batch)
        converted = await self.ask_webhook(kind, objects, version.name, size)
        bodies = await self.client.run_by_size(size, _make_forms, kind, version, converted)
        for entry, body in zip(batch, bodies, strict=True):
            view.cache_body(kind, version, entry, body)

    async def ask_webhook(self, kind: Kind, objects: Sequence[Object], desired: str, size: int = 0) -> list[Object]:
        """Convert objects of one version to the version `desired` with the kind's webhook.

        The given objects are not changed. size: of the objects in bytes, approximately. Raises ConversionFailed if the
        webhook does not answer, rejects the review, or gives an invalid answer.
        """
        source_type = _describe_type(kind, objects[0]["apiVersion"])
        webhook = kind.webhook
        assert webhook is not None
        if "hook" in webhook:
            return await self._ask_hook(kind, objects, desired, size)
        if "rules" in webhook:
            return await self._convert_declared(kind, objects, desired, size)
        head = f"conversion webhook for {source_type}"
        review, version = _make_review(webhook, objects, kind.api_version(desired))
        body = await self.client.run_by_size(size, serializer.encode_json, review)
        target = kind.derive("conversion target", lambda: WebhookTarget.from_config(webhook["clientConfig"]))
        try:
            answer = await self.client.post_json(target, body, seconds=_SECONDS, limit=_MAX_ANSWER)
            read_answer = partial(_read_review, uid=review["request"]["uid"], version=version, scheme=self._scheme)
            converted = await self.client.read(answer, read_answer)
        except (RemoteError, InvalidReview) as error:
            raise ConversionFailed(f"{head} failed: {error}") from None
        return await self._check_converted(head, kind, objects, converted, desired, len(answer))

    async def _check_converted(
        self, head: str, kind: Kind, objects: Sequence[Object], converted: list[Any], version: str, size: int
    ) -> list[Object]:
        """Check the results of a conversion, and prune them. Raises ConversionFailed."""
        if len(converted) != len(objects):
            raise ConversionFailed(f"{head} returned {len(converted)} objects, expected {len(objects)}")
        try:
            return await self.client.run_by_size(size, _check_all, kind, objects, converted, version)
        except InvalidReview as error:
            raise ConversionFailed(f"{head} returned {error}") from None

    async def _convert_declared(self, kind: Kind, objects: Sequence[Object], version: str, size: int) -> list[Object]:
        """Convert objects by the conversions that their definition declares."""
        head = f"declared conversion for {_describe_type(kind, objects[0]['apiVersion'])}"
        converted = await self.client.run_by_size(size, _run_conversions, kind, objects, version)
        return await self._check_converted(head, kind, objects, converted, version, size)

    async def _ask_hook(self, kind: Kind, objects: Sequence[Object], version: str, size: int) -> list[Object]:
        """Convert with a hook. The error does not say where it failed, because the answer is shared by all clients."""
        source = objects[0]["apiVersion"]
        head = f"conversion hook for {_describe_type(kind, source)}"
        assert kind.webhook is not None
        hook = self._choose_hook(kind, source.rpartition("/")[2], version, kind.webhook["hook"])
        if self.hooks is None or hook is None:
            named = f" {kind.webhook['hook']!r}" if kind.webhook["hook"] else ""
            raise ConversionFailed(f"{head} failed: no hook{named} converts {source} to {kind.api_version(version)}")
        from podless.hooks import CONVERT  # imported already if there are hooks
        from podless.hooks.peer import HookFailed

        question = {"version": kind.api_version(version), "objects": [*map(_make_sent, objects)]}
        body = await self.client.run_by_size(size, serializer.encode_json, question)
        try:
            answer = await self.hooks.call_hook(CONVERT, hook["name"], (body, b"", b""), hook["timeoutSeconds"])
        except HookFailed as error:
            log.error("hooks: %s: %s (%s)", hook["name"], error, error.details or "place unknown")
            raise ConversionFailed(f"{head} failed: {error}") from None
        if answer is None:
            raise ConversionFailed(f"{head} failed: the hook is gone")
        converted: list[Any] = (await self.client.read(answer, serializer.decode_json))["objects"]
        return await self._check_converted(head, kind, objects, converted, version, len(answer))

    def _choose_hook(self, kind: Kind, source: str, version: str, name: str) -> Object | None:
        """Return the hook for two versions, else the one for all versions. name: consider only this hook."""
        candidates = self.hooks.list_conversions(kind.resource, name) if self.hooks is not None else []
        fitting = [hook for hook in candidates if hook["from"] in ("", source) and hook["to"] in ("", version)]
        return max(fitting, key=lambda hook: (bool(hook["from"]), bool(hook["to"])), default=None)


def _decode_entries(kind: Kind, source: Version, batch: Sequence[Entry]) -> list[Object]:
    return [kind.strategy.read_stored(kind, source, entry.decode()) for entry in each(batch)]


def _make_forms(kind: Kind, version: Version, converted: Sequence[Object]) -> list[bytes]:
    """Prune converted objects, and return their JSON for the cache."""
    assert isinstance(kind.strategy, CustomStrategy)
    for obj in each(converted):
        kind.strategy.drop_unknown_fields(version, obj)
    return [view.encode_form(kind, obj) for obj in converted]


def _make_review(webhook: Mapping[str, Any], objects: Sequence[Object], api_version: str) -> tuple[Object, str]:
    """Return the ConversionReview and its version. Raises ConversionFailed."""
    versions = (name for name in webhook["conversionReviewVersions"] if f"{_GROUP}/{name}" in _REVIEWS)
    version = next(versions, "")
    if not version:
        raise ConversionFailed("no supported conversion review versions")
    request = {
        "uid": objectmeta.make_uid(),
        "desiredAPIVersion": api_version,
        "objects": [_make_sent(obj) for obj in objects],
    }
    head = {"kind": "ConversionReview", "apiVersion": f"{_GROUP}/{version}"}
    return {**head, "request": request, "response": _NO_RESPONSE}, version


def _find_schema(kind: Kind, version: str) -> Schema:
    assert isinstance(kind.strategy, CustomStrategy)
    return kind.strategy.get_schema(kind.by_version[version])


def _prune_object(kind: Kind, version: str, obj: Object) -> None:
    """Drop the fields and nulls that a version does not allow, if it has a schema."""
    if kind.custom:
        kind.strategy.drop_unknown_fields(kind.by_version[version], obj)


def _convert_copy(kind: Kind, version: Version, obj: Object) -> Object:
    """Return a copy in another version, for kinds without a webhook."""
    converted = kind.strategy.convert_object(kind, version, view.copy_object(obj))
    _prune_object(kind, version.name, converted)
    return converted


def _run_conversions(kind: Kind, objects: Sequence[Object], version: str) -> list[Any]:
    try:
        return [kind.strategy.convert_object(kind, kind.by_version[version], obj) for obj in each(objects)]
    except Internal as error:
        raise ConversionFailed(error.message) from None


def _describe_type(kind: Kind, api_version: str) -> str:
    return f"{api_version}, Kind={kind.kind}"


def _make_sent(obj: Object) -> Object:
    """Return an object as a webhook gets it: as stored, without a resourceVersion."""
    metadata = {name: value for name, value in obj.get("metadata", {}).items() if name != "resourceVersion"}
    return {**obj, "metadata": metadata} if "metadata" in obj else obj


def _read_review(answer: bytes, uid: str, version: str, scheme: GoScheme) -> list[Any]:
    """Return the converted objects of a review. Raises InvalidReview."""
    api_version, checked = f"{_GROUP}/{version}", version != "v1beta1"
    review = webhookreviews.decode_review(answer, _REVIEWS, api_version, scheme)
    if checked:
        webhookreviews.check_type(review, api_version, "ConversionReview")
    response = review.get("response")
    if response is None:
        raise InvalidReview("no response provided")
    if checked:
        webhookreviews.check_uid(response, uid)
    result = response.get("result") or {}
    if result.get("status") != "Success":
        message = result.get("message")
        raise InvalidReview(message or f"response.result.status was '{result.get('status') or ''}', not 'Success'")
    converted: list[Any] = response.get("convertedObjects") or []
    return converted


def _check_all(kind: Kind, before: Sequence[Object], after: Sequence[Any], version: str) -> list[Object]:
    return [_check_object(kind, *pair, version) for pair in zip(each(before), after, strict=True)]


def _check_object(kind: Kind, before: Object, after: Any, version: str) -> Object:
    """Return a converted object with the metadata of the sent one. Raises InvalidReview if they do not match."""
    if after is None:
        raise ConversionFailed("unexpected end of JSON input")
    if not isinstance(after, dict):
        raise ConversionFailed(gotypes.explain_unmarshal(after))
    expected, received = kind.api_version(version), _text_field(after, "apiVersion")
    if not _text_field(after, "kind") or received.count("/") > 1:  # a malformed apiVersion hides the kind
        raise ConversionFailed(f"Object 'Kind' is missing in '{serializer.encode_json(after).decode()}'")
    if received != expected:
        detail = f"(expected {expected}, received {received})"
        raise InvalidReview(f"invalid object at index 0: invalid groupVersion {detail}")
    if after["kind"] != before["kind"]:
        detail = f"(expected {before['kind']}, received {after['kind']})"
        raise InvalidReview(f"invalid object at index 0: invalid kind {detail}")
    metadata, present = after.get("metadata"), before.get("metadata", {})  # field managers merge parts without metadata
    named = metadata if isinstance(metadata, dict) else {}
    for field, label in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        old, new = present.get(field) or "", _text_field(named, field)
        if old != new:
            raise InvalidReview(f"invalid object: must have the same {label}: {old} != {new}")
    if "metadata" not in after:
        raise InvalidReview("invalid metadata: missing metadata in converted object")
    if not isinstance(metadata, dict):
        raise InvalidReview(f"invalid metadata: invalid metadata of type {gotext.name_type(metadata)} in input object")
    return {**after, "metadata": _restore_metadata(present, named)}


def _text_field(obj: Object, name: str) -> str:
    """Return a field that must be a string, "" if it is none."""
    value = obj.get(name)
    return value if isinstance(value, str) else ""


def _restore_metadata(before: Object, after: Object) -> Object:
    """Return the former metadata with the webhook's labels and annotations. Raises InvalidReview for other changes."""
    metadata = dict(before)
    for field in ("labels", "annotations"):
        converted = after.get(field)
        if converted is None:
            metadata.pop(field, None)
            continue
        if not isinstance(converted, dict):
            problem = f"metadata.{field} of type {gotext.name_type(converted)} in converted object"
            raise InvalidReview(f"invalid metadata: invalid {problem}")
        for key, value in converted.items():
            if not isinstance(value, str):
                problem = f"must be a string, but is {gotext.name_type(value)} in converted object"
                raise InvalidReview(f"invalid metadata: metadata.{field}[{key}] {problem}")
        # a real server's error has this path for annotations
        check, path = (
            (objectmeta.check_labels, "metadata.labels")
            if field == "labels"
            else (objectmeta.check_annotations, "metadata.annotation")
        )
        if converted != before.get(field) and (errors := check(converted, path)):
            raise InvalidReview(f"invalid metadata: {join_errors(errors)}")
        metadata.pop(field, None)
        if converted:
            metadata[field] = converted
    return metadata


# entries in other versions


def needs_webhook(kind: Kind, version: Version, entries: Sequence[Entry]) -> bool:
    """Return whether a webhook call is needed to show these entries in a version."""
    return kind.webhook is not None and any(_must_convert(kind, version, entry) for entry in entries)


def _must_convert(kind: Kind, version: Version, entry: Entry) -> bool:
    return view.known_body(kind, version, entry) is None and view.stored_version(kind, entry) != version.name


# conversions for code that cannot wait


ConversionResults = dict[tuple[bytes, str], "bytes | ConversionFailed"]


class Unconverted(Exception):
    """Code that cannot wait needs an object in another version. Await `fetch_converted` and call the code again."""

    def __init__(self, kind: Kind, obj: Object, version: str, results: ConversionResults) -> None:
        super().__init__(f"{obj.get('apiVersion')} to {version}")
        self._kind, self._obj, self._version, self._results = kind, obj, version, results

    async def fetch_converted(self, converter: Converter) -> int:
        """Ask the webhook, and keep the result or error for `find_converted`. Returns its size, 0 for an error."""
        answer: bytes | ConversionFailed
        try:
            (converted,) = await converter.ask_webhook(self._kind, [self._obj], self._version)
            if "rules" in (self._kind.webhook or ()):  # of a webhook, an unknown field does not fit the schema instead
                _prune_object(self._kind, self._version, converted)
            answer = serializer.encode_sorted(converted)
        except ConversionFailed as failed:
            answer = failed
        self._results[serializer.encode_sorted(self._obj), self._version] = answer
        return len(answer) if isinstance(answer, bytes) else 0


def find_converted(kind: Kind, results: ConversionResults, obj: Object, api_version: str) -> Object:
    """Return an object in another apiVersion. results: the fetched results.

    Raises Unconverted if it has not been fetched, and SchemaMisfit if the webhook failed.
    """
    if obj.keys() <= {"apiVersion", "kind"}:
        return {**obj, "apiVersion": api_version}  # without fields, all versions are equal
    version = api_version.rpartition("/")[2]
    outcome = results.get((serializer.encode_sorted(obj), version))
    if outcome is None:
        raise Unconverted(kind, obj, version, results)
    if isinstance(outcome, ConversionFailed):
        raise SchemaMisfit(outcome.message)
    converted: Object = serializer.decode_json(outcome)
    return converted
