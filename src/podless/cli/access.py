"""Access of a command to any Kubernetes API server: by a kubeconfig, or by an URL and a token."""

from __future__ import annotations

import argparse
import ssl
from pathlib import Path

from podless.remote import kubeconfig as configs
from podless.remote.kubeconfig import BadKubeconfig, ClusterAccess
from podless.remote.proxies import choose_proxy

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


def read_access(options: argparse.Namespace) -> ClusterAccess:
    """Return the server's address and credentials. Raises BadKubeconfig."""
    if not options.server:
        if options.token or options.certificate_authority or options.insecure_skip_tls_verify:
            raise BadKubeconfig("--token, --certificate-authority and --insecure-skip-tls-verify require --server")
        return configs.read_kubeconfig(options.kubeconfig or configs.find_kubeconfig(), options.context)
    if options.kubeconfig or options.context:
        raise BadKubeconfig("--server excludes --kubeconfig and --context")
    if not options.server.startswith(("https://", "http://")):
        raise BadKubeconfig("give the server as https://HOST:PORT")
    url, secure = options.server.rstrip("/"), None
    if url.startswith("https:"):
        try:
            secure = ssl.create_default_context(cafile=options.certificate_authority)
        except (OSError, ValueError) as error:
            raise BadKubeconfig(f"{options.certificate_authority}: {error}") from None
        secure.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if options.insecure_skip_tls_verify:
            secure.check_hostname, secure.verify_mode = False, ssl.CERT_NONE
    try:
        return ClusterAccess(url, options.token, secure, choose_proxy(url))
    except ValueError as error:
        raise BadKubeconfig(str(error)) from None
