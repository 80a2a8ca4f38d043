"""Access of a command to any Kubernetes API server: by a kubeconfig, or by an URL and a token."""

from __future__ import annotations

import argparse
import ssl
from pathlib import Path

from podless.remote import kubeconfig as configs
from podless.remote.kubeconfig import BadKubeconfig, ClusterAccess, choose_proxy

DATA = Path("podless-data")  # the data folder by default


def choose_kubeconfig(data: Path, path: Path | None) -> Path:
    """Return the kubeconfig of a server: the given one, else that of its data folder, else the one that kubectl uses.

    Raises BadKubeconfig if there is none.
    """
    own_kubeconfig = data / "kubeconfig"
    if path is not None or own_kubeconfig.exists():
        return path or own_kubeconfig
    if data != DATA:  # named by the user: another server would be a surprise
        raise BadKubeconfig(f"{data}: no server was started on this folder")
    kubeconfig = configs.kubeconfig_paths()[0]
    if not kubeconfig.exists():
        raise BadKubeconfig(f"neither {data} nor {kubeconfig} exists: name the server with --data or --kubeconfig")
    return kubeconfig


def read_access(args: argparse.Namespace) -> ClusterAccess:
    """Return the server's address and credentials. Raises BadKubeconfig."""
    if not args.server:
        if args.token or args.certificate_authority or args.insecure_skip_tls_verify:
            raise BadKubeconfig("--token, --certificate-authority and --insecure-skip-tls-verify require --server")
        return configs.read_kubeconfig(args.kubeconfig or configs.find_kubeconfig(), args.context)
    if args.kubeconfig or args.context:
        raise BadKubeconfig("--server excludes --kubeconfig and --context")
    if not args.server.startswith(("https://", "http://")):
        raise BadKubeconfig("give the server as https://HOST:PORT")
    url, secure = args.server.rstrip("/"), None
    if url.startswith("https:"):
        try:
            secure = ssl.create_default_context(cafile=args.certificate_authority)
        except (OSError, ValueError) as error:
            raise BadKubeconfig(f"{args.certificate_authority}: {error}") from None
        secure.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if args.insecure_skip_tls_verify:
            secure.check_hostname, secure.verify_mode = False, ssl.CERT_NONE
    try:
        return ClusterAccess(url, args.token, secure, choose_proxy(url))
    except ValueError as error:
        raise BadKubeconfig(str(error)) from None
