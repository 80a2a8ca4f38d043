"""What applying a set of manifests would really do, before anything is touched.

The module can be called: `podless.plan("config/")` returns a Plan. Nothing is written to the API that it starts from.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

from podless.check.sources import CannotCheck, find_sources
from podless.plan.manifests import read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.result import Action, By, Change, FieldChange, Plan
from podless.plan.run import make_plan
from podless.plan.sources import Dump, Nothing

__all__ = ["Action", "By", "CannotPlan", "Change", "FieldChange", "Plan", "PlanOptions", "plan_set"]


def plan_set(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    source: str | os.PathLike[str] = "",
    exclude: Sequence[str] = (),
    **options: Any,
) -> Plan:
    """Return what applying the manifests behind paths would do.

    paths: files, folders and patterns, or one of them. source: a backup, an export or a folder to start from (default:
    a new cluster). options: as PlanOptions has them. Can be called in a thread with a running event loop, which it
    blocks. Raises CannotPlan, StartError.
    """
    chosen = PlanOptions(**options)
    given = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
    try:
        items, faults = read_set(find_sources([str(path) for path in given], exclude))
    except CannotCheck as error:
        raise CannotPlan(str(error)) from None
    start = Dump(str(source)) if source else Nothing()

    def run() -> Plan:
        return asyncio.run(make_plan(items, faults, start, chosen))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


class _Module(ModuleType):
    """This module, which can be called."""

    def __call__(self, *args: Any, **options: Any) -> Plan:
        return plan_set(*args, **options)


sys.modules[__name__].__class__ = _Module
