"""Record what a server answers to the requests of scenarios and to the commands of sessions with kubectl."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conformance import recorded, sessions
from tests.conformance.recorded import Recording
from tests.conformance.replay import record, replay
from tests.conformance.wire import Client, trust

_PARTS = {"steps", "commands"}  # of a scenario, and of a session with kubectl


class UnusableError(Exception):
    """The server, a place or a file cannot be used as asked."""


@dataclass(frozen=True)
class Remote:
    """A server that somebody runs. authority: a file with its CA; insecure: do not verify its certificate."""

    url: str
    token: str = ""
    authority: Path | None = None
    insecure: bool = False

    def client(self) -> Client:
        """Return a client of it. Raises UnusableError where the server does not answer."""
        try:
            client = Client(self.url, self.token, trust(self.authority, insecure=self.insecure))
            status = client.send("GET", "/version")[0]
        except ssl.SSLCertVerificationError as error:
            told = f"{self.url}: its certificate is not trusted: {error.verify_message}"
            raise UnusableError(f"{told}; pass --ca FILE or --insecure") from None
        except OSError as error:
            raise UnusableError(f"{self.url} does not answer: {error}") from None
        if status == 401:
            raise UnusableError(f"{self.url} rejects the token (401); pass --token TOKEN")
        return client

    @property
    def tls(self) -> str:
        """How to verify it, as in the `cluster` of a kubeconfig."""
        if self.insecure:
            return sessions.INSECURE
        return "" if self.authority is None else f"certificate-authority: {json.dumps(str(self.authority.resolve()))}"


def record_place(place: str, remote: Remote, *, out: Path | None = None, only: str = "") -> Iterator[str]:
    """Record a file or an area and write it. Yields a line for each recording; "FAIL ..." for what needs a look.

    out: the folder to write into; without it, a `.json` is written in place. only: a part of the names.
    """
    chosen = [_checked(place, one) for one in recorded.everything(place) if only in one["name"]]
    target = _target(place, out)
    client = remote.client()
    made: list[Recording] = []
    try:
        for one in chosen:
            try:
                told = sessions.record(one, remote.url, remote.token, remote.tls) if "commands" in one else None
                recording = told or record(client, one)
            except Exception as error:  # a real server may refuse anything; the others are recorded
                yield f"FAIL {one['name']}: not recorded: {type(error).__name__}: {error}"
                continue
            made.append(recording)
            answers = sum("expect" in part for name in _PARTS for part in recording.get(name, ()))
            yield f"recorded {one['name']}: {answers} answers"
            yield from _unsteady(client, recording)
    finally:
        client.close()
    if made and target.suffix == ".json":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(made[0], indent=1, ensure_ascii=False) + "\n")
    elif made:
        recorded.pack(target, made)
    yield f"{target}: {len(made)} of {len(chosen)} recordings"


def _checked(place: str, one: Recording) -> Recording:
    if not isinstance(one, dict) or not ({"name", "area", "steps"} <= {*one} or {"name", "commands"} <= {*one}):
        raise UnusableError(f"{place}: a scenario has name, area and steps; a session has name and commands")
    return one


def _target(place: str, out: Path | None) -> Path:
    file = Path(place)
    if out is None:
        if file.suffix != ".json":
            raise UnusableError(f"{place} holds many recordings: pass --out FOLDER")
        return file
    if file.suffix == ".json":
        return out / file.name
    return out / f"{file.name.partition('.')[0] if file.is_file() else place}.jsonl.xz"


def _unsteady(client: Client, recording: Recording) -> Iterator[str]:
    """Replay against the same server: a step that differs has something random in it."""
    if "steps" not in recording:
        return
    again = replay(client, recording, settles=True)
    if again.wrong():
        told = f"steps {again.wrong()} differ when asked again: mask what is random in them"
        yield f"FAIL {recording['name']}: {told}\n{again.report()}"
