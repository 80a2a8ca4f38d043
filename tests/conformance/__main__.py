"""python -m tests.conformance: look at recordings, replay them, take them over."""

from __future__ import annotations

import argparse
import contextlib
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conformance import recorded, sessions
from tests.conformance.draw import Drawer
from tests.conformance.replay import record, replay
from tests.conformance.servers import TOKEN, running
from tests.conformance.sync import sync
from tests.conformance.wire import Client

NEWLINE = b"\n"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    area = "an area, corpus/NAME, or kubectl"
    commands.add_parser("list", help="what there is: areas and numbers of recordings")
    show = commands.add_parser("show", help="print a recording, or the names of all of an area")
    show.add_argument("area", help=area)
    show.add_argument("name", nargs="?")
    show.add_argument("--step", type=int, help="only the step of this number")
    play = commands.add_parser("replay", help="hold conversations and print what differs; exits with 1 where any does")
    play.add_argument("areas", nargs="*", help=f"{area}; all areas by default")
    play.add_argument("--filter", default="", help="only recordings whose name contains this")
    play.add_argument("--server", help="an API server's URL; a podless of its own by default")
    play.add_argument("--token", default="", help="the bearer token for it")
    play.add_argument("--verbose", "-v", action="store_true", help="every difference, not the first three of a step")
    draw = commands.add_parser(
        "draw", help="change conversations at random, hold them with a real server, and replay them"
    )
    draw.add_argument("areas", nargs="+", help=area)
    draw.add_argument("--server", required=True, help="a kube-apiserver's URL")
    draw.add_argument("--token", default=TOKEN, help="the bearer token for it, of a member of system:masters")
    draw.add_argument("--seed", type=int, default=0, help="the same seed draws the same")
    draw.add_argument("--count", type=int, default=20, help="how many conversations")
    draw.add_argument("--out", type=Path, help="keep them there, with the server's answers")
    take = commands.add_parser("sync", help="pack the recordings of the folder shared/conformance")
    take.add_argument("folder", nargs="?", type=Path, default=recorded.ORIGIN)
    take.add_argument("--check", action="store_true", help="only say what differs; exits with 1 where anything does")
    return parser


def _list() -> int:
    for file in sorted(recorded.FOLDER.rglob("*.jsonl.xz")):
        area = str(file.relative_to(recorded.FOLDER)).removesuffix(".jsonl.xz").removeprefix("scenarios/")
        print(f"{lzma.decompress(file.read_bytes()).count(NEWLINE):5}  {area}")
    return 0


def _show(area: str, name: str | None, step: int | None) -> int:
    if name is None:
        for one in recorded.everything(area):
            print(f"{one['name']:40} {one.get('about', '')}".rstrip())
        return 0
    found = recorded.find(area, name)
    steps = found["commands" if area == "kubectl" else "steps"]
    shown = found if step is None else steps[step]
    print(json.dumps(shown, indent=1, ensure_ascii=False))
    return 0


@contextlib.contextmanager
def _target(options: argparse.Namespace, area: str) -> Iterator[tuple[str, str]]:
    if options.server:
        yield options.server, options.token
    else:
        with running(bare=area.startswith("corpus/")) as server:
            yield server.url, server.token


def _replay(options: argparse.Namespace) -> int:
    is_exact = True
    print(f"{'area':20} recordings  exact   steps  exact  meaning")
    for area in options.areas or recorded.areas():
        chosen = [one for one in recorded.everything(area) if options.filter in one["name"]]
        with _target(options, area) as (url, token):
            if area == "kubectl":
                is_exact &= _play(chosen, url, token)
                continue
            client = Client(url, token)
            results = [replay(client, one) for one in chosen]
            client.close()
        steps, exact = sum(one.steps for one in results), sum(one.exact for one in results)
        same, whole = sum(one.same for one in results), sum(not one.wrong() for one in results)
        for result in results:
            if result.wrong():
                print(result.report(None if options.verbose else 3))
        share = [f"{100 * count / steps:.1f}%" if steps else "-" for count in (exact, same)]
        print(f"{area:20} {len(results):10} {whole:6} {steps:7} {share[0]:>6} {share[1]:>8}", flush=True)
        is_exact &= whole == len(results)
    return 0 if is_exact else 1


def _draw(options: argparse.Namespace) -> int:
    drawer = Drawer([one for area in options.areas for one in recorded.everything(area)], options.seed)
    real = Client(options.server, options.token)
    held = [record(real, drawer.draw(number)) for number in range(options.count)]
    real.close()
    known = [one for one in held if one is not None]
    if options.out is not None:
        recorded.pack(options.out, known)
    with running(bare=True, tls=False) as server:
        client = Client(server.url, server.token)
        results = [replay(client, one) for one in known]
        client.close()
    for result in results:
        if result.wrong():
            print(result.report())
    steps, exact = sum(one.steps for one in results), sum(one.exact for one in results)
    print(f"{len(known)} of {options.count} conversations could be held; {exact} of {steps} steps are exact")
    return 0 if exact == steps else 1


def _play(chosen: list[recorded.Recording], url: str, token: str) -> bool:
    wrong = 0
    for session in chosen:
        if lines := sessions.play(session, url, token):
            wrong += 1
            print("\n".join([f"FAIL {session['name']}", *lines]))
    print(f"{'kubectl':20} {len(chosen):10} {len(chosen) - wrong:6}", flush=True)
    return not wrong


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    options = _arguments().parse_args(arguments)
    try:
        match options.command:
            case "list":
                return _list()
            case "show":
                return _show(options.area, options.name, options.step)
            case "replay":
                return _replay(options)
            case "draw":
                return _draw(options)
    except (KeyError, IndexError) as error:
        print(error.args[0], file=sys.stderr)
        return 2
    if not options.folder.is_dir():
        print(f"{options.folder} is not here: nothing to compare with")
        return 0
    told = sync(options.folder, options.check)
    print("\n".join(told) or "equal")
    return 1 if told and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
