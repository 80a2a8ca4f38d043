"""Static bearer tokens: the administrator's, and those of a file in kube-apiserver's format."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from podless.auth.user import AUTHENTICATED, User
from podless.runtime.files import describe_fault
from podless.runtime.option import StartError


class BadTokenFile(StartError):
    """The token file cannot be used. The text is one line for the user."""


class StaticTokens:
    """Bearer tokens and their users. It keeps digests, so that the time of a look-up says nothing about the tokens."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._users = {_digest_token(token): user for token, user in users.items()}

    def verify_token(self, token: str) -> User | None:
        """Return the user of a token, None for an unknown one."""
        return self._users.get(_digest_token(token))


def _digest_token(token: str) -> bytes:
    return hmac.digest(b"podless", token.encode("utf-8", "surrogateescape"), sha256)


def read_file(path: Path) -> dict[str, User]:
    """Read a CSV file with lines token,user,uid and optionally "group1,group2". Raises BadTokenFile."""
    import csv  # imported late: few servers have such a file

    users: dict[str, User] = {}
    try:
        text = path.read_text()
    except OSError as error:
        raise BadTokenFile(describe_fault(error, path)) from None
    except UnicodeDecodeError as error:
        raise BadTokenFile(f"{path}: {error}") from None
    for number, row in enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1):
        if not row or not "".join(row).strip() or row[0].startswith("#"):
            continue
        if len(row) < 3:
            raise BadTokenFile(f"{path}: line {number}: expected token,user,uid and optional groups")
        token, name, uid = (cell.strip() for cell in row[:3])
        if not token or not name:
            raise BadTokenFile(f"{path}: line {number}: token and user must not be empty")
        if token in users:
            raise BadTokenFile(f"{path}: line {number}: duplicate token")
        groups = [group.strip() for group in row[3].split(",")] if len(row) > 3 else []
        users[token] = User(name, uid, (*filter(None, groups), AUTHENTICATED))
    return users
