"""The store that a command opens directly: a folder's database, or an etcd cluster."""

from __future__ import annotations

import argparse

from podless.cli import options as declared
from podless.cluster import make_store
from podless.settings import ClusterSettings
from podless.store import Store
from podless.store.engines import option_sections

DATABASE = "podless.db"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the store."""
    for name, told in option_sections().items():
        declared.add_section(parser.add_argument_group(told.title, "as for podless serve"), told.of, f"{name}.")


def store_of_options(options: argparse.Namespace) -> Store:
    """Return the store of the options, not yet open. It does not compact on its own. Raises StartError."""
    given = {name: declared.read_section(options, told.of, f"{name}.") for name, told in option_sections().items()}
    return make_store(ClusterSettings(store=options.store, **given), options.data / DATABASE, compacting=False)
