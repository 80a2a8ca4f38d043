"""Options of `podless serve` about who may come in and who may do what."""

from __future__ import annotations

import argparse
from pathlib import Path

from podless.auth.access import ALGORITHMS, MODES, OIDC, Access


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

    oidc = parser.add_argument_group("OpenID Connect", "tokens of an identity provider, as for kube-apiserver")
    oidc.add_argument("--oidc-issuer-url", metavar="URL", default="", help="the provider; its tokens name it")
    oidc.add_argument("--oidc-client-id", metavar="ID", default="", help="whom its tokens are for")
    oidc.add_argument("--oidc-username-claim", metavar="CLAIM", default="sub", help="the claim with the user's name")
    oidc.add_argument(
        "--oidc-username-prefix",
        metavar="TEXT",
        help='stands before the name; "-" for nothing; by default the issuer and #, but nothing for the claim email',
    )
    oidc.add_argument("--oidc-groups-claim", metavar="CLAIM", default="", help="the claim with the user's groups")
    oidc.add_argument("--oidc-groups-prefix", metavar="TEXT", default="", help="stands before each group")
    oidc.add_argument("--oidc-ca-file", metavar="FILE", type=Path, help="authorities of the provider's certificate")
    oidc.add_argument(
        "--oidc-required-claim",
        metavar="CLAIM=VALUE",
        dest="oidc_required",
        type=_claim,
        action="append",
        default=[],
        help="a claim that tokens must have (repeatable)",
    )
    oidc.add_argument(
        "--oidc-signing-algs",
        metavar="NAME,...",
        type=lambda text: tuple(text.split(",")),
        default=ALGORITHMS[:1],
        help="signatures that are good",
    )


def _claim(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError("a required claim is CLAIM=VALUE")
    return name, value


def read(options: argparse.Namespace) -> Access:
    """What the options say. Raises BadAccess for what cannot work."""
    oidc = None
    if options.oidc_issuer_url or options.oidc_client_id:
        oidc = OIDC(
            issuer=options.oidc_issuer_url,
            client_id=options.oidc_client_id,
            username_claim=options.oidc_username_claim,
            username_prefix=options.oidc_username_prefix,
            groups_claim=options.oidc_groups_claim,
            groups_prefix=options.oidc_groups_prefix,
            ca_file=options.oidc_ca_file,
            required=dict(options.oidc_required),
            algorithms=options.oidc_signing_algs,
        )
    return Access(options.authorization_mode, options.anonymous_auth, options.client_ca_file, oidc)
