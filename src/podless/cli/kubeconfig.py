"""podless kubeconfig: print a kubeconfig, of the administrator or of a user with a new client certificate."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import orjson

from podless.auth.kubeconfig import by_certificate, kubeconfig
from podless.http.tls import BadCertificate, Certificates


class Unusable(Exception):
    """There is nothing to make a kubeconfig of; the text is one clear line for a person."""


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "kubeconfig",
        help="print a kubeconfig, for the administrator or for a new user",
        description="Print a kubeconfig. With --user it holds a new client certificate, signed with the server's own "
        "key: the user and groups are known to the server as soon as it is used, and what they may do is up to RBAC.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path("podless-data"), help="the server's folder, as for serve"
    )
    parser.add_argument("--user", metavar="NAME", help="the user's name; without it, the administrator's is printed")
    parser.add_argument(
        "--group", metavar="NAME", dest="groups", action="append", default=[], help="a group of the user (repeatable)"
    )
    parser.add_argument("--days", type=_days, default=365, help="how long the certificate is good")
    parser.add_argument(
        "--server", metavar="URL", default="", help="where clients find the server, where not as in the last start"
    )
    parser.set_defaults(run=run)


def _days(text: str) -> int:
    days = int(text)
    if not 1 <= days <= 3650:
        raise argparse.ArgumentTypeError("a certificate is good for 1 to 3650 days")
    return days


def run(options: argparse.Namespace) -> int:
    """Print it. Returns 1, with one line on standard error, where it cannot be made."""
    try:
        text = make(options.data, options.user, options.groups, options.days, options.server)
    except (Unusable, BadCertificate) as error:
        print(f"podless: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"podless: {error.filename}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 1
    sys.stdout.write(text.decode())
    return 0


def make(data: Path, user: str | None, groups: list[str], days: int, server: str) -> bytes:
    """The kubeconfig. Raises Unusable, BadCertificate, OSError."""
    known = data / "kubeconfig"
    try:
        admin: dict[str, Any] = orjson.loads(known.read_bytes())
        url = server or str(admin["clusters"][0]["cluster"]["server"])
    except FileNotFoundError:
        raise Unusable(f"{known}: no server has been started on this folder") from None
    except (ValueError, LookupError, TypeError):
        raise Unusable(f"{known}: not a kubeconfig of podless; start the server once more") from None
    if user is None:
        admin["clusters"][0]["cluster"]["server"] = url
        return orjson.dumps(admin, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if not user:
        raise Unusable("a user has a name")
    if not url.startswith("https:"):
        raise Unusable(f"the server at {url} has no TLS, and so no client certificates")
    certificates = Certificates(data)
    try:
        made = certificates.client(user, groups, days)
    except ValueError as error:
        raise Unusable(f"no certificate can say that: {error}") from None
    return kubeconfig(url, by_certificate(*made), certificates.authority.read_bytes(), user)
