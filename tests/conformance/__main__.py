"""python -m tests.conformance: show recordings, replay them, and make new ones."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from podless.apis.features import DEFAULT, NAMES
from tests.conformance import known, recorded, sessions
from tests.conformance.draw import Drawer
from tests.conformance.recorded import Recording
from tests.conformance.recorder import Remote, UnusableError, record_place
from tests.conformance.replay import Result, record, replay
from tests.conformance.servers import TOKEN, replay_here, running
from tests.conformance.sync import sync


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    area = "an area, corpus/NAME, releases/1.N, kubectl, or a file (.json, .jsonl, .jsonl.xz, .jsonl.gz)"
    commands.add_parser("list", help="print the areas and the number of recordings")
    show = commands.add_parser("show", help="print a recording, or the names of an area's recordings")
    show.add_argument("area", help=area)
    show.add_argument("name", nargs="?")
    show.add_argument("--step", type=int, help="print only the step of this number")
    play = commands.add_parser(
        "replay", help="send the requests and print what differs; exit with 1 if a step differs that is not known to"
    )
    play.add_argument("areas", nargs="*", help=f"{area} (default: all areas of scenarios)")
    play.add_argument("--filter", default="", help="only recordings whose name contains this")
    add_server(play, "(default: a podless started for this, for which known.toml holds)", required=False)
    play.add_argument("--verbose", "-v", action="store_true", help="print all differences, not the first 3 of a step")
    make = commands.add_parser("record", help="send the requests and keep the answers")
    make.add_argument("places", nargs="+", help=f"what to record: {area}; one .json is written in place")
    add_server(make, "to record")
    make.add_argument("--filter", default="", help="only recordings whose name contains this")
    make.add_argument("--out", type=Path, help="write into this folder")
    draw = commands.add_parser("draw", help="change recordings at random, record them, and replay them against podless")
    draw.add_argument("areas", nargs="+", help=area)
    add_server(draw, "to record", token=TOKEN)
    draw.add_argument("--seed", type=int, default=0, help="the same seed draws the same (default: 0)")
    draw.add_argument("--count", type=int, default=20, help="how many recordings to draw (default: 20)")
    draw.add_argument("--out", type=Path, help="write the drawn recordings into this file (.jsonl.xz)")
    take = commands.add_parser("sync", help="pack the recordings of a folder")
    take.add_argument("folder", nargs="?", type=Path, default=recorded.ORIGIN, help=f"(default: {recorded.ORIGIN})")
    take.add_argument("--check", action="store_true", help="write nothing; print what differs and exit with 1 if any")
    return parser


def add_server(parser: argparse.ArgumentParser, what: str, *, token: str = "", required: bool = True) -> None:
    parser.add_argument("--server", metavar="URL", required=required, help=f"the URL of the API server {what}")
    parser.add_argument("--token", default=token, help="a bearer token of a member of system:masters")
    trusted = parser.add_mutually_exclusive_group()
    trusted.add_argument("--ca", type=Path, metavar="FILE", help="a CA certificate (PEM; default: the system's)")
    trusted.add_argument("--insecure", action="store_true", help="do not verify the server's certificate")


def make_remote(options: argparse.Namespace) -> Remote:
    return Remote(options.server, options.token, options.ca, options.insecure)


def _list() -> int:
    releases = recorded.count_releases()
    for area in [*recorded.areas(), *(f"corpus/{name}" for name in recorded.corpora())]:
        print(f"{len(recorded.everything(area)):5}  {area}")
    for name in NAMES[: NAMES.index(DEFAULT)]:
        print(f"{releases[name]:5}  releases/{name}")
    print(f"{len(recorded.sessions()):5}  kubectl")
    return 0


def _show(area: str, name: str | None, step: int | None) -> int:
    if name is None:
        for one in recorded.everything(area):
            print(f"{one['name']:40} {one.get('about', '')}".rstrip())
        return 0
    found = recorded.find(area, name)
    steps = found["commands" if "commands" in found else "steps"]
    shown = found if step is None else steps[step]
    print(json.dumps(shown, indent=1, ensure_ascii=False))
    return 0


def _replay(options: argparse.Namespace) -> int:
    is_right = True
    print(f"{'area':20} recordings  exact   steps  exact  meaning")
    for area in options.areas or recorded.areas():
        chosen = [one for one in recorded.everything(area) if options.filter in one["name"]]
        scenarios, others = ([one for one in chosen if ("steps" in one) == wanted] for wanted in (True, False))
        if scenarios:
            is_right &= _replay_scenarios(area, scenarios, options)
        if others:
            is_right &= _replay_sessions(area, others, options)
    return 0 if is_right else 1


def _replay_scenarios(area: str, chosen: list[Recording], options: argparse.Namespace) -> bool:
    listed = {} if options.server else known.differences()
    if options.server:
        client = make_remote(options).client()
        results = [replay(client, one, settles=True) for one in chosen]
        client.close()
    else:
        release = area.removeprefix("releases/") if area.startswith("releases/") else DEFAULT
        with running(bare="/" in area, tls=False, release=release) as server:
            results = replay_here(server, chosen)
    is_right, most = True, None if options.verbose else 3
    for result in results:
        told = "" if options.server else known.judge(area, result, most)
        if result.wrong() or told:
            is_right &= not (told or options.server)
            print(told or result.report(most, listed.get(f"{area}/{result.scenario['name']}")))
    _print_shares(area, results)
    return is_right


def _print_shares(area: str, results: list[Result]) -> None:
    steps, exact = sum(result.steps for result in results), sum(result.exact for result in results)
    same, whole = sum(result.same for result in results), sum(not result.wrong() for result in results)
    share = [f"{100 * count / steps:.1f}%" if steps else "-" for count in (exact, same)]
    print(f"{area:20} {len(results):10} {whole:6} {steps:7} {share[0]:>6} {share[1]:>8}", flush=True)


def _replay_sessions(area: str, chosen: list[Recording], options: argparse.Namespace) -> bool:
    wrong = 0
    with contextlib.ExitStack() as stack:
        if options.server:
            remote = make_remote(options)
            remote.client().close()
        else:
            server = stack.enter_context(running())
            remote = Remote(server.url, server.token, insecure=True)
        for session in chosen:
            if lines := sessions.play(session, remote.url, remote.token, remote.tls):
                wrong += 1
                print("\n".join([f"FAIL {session['name']}", *lines]))
    print(f"{area:20} {len(chosen):10} {len(chosen) - wrong:6}", flush=True)
    return not wrong


def _record(options: argparse.Namespace) -> int:
    is_right = True
    for place in options.places:
        for line in record_place(place, make_remote(options), out=options.out, only=options.filter):
            is_right &= not line.startswith("FAIL")
            print(line, flush=True)
    return 0 if is_right else 1


def _draw(options: argparse.Namespace) -> int:
    drawer = Drawer([one for area in options.areas for one in recorded.everything(area)], options.seed)
    real = make_remote(options).client()
    made: list[Recording] = []
    for number in range(options.count):
        with contextlib.suppress(Exception):  # what is drawn may break off anywhere
            made.append(record(real, drawer.draw(number)))
    real.close()
    if options.out is not None:
        recorded.pack(options.out, made)
    with running(bare=True, tls=False) as server:
        results = replay_here(server, made)
    for result in results:
        if result.wrong():
            print(result.report())
    steps, exact = sum(result.steps for result in results), sum(result.exact for result in results)
    print(f"{len(made)} of {options.count} recordings were made; {exact} of {steps} steps are exact")
    return 0 if exact == steps else 1


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return the exit code."""
    options = _arguments().parse_args(arguments)
    try:
        match options.command:
            case "list":
                return _list()
            case "show":
                return _show(options.area, options.name, options.step)
            case "replay":
                return _replay(options)
            case "record":
                return _record(options)
            case "draw":
                return _draw(options)
    except (KeyError, IndexError, UnusableError) as error:
        print(error.args[0], file=sys.stderr)
        return 2
    if not options.folder.is_dir():
        print(f"{options.folder} is not here: there is nothing to compare with")
        return 0
    told = sync(options.folder, options.check)
    print("\n".join(told) or "equal")
    return 1 if told and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
