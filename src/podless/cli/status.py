"""podless status: show the state of a running server."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any

from podless.cli.access import choose_kubeconfig
from podless.remote import kubeconfig as configs
from podless.remote.cluster import RemoteCluster
from podless.runtime import clock

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def run(args: argparse.Namespace) -> int:
    """Show the status. Returns 1, with a line on standard error, if the server does not answer."""
    status = asyncio.run(_fetch_status(configs.read_kubeconfig(choose_kubeconfig(args.data, args.kubeconfig))))
    print(json.dumps(status, indent=2) if args.output == "json" else _format_status(status))
    return 0


async def _fetch_status(access: configs.ClusterAccess) -> dict[str, Any]:
    async with RemoteCluster(access, "podless-status") as cluster:
        return await cluster.send("GET", "/podless/status")


def _format_status(status: dict[str, Any]) -> str:
    lines = [
        f"version    {status['version']}, up for {_format_duration(clock.time() - status['started'])}",
        f"engine     {status['engine']}" + (f", {_format_size(status['size'])}" if status.get("size") else ""),
        f"revision   {status['revision']}",
        f"history    from {status['compacted']} on"
        + (f", {_format_size(status['history'])}" if "history" in status else "")
        + (f", {_format_duration(clock.time() - status['oldest'])}" if status.get("oldest") else ""),
        f"leader     {status['leader'] or 'none'}",
        "",
    ]
    kinds = status["kinds"]
    width = max(map(len, kinds), default=0)
    lines += [f"{'kind':{width}}  objects  watchers"]
    lines += [f"{name:{width}}  {kind['objects']:7}  {kind['watchers']:8}" for name, kind in kinds.items()]
    return "\n".join(lines)


def _format_size(count: float) -> str:
    for unit in _UNITS:
        if count < 1024 or unit == _UNITS[-1]:
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def _format_duration(seconds: float) -> str:
    rounded = max(int(seconds), 0)
    hours, minutes = rounded // 3600, rounded // 60 % 60
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rounded % 60:02}s"
