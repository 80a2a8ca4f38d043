"""Updates the registry of one server for the stored definitions. Every server does so for itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from podless.apis.extensions.thirdparty.compile import ThirdPartyStrategy
from podless.cache.entry import Entry
from podless.kinds.compile import compile_kind, has_condition
from podless.kinds.kind import Kind, is_same_kind
from podless.runtime.jsonobject import Object
from podless.store import keys
from podless.verbs.call import API


class DefinitionServing:
    """Brings definitions into force, and takes them down.

    inherit: moves the objects of an older generation of definitions to a kind that is about to be served. It returns
    the first revision from which the kind can be watched, 0 if there is nothing.
    """

    def __init__(self, api: API, inherit: Callable[[Kind], Awaitable[int]]) -> None:
        self._api = api
        self._inherit = inherit
        self._inherited: dict[str, int] = {}
        self._converts_since: dict[str, int] = {}  # by key, the revision at which its hooks were reloaded

    def _has_conversion_hooks(self, key: str) -> bool:
        """Return whether hooks convert the objects of a definition."""
        hooks = self._api.converter.hooks
        return hooks is not None and bool(hooks.list_conversions(keys.name_of(key)))

    def convert_anew(self, key: str) -> bool:
        """Drop the results of conversion hooks after they were reloaded. Returns False if there are none.

        Call `serve_definition` afterwards.
        """
        kind = self.find_served(key)
        if kind is None:
            return False
        converts = self._has_conversion_hooks(key) or "hook" in (kind.webhook or ())
        if converts:
            self._converts_since[key] = self._api.cache.revision
        return converts or bool(kind.more_subresources or self._subresource_hooks(key))

    def _subresource_hooks(self, key: str) -> Sequence[Object]:
        """Return the hooks for subresources of a definition."""
        hooks = self._api.converter.hooks
        return hooks.list_subresources(keys.name_of(key)) if hooks is not None else ()

    def stop_serving(self, key: str) -> None:
        """Remove the endpoint of a deleted definition."""
        self._inherited.pop(key, None)
        kind = self.find_served(key)
        if kind is None or not isinstance(kind.strategy, ThirdPartyStrategy):
            plural, _, group = keys.name_of(key).partition(".")
            self._api.registry.remove_kind(group, plural)
            if kind is not None:
                self._api.cache.drop_collection(kind.prefix)

    def find_served(self, key: str) -> Kind | None:
        """Return the kind that is currently served under the names of a definition."""
        plural, _, group = keys.name_of(key).partition(".")
        return self._api.registry.get(group, plural)

    async def serve_definition(self, definition: Object, entry: Entry) -> None:
        """Bring a stored definition into force. definition: the entry, decoded."""
        created = self._inherited.get(entry.key, entry.created)
        changed = max(entry.revision, self._converts_since.get(entry.key, 0))
        compiled = partial(
            compile_kind,
            definition,
            entry.body,
            changed=changed,
            hooked=self._has_conversion_hooks(entry.key),
            answering=self._subresource_hooks(entry.key),
        )
        kind = compiled(created=created)
        served = self._api.registry.get(kind.group, kind.plural)
        if has_condition(definition, "Established"):
            if served is None or served.uid != kind.uid:
                since = await self._inherit(kind)
                if since:
                    self._inherited[entry.key] = since
                    kind = compiled(created=since)
            since = self._converts_since.get(entry.key, 0)
            if (
                served is None
                or not is_same_kind(served, kind)
                or _kind_hooks(served) != _kind_hooks(kind)
                or since > served.changed
            ):
                # skipped for changes of labels and conditions, which do not affect its objects
                self._api.registry.put_kind(kind)
        elif served is None or served.uid == kind.uid:
            self._api.registry.add_waiting(kind)


def _kind_hooks(kind: Kind) -> tuple[object, ...]:
    """Return what converts the objects instead of a webhook, and the hooks for subresources.

    The converter is a hook ("" for any) or declared rules.
    """
    webhook = kind.webhook or {}
    return (
        webhook.get("hook"),
        webhook.get("rules"),
        [(subresource.name, subresource.hooks) for subresource in kind.more_subresources],
    )
