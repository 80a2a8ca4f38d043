"""The store that a command opens directly: a folder's database, or an etcd cluster."""

from __future__ import annotations

import argparse

from podless.cli import options as declared
from podless.cluster import make_store
from podless.settings import ClusterSettings
from podless.store import Store
from podless.store.engines import DATABASE, option_sections


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the store."""
    for name, section in option_sections().items():
        declared.add_section(parser.add_argument_group(section.title, "as for podless serve"), section.of, f"{name}.")


def store_of_options(args: argparse.Namespace) -> Store:
    """Return the store of the options, not yet open. It does not compact on its own. Raises StartError."""
    given_sections = {
        name: declared.read_section(args, item.of, f"{name}.") for name, item in option_sections().items()
    }
    return make_store(ClusterSettings(store=args.store, **given_sections), args.data / DATABASE, compacting=False)
