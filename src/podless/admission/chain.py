"""The chain of admission: the ordered list of plugins, and functions that run each phase of it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from podless.admission.attributes import AdmissionAttributes
from podless.admission.plugin import ConfigurationSource, Plugin
from podless.kinds.kind import Kind

_NONE: tuple[Plugin, ...] = ()
_KNOWN_MOST = 1000  # entries of the cache of allocating plugins
_CHANGED = attrgetter("changed")


class AdmissionChain:
    """All plugins, in order. `plugins` can be changed at any time.

    `find_mutating`, `find_allocating` and `find_validating` return the plugins that apply to a write. The caller
    prepares nothing for a write without plugins.
    """

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = list(plugins)
        self._sorted: list[Plugin] = []
        self._sources: list[ConfigurationSource] = []
        self._changes: tuple[int, ...] = ()  # of the sources
        # key: whether the kind is a custom one
        self._mutating: dict[bool, list[Plugin]] = {}
        self._allocating: dict[bool, list[Plugin]] = {}
        self._validating: dict[bool, list[Plugin]] = {}
        # key: operation, prefix of the kind, subresource
        self._allocated: dict[tuple[str, str, str], list[Plugin]] = {}

    async def start(self) -> None:
        """Start all plugins."""
        for plugin in self.plugins:
            await plugin.start()

    def find_mutating(self, operation: str, kind: Kind, subresource: str, namespace: str) -> Sequence[Plugin]:
        """Return the plugins that may mutate such writes. namespace: from the path, "" for none."""
        if self._sorted != self.plugins or self._changes != tuple(map(_CHANGED, self._sources)):
            self._sort_plugins()
        found = _NONE
        for plugin in self._mutating[kind.custom]:
            if plugin.mutates(operation, kind, subresource, namespace):
                found = (*found, plugin)
        return found

    def find_allocating(self, operation: str, kind: Kind, subresource: str) -> list[Plugin]:
        """Return the plugins whose `allocate` runs for such writes, right before the object is validated."""
        if self._sorted != self.plugins or self._changes != tuple(map(_CHANGED, self._sources)):
            self._sort_plugins()
        asked = self._allocating[kind.custom]
        if not asked:  # the case for custom kinds, which then need no cache
            return asked
        about = operation, kind.prefix, subresource
        known = self._allocated.get(about)
        if known is None:
            if len(self._allocated) >= _KNOWN_MOST:
                self._allocated.clear()
            known = [plugin for plugin in asked if plugin.allocates(operation, kind, subresource)]
            self._allocated[about] = known
        return known

    def find_validating(self, operation: str, kind: Kind, subresource: str) -> Sequence[Plugin]:
        """Return the plugins that validate such writes, after the validation of the kind itself."""
        if self._sorted != self.plugins or self._changes != tuple(map(_CHANGED, self._sources)):
            self._sort_plugins()
        found = _NONE
        for plugin in self._validating[kind.custom]:
            if plugin.validates(operation, kind, subresource):
                found = (*found, plugin)
        return found

    def _sort_plugins(self) -> None:
        """Group the active plugins by the phases that they implement, so that each phase calls only its own plugins."""
        plugins = list(self.plugins)
        sources = [source for plugin in plugins for source in plugin.sources]
        changes = tuple(map(_CHANGED, sources))
        active = [plugin for plugin in plugins if plugin.is_active]  # can be suspended
        self._sorted, self._sources, self._changes = plugins, sources, changes
        self._allocated.clear()
        for custom in (False, True):
            asked = [plugin for plugin in active if not (custom and plugin.builtin)]
            self._mutating[custom] = [plugin for plugin in asked if type(plugin).mutates is not Plugin.mutates]
            self._allocating[custom] = [plugin for plugin in asked if type(plugin).allocates is not Plugin.allocates]
            self._validating[custom] = [plugin for plugin in asked if type(plugin).validates is not Plugin.validates]


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
