"""The chain of admission: the ordered list of plugins, and functions that run each phase of it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from podless.admission.attributes import AdmissionAttributes
from podless.admission.plugin import ConfigurationSource, Plugin
from podless.kinds.kind import Kind

# the plugins that mutate, allocate and validate
WritePlugins = tuple[Sequence[Plugin], Sequence[Plugin], Sequence[Plugin]]

_MAX_KNOWN = 1000  # entries of the cache of allocating plugins
_CHANGED = attrgetter("changed")


class AdmissionChain:
    """All plugins, in order. `plugins` can be changed at any time."""

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = list(plugins)
        self._sorted: list[Plugin] = []
        self._sources: list[ConfigurationSource] = []
        self._changes: tuple[int, ...] = ()  # of the sources
        # plugins of each phase; key: whether the kind is a custom one
        self._phases: dict[bool, WritePlugins] = {}
        # key: operation, prefix of the kind, subresource
        self._allocating: dict[tuple[str, str, str], list[Plugin]] = {}

    async def start(self) -> None:
        """Start all plugins."""
        for plugin in self.plugins:
            await plugin.start()

    def find_plugins(self, operation: str, kind: Kind, subresource: str, namespace: str) -> WritePlugins:
        """Return the plugins that apply to such writes. The caller prepares nothing for a phase without plugins.

        namespace: from the path, "" for none.
        """
        if self._sorted != self.plugins or self._changes != tuple(map(_CHANGED, self._sources)):
            self._sort_plugins()
        mutating, allocating, validating = self._phases[kind.custom]
        if mutating:
            mutating = [plugin for plugin in mutating if plugin.mutates(operation, kind, subresource, namespace)]
        if allocating:
            allocating = self._find_allocating(operation, kind, subresource, allocating)
        if validating:
            validating = [plugin for plugin in validating if plugin.validates(operation, kind, subresource)]
        return mutating, allocating, validating

    def _find_allocating(self, operation: str, kind: Kind, subresource: str, plugins: Sequence[Plugin]) -> list[Plugin]:
        key = operation, kind.prefix, subresource
        chosen = self._allocating.get(key)
        if chosen is None:
            if len(self._allocating) >= _MAX_KNOWN:
                self._allocating.clear()
            chosen = [plugin for plugin in plugins if plugin.allocates(operation, kind, subresource)]
            self._allocating[key] = chosen
        return chosen

    def _sort_plugins(self) -> None:
        """Group the active plugins by the phases that they implement, so that each phase calls only its own plugins."""
        plugins = list(self.plugins)
        sources = [source for plugin in plugins for source in plugin.sources]
        changes = tuple(map(_CHANGED, sources))
        active = [plugin for plugin in plugins if plugin.is_active]  # can be suspended
        self._sorted, self._sources, self._changes = plugins, sources, changes
        self._allocating.clear()
        for custom in (False, True):
            applicable = [plugin for plugin in active if plugin.custom or not custom]
            self._phases[custom] = (
                [plugin for plugin in applicable if type(plugin).mutates is not Plugin.mutates],
                [plugin for plugin in applicable if type(plugin).allocates is not Plugin.allocates],
                [plugin for plugin in applicable if type(plugin).validates is not Plugin.validates],
            )


async def run_mutating(plugins: Sequence[Plugin], attr: AdmissionAttributes) -> None:
    """Run the `mutate` of all plugins, and a second time if one of them requests it.

    Raises the first plugin's APIError.
    """
    for plugin in plugins:
        await plugin.mutate(attr)
    if attr.reinvoke:
        attr.run_again = True
        for plugin in plugins:
            await plugin.mutate(attr)


async def run_allocating(plugins: Sequence[Plugin], attr: AdmissionAttributes) -> None:
    """Run all plugins' `allocate`. Raises the first plugin's APIError."""
    for plugin in plugins:
        await plugin.allocate(attr)


async def run_validating(plugins: Sequence[Plugin], attr: AdmissionAttributes) -> None:
    """Run all plugins' `validate`. Raises the first plugin's APIError."""
    for plugin in plugins:
        await plugin.validate(attr)
