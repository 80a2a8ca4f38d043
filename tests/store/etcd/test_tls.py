"""etcd over TLS: whom a server trusts, who is let in, and certificates that change while it runs."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from podless.http.tls import Certificates
from podless.store import StoreError, StoreUnreachable
from podless.store.etcd import client
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore
from tests.store.contract import Follower, put
from tests.store.etcd.cluster import Member

pytestmark = pytest.mark.slow


def renew(folder: Path) -> None:
    """Make all files anew, those of another authority."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    certificates = Certificates(folder)
    certificates.create_missing(["127.0.0.1"])
    certificate, key = certificates.issue_client("podless", (), 1)
    (folder / "client.crt").write_bytes(certificate)
    (folder / "client.key").write_bytes(key)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    renew(tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def member(folder: Path) -> Iterator[Member]:
    """An etcd that wants client certificates."""
    more = ["--cert-file", f"{folder}/server.crt", "--key-file", f"{folder}/server.key"]
    member = Member(*more, "--client-cert-auth", "--trusted-ca-file", f"{folder}/ca.crt", scheme="https")
    member.start()
    try:
        member.ready()
        yield member
    finally:
        member.stop()
        member.folder.cleanup()


def made(member: Member, folder: Path, *, certificate: bool = True) -> EtcdStore:
    etcd = Etcd(servers=(member.url,), prefix="/tls", cafile=folder / "ca.crt")
    if certificate:
        etcd = replace(etcd, certfile=folder / "client.crt", keyfile=folder / "client.key")
    return EtcdStore(etcd)


async def test_a_certificate_lets_in_and_new_ones_are_taken_while_it_runs(member: Member, folder: Path) -> None:
    store = made(member, folder)
    await store.open()
    follower = Follower(store, "/g/", await store.read_revision())
    await put(store, "/g/r/a", b"1")
    member.stop()
    renew(folder)
    member.start()
    await asyncio.to_thread(member.ready)
    revision = await put(store, "/g/r/b", b"1")
    await asyncio.wait_for(follower.reach(revision), 20)
    assert [change.key for change in follower.changes] == ["/g/r/a", "/g/r/b"]
    await store.close()


async def test_files_that_are_no_good_leave_the_connection_that_there_is(member: Member, folder: Path) -> None:
    store = made(member, folder)
    await store.open()
    before = store._client._channel
    good = (folder / "client.crt").read_bytes()
    (folder / "client.crt").write_bytes(b"half of a cert")
    store._client.reload_certificates()
    await put(store, "/g/r/a", b"1")
    assert store._client._channel is before
    (folder / "client.crt").write_bytes(good)
    store._client.reload_certificates()
    await put(store, "/g/r/b", b"1")
    assert store._client._channel is not before
    await store.close()


@pytest.mark.parametrize("fault", ["no certificate", "another authority"])
async def test_who_is_not_trusted_is_said_so(
    member: Member, folder: Path, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_CALL_TIMEOUT", 0.5)
    renew(tmp_path / "others")
    store = made(member, folder if fault == "no certificate" else tmp_path / "others", certificate=False)
    with pytest.raises(StoreUnreachable):
        await asyncio.wait_for(store.open(), 20)
    await store.close()


async def test_files_that_are_not_there_are_named(folder: Path) -> None:
    etcd = Etcd(servers=("https://127.0.0.1:1",), cafile=folder / "no.crt")
    with pytest.raises(StoreError, match=r"no\.crt: no such file"):
        await EtcdStore(etcd).open()
