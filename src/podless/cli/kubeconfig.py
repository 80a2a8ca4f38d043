"""podless kubeconfig: print a kubeconfig for the administrator, or for a user with a new client certificate."""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
from typing import Any
from urllib.parse import quote

import orjson

from podless.auth.kubeconfig import by_certificate, by_token, make_kubeconfig
from podless.http.tls import Certificates
from podless.remote import kubeconfig as configs
from podless.remote.cluster import RemoteCluster
from podless.runtime.option import ReportedError


class KubeconfigError(ReportedError):
    """The kubeconfig cannot be made. The text is one line."""


def parse_days(text: str) -> int:
    """Parse the validity of a certificate. Raises ValueError."""
    days = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 1 <= days <= 3650:
        raise ValueError("expected a number of days from 1 to 3650")
    return days


def run(args: argparse.Namespace) -> int:
    """Print the kubeconfig. Returns 1, with one line on standard error, if that fails."""
    sys.stdout.write(build_kubeconfig(args).decode())
    return 0


def build_kubeconfig(args: argparse.Namespace) -> bytes:
    """Return the kubeconfig. Raises KubeconfigError, BadCertificate, BadKubeconfig, RemoteError, OSError."""
    existing = args.data / "kubeconfig"
    try:
        admin: dict[str, Any] = orjson.loads(existing.read_bytes())
        cluster = admin["clusters"][0]["cluster"]
        url = args.server or str(cluster["server"])
        authority = base64.b64decode(cluster.get("certificate-authority-data") or "") or None
    except FileNotFoundError:
        raise KubeconfigError(f"{existing}: no server was started on this folder") from None
    except (ValueError, LookupError, TypeError):
        raise KubeconfigError(f"{existing}: not a kubeconfig of podless; start the server again") from None
    if args.service_account:
        return _build_for_account(args, url, authority)
    if args.user is None:
        return make_kubeconfig(url, admin["users"][0]["user"], authority, namespace=args.namespace)
    if not args.user:
        raise KubeconfigError("the user name is empty")
    if not url.startswith("https:"):
        raise KubeconfigError(f"the server at {url} serves plain HTTP, without client certificates")
    try:
        issued = Certificates(args.data).issue_client(args.user, args.groups, args.days)
    except ValueError as error:
        raise KubeconfigError(f"a certificate cannot contain this: {error}") from None
    return make_kubeconfig(url, by_certificate(*issued), authority, args.user, args.namespace)


def _build_for_account(args: argparse.Namespace, url: str, authority: bytes | None) -> bytes:
    """Return a kubeconfig with a service account token from the server."""
    if args.user is not None or args.groups:
        raise KubeconfigError("a service account has its own name and groups: leave --user and --group out")
    before, slash, name = args.service_account.rpartition("/")
    namespace = before if slash else args.namespace
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/serviceaccounts/{quote(name, safe='')}/token"
    token_request: dict[str, Any] = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    token_request |= {"spec": {"expirationSeconds": args.days * 86400}}

    async def request_token() -> str:
        access = configs.read_kubeconfig(args.data / "kubeconfig")
        async with RemoteCluster(access, "podless-kubeconfig") as cluster:
            return str((await cluster.send("POST", path, token_request))["status"]["token"])

    token = asyncio.run(request_token())
    return make_kubeconfig(url, by_token(token), authority, f"{namespace}/{name}", args.namespace)
