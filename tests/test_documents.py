"""What the pages say in numbers and in names is what the code has.

`FIGURES` has, by page, phrases of the page with a # for each number, and what the code has in its place. The test
converts the unit that follows a #. Every number of the pages in `WHOLE` needs a phrase, unless the page says that it
was measured: in the same sentence, or, for a table, in the sentence before it. Code is left out.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path

import pytest

from podless.apis import features
from podless.cache import events, watchcache
from podless.cel import patterns
from podless.cli import backup
from podless.codec import jsontext
from podless.http import connection, fairness, tls, watchselectors, websocket
from podless.http.audit import Audit, auditor, backend
from podless.http.limits import Limits
from podless.meta import errors
from podless.offload import fairqueue, offloop
from podless.offload.process import SECONDS as OFFLOAD_SECONDS
from podless.runtime import meter, slices, watchdog
from podless.store.engines import ENGINES
from podless.store.etcd import settings as etcd
from podless.store.sqlite import disk
from podless.verbs import storage

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "podless"
DOCS = ROOT / "docs"

LIMITS = Limits()
AUDIT = Audit(Path("-"))
OLDEST, RECORDED, LATEST = (float(f"1.{minor}") for minor in (features.OLDEST, features.RECORDED, features.LATEST))
OLDEST_TLS = float(tls.OLDEST.name.removeprefix("TLSv").replace("_", "."))

Figures = Mapping[str, tuple[float, ...]]
FIGURES: Mapping[str, Figures] = {
    "explanation/security.md": {
        # promises
        "TLS # or newer": (OLDEST_TLS,),
        "or that Go rejects, gets a #": (errors.Unauthorized.code,),
        "rejected with # everywhere": (errors.Unauthorized.code,),
        "ends writes within # s": (disk._CHECK_INTERVAL,),
        "On a full disk podless rejects writes with #, accepts deletes in space that it keeps back (# MiB)": (
            errors.InsufficientStorage.code,
            disk._RESERVE_BYTES,
        ),
        "No object is larger than # MiB": (storage._MAX,),
        "is renewed # days before": (tls._RENEW.total_seconds(),),
        "Heads over # KiB, bodies over # MiB and JSON nested deeper than # levels": (
            LIMITS.head,
            LIMITS.body,
            jsontext.MAX_DEPTH,
        ),
        "slow with a head (# s) or a body (# s), idle (# s), or does not read a watch (# MiB behind)": (
            LIMITS.head_time,
            LIMITS.body_time,
            LIMITS.idle_time,
            LIMITS.buffer,
        ),
        "except for # bytes of a ping": (websocket._MAX,),
        "# s of processor time for each piece": (offloop.SECONDS,),
        "A write has # s for all its work, and # s more for each megabyte": (
            meter.MIN_TIME,
            meter.TIME_PER_BYTE * 1e6,
        ),
        "queued for # s gets #": (fairqueue._SECONDS, errors.TooManyRequests.code),
        "take at most # s of a request, by their price, and the cache of them # MiB": (
            meter.PATTERN_TIME / 1e9,
            patterns.MAX_CACHE_BYTES,
        ),
        "holds the event loop for # ms": (watchdog.LONG_STEP,),
        "reads # KiB of them": (connection._PIPELINE_STEP,),
        "over that #": (errors.TooManyRequests.code,),
        "killed after # s of processor time": (OFFLOAD_SECONDS,),
        # limits
        "| request line and headers | # KiB | # |": (LIMITS.head, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
        "| body | # MiB | # |": (LIMITS.body, errors.TooLarge.code),
        "| # MiB; # MiB for one user | #, or": (LIMITS.held, LIMITS.held // 2, errors.TooManyRequests.code),
        "| bytes that wait for a client to read its watch | # MiB |": (LIMITS.buffer,),
        "selectors that watches keep in memory | # MiB; # MiB for one user | # |": (
            LIMITS.held // watchselectors._OF_ALL,
            LIMITS.held // watchselectors._OF_ONE,
            errors.TooManyRequests.code,
        ),
        "| events of one resource that wait for delivery | # MiB |": (events._MAX_QUEUED,),
        "| time in which a client reads on | # s |": (LIMITS.write_time,),
        "| connections | #, and": (LIMITS.connections,),
        "| TLS handshakes | # at once, # s each |": (LIMITS.handshakes, LIMITS.handshake_time),
        "| requests in flight | #; # for one user": (LIMITS.in_flight, LIMITS.in_flight // 2),
        "| queued requests of one user | #, # s each | # |": (LIMITS.queue, LIMITS.wait, errors.TooManyRequests.code),
        "| requests of a connection behind the one in flight | # |": (LIMITS.pipeline,),
        "| watches | #; # for one user | # |": (LIMITS.watches, LIMITS.watches // 2, errors.TooManyRequests.code),
        "| long requests (# KiB or more) in flight | # MiB together |": (offloop.LONG_BYTES, fairqueue._MAX),
        "| queued long requests | #; # for one user; # s each | # |": (
            fairqueue._WAITING,
            fairqueue._MAX_PER_USER,
            fairqueue._SECONDS,
            errors.TooManyRequests.code,
        ),
        "each turn of the event loop starts # ms of work": (fairness._TURN,),
        # the audit log
        "a kill -9 loses those of the last # s": (backend._FLUSH_DELAY,),
        "At # MiB": (AUDIT.size,),
        "the last # of them": (AUDIT.backups,),
        "queues up to # MiB": (backend._MAX,),
        "A stop waits at most # s": (backend._PATIENCE,),
        "leaves out those over # KiB": (auditor.MAX,),
        "those that take more than # steps": (auditor.STEPS,),
    },
    "how-to/operations.md": {
        "Writes get #": (errors.InsufficientStorage.code,),
        "keeps # MiB back": (disk._RESERVE_BYTES,),
        "podless backup tries # times": (backup._TRIES,),
        "# in a database and # in etcd": tuple(engine.skipped for engine in ENGINES.values()),
        "get # Gone": (errors.Expired.code,),
        "held the event loop for # ms or longer": (watchdog.LONG_STEP,),
        "with # this server never compacts": (etcd.parse_interval("0"),),
        "`/healthz` answer # and `ok`, or # with": (200, 500),
        "milliseconds since #": (1970,),
        "all addresses, port #": (6443,),
    },
    "explanation/architecture.md": {
        "the last # events (# MiB at most)": (watchcache.WINDOW, watchcache.WINDOW_BYTES),
        "a client that is # MiB behind": (LIMITS.buffer,),
        "up to # times after a conflict": (storage._TRIES,),
        "after # ms other requests run": (slices.SLICE,),
        "Work on long objects, from # KiB on": (offloop.LONG_BYTES,),
        "take turns by user, # MiB at once": (fairqueue._MAX,),
        "every step that holds the loop for # ms": (watchdog.LONG_STEP,),
    },
    "how-to/check.md": {"from # to #, separated by commas, and ranges (default: #)": (OLDEST, LATEST, RECORDED)},
    "how-to/plan.md": {
        "plans for Kubernetes # to #": (OLDEST, LATEST),
        "Answers of # were compared with a real server most thoroughly, those of # not yet": (RECORDED, LATEST),
    },
    "how-to/releases.md": {"from # to # (default: #)": (OLDEST, LATEST, RECORDED)},
    "how-to/testing.md": {"that podless knows (# to #)": (OLDEST, LATEST)},
    "reference/compatibility.md": {
        "was compared with, now # to #": (OLDEST, RECORDED),
        "now #, is a preview": (LATEST,),
    },
}
WHOLE = ("explanation/security.md", "how-to/operations.md")

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "ms": 0.001, "s": 1, "minutes": 60, "hours": 3600, "days": 86_400, "%": 0.01}
WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SPELLED = {word: number for number, word in enumerate(WORDS, 2)} | {"hundred": 100, "thousand": 1000, "million": 10**6}
NUMBER = rf"(?:(?<![\w.])(?<! -)\d+(?:,\d{{3}})*(?:\.\d+)*|\b(?:{'|'.join(SPELLED)})\b)"
CODE = re.compile(r"^```.*?^```$|^ {4}[^\n]*$|\]\([^)]*\)", re.M | re.S)
SPAN = re.compile(r"`(?!\d[\d,.]*`)[^`\n]*`")  # a span that is a number is one all the same
SENTENCE = re.compile(r"(?<=\.)\s+")


def value(text: str) -> float:
    return SPELLED.get(text.lower()) or float(text.replace(",", ""))


def constants(page: str) -> str:
    """A page in one line, without code, and without what was measured."""
    kept: list[str] = []
    last = ""
    for block in re.split(r"\n\s*\n", CODE.sub("", page)):
        block = block.strip()
        if block.startswith("|"):
            if "measured" not in last.lower():
                kept.append(block)
        elif block:
            sentences = SENTENCE.split(block)
            kept += [sentence for sentence in sentences if "measured" not in sentence.lower()]
            last = sentences[-1]
    return " ".join(" ".join(kept).split())


def faults(page: str, figures: Figures, *, whole: bool) -> Iterator[str]:
    """What is wrong with the numbers of a page."""
    text = constants(page)
    covered: set[int] = set()
    for phrase, values in figures.items():
        if phrase.count("#") != len(values):
            yield f"the code has {len(values)} numbers for: {phrase}"
            continue
        parts = [re.escape(segment) for segment in phrase.split("#")]
        found = list(re.finditer(f"({NUMBER})".join(parts), text, re.I))
        if not found:
            yield f"the page does not say: {phrase}"
        for match in found:
            for index, (wanted, after) in enumerate(zip(values, phrase.split("#")[1:], strict=True), 1):
                covered.add(match.start(index))
                unit = re.match(r"\s*(%|\w*)", after)
                told = value(match[index]) * UNITS.get(unit[1] if unit else "", 1)
                if not math.isclose(told, wanted):
                    yield f"the code has {wanted:,} in place of {match[index]}: {match[0]}"
    if whole:
        blank = SPAN.sub(lambda span: " " * len(span[0]), text)
        for match in re.finditer(NUMBER, blank, re.I):
            if match.start() not in covered:
                yield f"no phrase covers {match[0]}: ...{text[max(0, match.start() - 40) : match.end() + 40]}..."


@pytest.mark.parametrize("page", FIGURES)
def test_the_numbers_of_a_page_are_those_of_the_code(page: str) -> None:
    found = list(faults((DOCS / page).read_text(), FIGURES[page], whole=page in WHOLE))
    assert not found, "\n".join([f"docs/{page}:", *found])


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("Bodies over 3 MiB, and 20 s.", 0),
        ("Bodies over 4 MiB, and 20 s.", 1),
        ("Bodies over 3 KiB, and 20 s.", 3),  # the phrase is gone, so nothing covers its numbers
        ("Bodies over 3 MiB, and 20 s. There are 7.", 1),
        ("Bodies over 3 MiB, and 20 s. There are seven.", 1),
        ("Bodies over 3 MiB, and 20 s. There are `7`.", 1),
        ("Bodies over 3 MiB, and 20 s. Measured: there are 7.", 0),
        ("Bodies over 3 MiB, and 20 s. We measured it. There are 7.", 1),
        ("Bodies over 3 MiB, and 20 s.\n\n| a | 7 |", 1),
        ("Bodies over 3 MiB, and 20 s. Measured, in ms:\n\n| a | 7 |", 0),
        ("Bodies over 3 MiB, and 20 s.\n\n    kill -9 1\n\nTake `v1`, ES256 or [this](of-2.md).", 0),
    ],
)
def test_a_number_without_a_phrase_and_one_that_differs_are_found(page: str, count: int) -> None:
    assert len(list(faults(page, {"over # MiB, and # s": (3 << 20, 20)}, whole=True))) == count


def test_the_size_of_our_own_http_is_about_what_is_said() -> None:
    """Within a tenth: docs/explanation/decisions/01-http.md names the files."""
    page = (DOCS / "explanation" / "decisions" / "01-http.md").read_text()
    told = re.search(r"`http/` has (\d+) files and about ([\d,]+) lines for it:([^.]*(?:\.py[^.]*)*)\.", page)
    assert told is not None
    names = re.findall(r"`(\w+\.py)`", told[3])
    lines = sum(len((SOURCE / "http" / name).read_text().splitlines()) for name in names)
    assert len(names) == int(told[1])
    assert math.isclose(lines, value(told[2]), rel_tol=0.1), f"{lines} lines"


# names: what stands in backticks and looks like a class, like an attribute of one, or like something to be called

GLOSSARY = "explanation/glossary.md"
PAGES = (
    GLOSSARY,
    "explanation/architecture.md",
    "explanation/life-of-a-request.md",
    "explanation/performance.md",
    "explanation/security.md",
    "how-to/operations.md",
)
DECISIONS = tuple(
    f"explanation/decisions/{file.name}" for file in sorted((DOCS / "explanation" / "decisions").glob("*.md"))
)
CLASS = re.compile(r"[A-Z]+[a-z]\w*|API")
MEMBER = re.compile(r"([A-Z]\w+|api)\.(\w+)(?:\(.*\))?|(\w+)\.(\w+)\(.*\)|(\w+)\.([A-Z]\w+)")
# what else looks like ours, and whose it is
OTHERS = {"FieldsV1": "Kubernetes", "asyncio.Protocol": "Python"}


@functools.cache
def defined() -> Mapping[str, Collection[str]]:
    """What modules have at their outermost level: the modules of each name."""
    found: dict[str, set[str]] = {}
    for file in SOURCE.rglob("*.py"):
        where = file.relative_to(SOURCE).as_posix()
        for match in re.finditer(r"^(?:class|def|async def) (\w+)|^(\w+)(?:: [^=\n]+)? = ", file.read_text(), re.M):
            found.setdefault(match[1] or match[2], set()).add(where)
    return found


@functools.cache
def members(where: str, owner: str) -> Collection[str]:
    """What a class of a module has."""
    found = set()
    for cls in ast.parse((SOURCE / where).read_text()).body:
        if isinstance(cls, ast.ClassDef) and cls.name == owner:
            for node in ast.walk(cls):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.add(node.name)
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found.add(node.target.id)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found.add(node.attr)
    return found


def resolves(name: str) -> bool:
    """Whether there is such a class, or such a member of a class or of a module."""
    if name in OTHERS or (CLASS.fullmatch(name) and name in defined()):
        return True
    found = MEMBER.fullmatch(name)
    if found is None:
        return False
    owner, member = (part for part in found.groups() if part)
    modules = {file.removesuffix("/__init__.py").removesuffix(".py") for file in defined().get(member, ())}
    if owner == "podless" or owner in {module.rpartition("/")[2] for module in modules}:
        return bool(modules)
    owner = "API" if owner == "api" else owner[0].upper() + owner[1:]
    return any(member in members(where, owner) for where in defined().get(owner, ()))


def names(text: str) -> list[str]:
    """What looks like ours in a text: `Kind`, `Kind.derive`, `api.authorizer`, `registry.find_route()`."""
    return [one for one in re.findall(r"`([^`\n]+)`", text) if CLASS.fullmatch(one) or MEMBER.fullmatch(one)]


def terms() -> list[list[str]]:
    """The rows of the glossary's table of words: the word, where it is, what it is, and what Kubernetes calls it."""
    table = (DOCS / GLOSSARY).read_text().partition("| word | where |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table]


@pytest.mark.parametrize("page", [*PAGES, *DECISIONS])
def test_what_a_page_names_exists(page: str) -> None:
    text = (DOCS / page).read_text()
    if page == GLOSSARY:  # the last column has the names of Kubernetes
        text = "\n".join(" | ".join(row[:-1]) for row in terms())
    gone = [name for name in names(text) if not resolves(name)]
    assert not gone, f"docs/{page} names what is not there: {gone}"


def test_a_class_of_the_glossary_is_in_its_module() -> None:
    rows = [(word.strip("`"), where.strip("`")) for word, where, *_ in terms() if word.startswith("`")]
    assert rows
    wrong = [
        f"{word} is in {sorted(defined().get(word, ()))}" for word, at in rows if at not in defined().get(word, ())
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("Kind", True),
        ("Fact", False),
        ("Kind.derive", True),
        ("Kind.maid", False),
        ("api.authorizer", True),
        ("api.author", False),
        ("typed.MapPlan", True),
        ("typed.MapPlane", False),
        ("registry.find_route()", True),
        ("registry.find_root()", False),
        ("podless.Server", True),
    ],
)
def test_a_name_that_is_gone_is_found(name: str, there: bool) -> None:
    assert names(f"as `{name}` says") == [name]
    assert resolves(name) is there
