"""Fills Secrets of type kubernetes.io/service-account-token with the token of their account, and deletes them with it.

Source: "Service account token Secrets" of the Kubernetes documentation.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import partial

from podless.apis.core.group import SECRETS, SERVICE_ACCOUNTS
from podless.apis.core.secrets import ACCOUNT_NAME, ACCOUNT_TOKEN, ACCOUNT_UID
from podless.auth.accounts import BoundObject
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.controllers.controller import Controller
from podless.controllers.write import amend_object, delete_all
from podless.runtime.jsonobject import Object
from podless.verbs import fieldmanager
from podless.verbs.call import API

_MANAGER = "kube-controller-manager"  # the manager of these fields in a real cluster
_MARK = ACCOUNT_TOKEN.encode()


class AccountTokens(Controller):
    """Fills in the token, the namespace and the CA certificate (PEM, "" for none). Keys are those of Secrets.

    collect: delete a Secret if its account does not exist.
    """

    name = "serviceaccount-token-controller"
    awaited = (SECRETS, SERVICE_ACCOUNTS)  # so that tokens are valid or gone when a write is answered

    def __init__(self, api: API, authority: str, *, collect: bool) -> None:
        super().__init__(api)
        self._authority = _decode_text(authority)
        self._collect = collect
        self._secrets: WatchCache = api.collection(SECRETS)
        self._accounts: WatchCache = api.collection(SERVICE_ACCOUNTS)
        self._of: dict[str, set[str]] = {}  # keys of Secrets by the key of their account

    async def begin(self) -> None:
        await self.follow_kind(SECRETS, self._handle_secrets)
        await self.watch_kind(SERVICE_ACCOUNTS, self._handle_accounts)

    def _handle_secrets(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if event.before is not None and (account := _account_key(event.before)) is not None:
                secrets = self._of.get(account, set())
                secrets.discard(event.key)
                if not secrets:
                    self._of.pop(account, None)
            if event.after is not None and (account := _account_key(event.after)) is not None:
                self._of.setdefault(account, set()).add(event.key)
                self.queue.add(event.key)

    def _handle_accounts(self, events: Sequence[CacheEvent]) -> None:
        """Reconcile the Secrets of accounts that were created or deleted."""
        for event in events:
            if event.before is None or event.after is None:
                for key in self._of.get(event.key, ()):
                    self.queue.add(key)

    def find_due_keys(self, key: str) -> Iterable[str]:
        return tuple(self._of.get(key, ())) if key.startswith(SERVICE_ACCOUNTS.prefix) else (key,)

    async def reconcile(self, key: str) -> None:
        entry = self._secrets.get(key)
        if entry is None or entry.terminating or (account_key := _account_key(entry)) is None:
            return
        account = self._accounts.get(account_key)
        uid = account.decode()["metadata"].get("uid", "") if account is not None else ""
        uid_in_secret = entry.decode()["metadata"]["annotations"].get(ACCOUNT_UID)
        if account is not None and uid_in_secret in (None, "", uid):
            fill = partial(self._fill_secret, BoundObject(account.name, uid))
            await amend_object(self.api, SECRETS, key, fill, hooks=False)
        elif self._collect:
            await delete_all(self.api, SECRETS, [entry])

    def _fill_secret(self, account: BoundObject, obj: Object) -> Object:
        """Return the Secret with its token, annotations and other data."""
        metadata, data = obj["metadata"], obj.get("data") or {}
        filled = dict(data)
        if self._authority:
            filled["ca.crt"] = self._authority
        filled["namespace"] = data.get("namespace") or _decode_text(metadata["namespace"])
        accounts = self.api.authenticator.accounts
        if not data.get("token") and accounts is not None:
            filled["token"] = _decode_text(accounts.find_secret_token(metadata["namespace"], account, metadata["name"]))
        if filled == data:
            return obj
        notes = {**(metadata.get("annotations") or {}), ACCOUNT_NAME: account.name, ACCOUNT_UID: account.uid}
        changed = {**obj, "data": filled, "metadata": {**metadata, "annotations": notes}}
        # stored fields are in the order of the struct
        changed = SECRETS.strategy.decode(SECRETS, SECRETS.versions[0], changed, [])
        fieldmanager.set_fields_of_server_write(SECRETS, obj, changed, _MANAGER)
        return changed


def _account_key(entry: Entry) -> str | None:
    """Return the key of the Secret's account; None for Secrets of other types."""
    if _MARK not in entry.body:
        return None
    obj = entry.decode()
    name = (obj["metadata"].get("annotations") or {}).get(ACCOUNT_NAME)
    return SERVICE_ACCOUNTS.key(entry.namespace, name) if obj.get("type") == ACCOUNT_TOKEN and name else None


def _decode_text(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
