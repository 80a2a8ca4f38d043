"""The store that a command works on by itself: a folder's database, or an etcd cluster."""

from __future__ import annotations

import argparse
from pathlib import Path

from podless.cli import options as declared
from podless.cluster import make_store
from podless.runtime.option import StartError
from podless.settings import STORES, ClusterSettings
from podless.store import Store
from podless.store.etcd.settings import Etcd

DATABASE = "podless.db"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which one."""
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path("podless-data"), help="data folder of the server"
    )
    parser.add_argument(
        "--store", choices=STORES, default=STORES[0], help="where the data is: the database in --data, or etcd"
    )
    declared.add_section(parser.add_argument_group("etcd", "as for podless serve"), Etcd, "etcd.")


def store_of_options(options: argparse.Namespace) -> Store:
    """Return the store that options say, not opened yet; it compacts nothing by itself. Raises StartError."""
    etcd: Etcd = declared.read_section(options, Etcd, "etcd.")
    if (options.store == "etcd") != bool(etcd.servers):
        raise StartError("--store etcd and --etcd-servers require each other")
    if not etcd.servers:
        return make_store(ClusterSettings(store=options.store), options.data / DATABASE, compacting=False)
    return make_store(ClusterSettings(store="etcd", etcd=etcd), None, compacting=False)
