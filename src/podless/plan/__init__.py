"""Predicts what applying a set of manifests would do.

The module can be called: `podless.plan("config/")` returns a Plan. Nothing is written to the API that it starts from.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from pathlib import Path
from typing import Any, Protocol

from podless.check.sources import CannotCheck, find_sources
from podless.plan.baseline import Dump, EmptySource, PlanSource
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.result import Action, By, Change, FieldChange, Plan
from podless.plan.run import make_plan
from podless.remote import kubeconfig as configs
from podless.runtime.arguments import reject_unknown_names
from podless.runtime.lazy import make_callable

__all__ = ["Action", "By", "CannotPlan", "Change", "FieldChange", "Plan", "PlanOptions", "plan_set"]


class Reachable(Protocol):
    """A server with a kubeconfig, such as podless.Server."""

    @property
    def kubeconfig(self) -> Path:
        """Return the path of the kubeconfig."""


def plan_set(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    source: str | os.PathLike[str] = "",
    server: Reachable | None = None,
    kubeconfig: str | os.PathLike[str] = "",
    context: str = "",
    exclude: Sequence[str] = (),
    **options: Any,
) -> Plan:
    """Return what applying the manifests behind paths would do.

    paths: files, folders and patterns, or one of them. It starts from one of: source (a backup, an export or a folder
    of applied manifests); server (a `podless.Server` that runs in a thread); kubeconfig with context (any running API);
    else a new cluster. options: fields of PlanOptions. Blocks until the plan is complete, even beside a running event
    loop. Raises CannotPlan, StartError, BadKubeconfig.
    """
    reject_unknown_names(options, signature(PlanOptions).parameters, "plan has no argument")
    chosen = PlanOptions(**options)
    path_list = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
    try:
        items, faults = read_set(find_sources([str(path) for path in path_list], exclude))
    except CannotCheck as error:
        raise CannotPlan(str(error)) from None
    start = _choose_source(str(source), server, str(kubeconfig), context)

    def run() -> Plan:
        return asyncio.run(make_plan(items, faults, start, chosen))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def _choose_source(source: str, server: Reachable | None, kubeconfig: str, context: str) -> PlanSource:
    """Return the starting point of a plan. Raises CannotPlan, BadKubeconfig."""
    if sum(map(bool, (source, server is not None, kubeconfig or context))) > 1:
        raise CannotPlan("give one of source, server, and kubeconfig with context")
    if source:
        return Dump(source)
    if server is None and not kubeconfig and not context:
        return EmptySource()
    path = server.kubeconfig if server is not None else Path(kubeconfig) if kubeconfig else None
    return RunningAPI(configs.read_kubeconfig(path or configs.find_kubeconfig(), context))


make_callable(__name__, plan_set)
