"""Options of `podless serve` about who may come in and who may do what."""

from __future__ import annotations

import argparse
from pathlib import Path

from podless.auth.access import MODES, Access


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("users and rights")
    group.add_argument(
        "--token-auth-file", metavar="FILE", type=Path, help='CSV file of tokens: token,user,uid,"group1,group2"'
    )
    group.add_argument(
        "--client-ca-file",
        metavar="FILE",
        type=Path,
        help="PEM file of authorities whose client certificates are good, beside the server's own",
    )
    group.add_argument(
        "--anonymous-auth",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="requests without credentials are of the user system:anonymous",
    )
    group.add_argument(
        "--authorization-mode", choices=MODES, default=MODES[0], help="AlwaysAllow: everybody known may do everything"
    )


def read(options: argparse.Namespace) -> Access:
    """What the options say."""
    return Access(options.authorization_mode, options.anonymous_auth, options.client_ca_file)
