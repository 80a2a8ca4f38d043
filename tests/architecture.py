"""The house: imports point down the list of layers only (architecture.md), and pages tell the truth about it."""

from __future__ import annotations

import ast
import builtins
import functools
import pathlib
import re
from collections.abc import Iterator, Sequence

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "podless"
# from the door to the foundation; a layer may import what stands below it
LAYERS = [
    "__main__",
    "__init__",
    "cli",
    "pytest_plugin",
    "plan",
    "check",
    "server",
    "explore",
    "testing",
    "client",
    "app",
    "http",
    "console",
    "cluster",
    "settings",
    "controllers",
    "virtual",
    "verbs",
    "plugins",
    "history",
    "admission",
    "auth",
    "publish",
    "apis",
    "kinds",
    "hooks",
    "models",
    "cache",
    "fields",
    "schema",
    "cel",
    "store",
    "remote",
    "offload",
    "meta",
    "structs",
    "codec",
    "runtime",
    "version",
]


@functools.cache
def parsed(file: pathlib.Path) -> ast.Module:
    return ast.parse(file.read_text())


@functools.cache
def nodes_of(file: pathlib.Path) -> list[ast.AST]:
    """All nodes of a file: to walk a tree takes ten times as long as to read this list."""
    return [*ast.walk(parsed(file))]


def layer_of(parts: Sequence[str]) -> str:
    """The layer of a module; the admission plugins in apis/ are one of their own, above what they plug into."""
    return "plugins" if parts[0] == "apis" and "admission" in parts[1:] else parts[0]


def layer(file: pathlib.Path) -> str:
    return layer_of(file.relative_to(SOURCE).with_suffix("").parts)


def imports(file: pathlib.Path) -> set[str]:
    """The layers that a file imports, TYPE_CHECKING blocks and function bodies included."""
    found = set()
    for node in nodes_of(file):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            if (node.module or "") == "podless":
                found |= {alias.name for alias in node.names}
            elif (node.module or "").startswith("podless."):
                found |= {layer_of([*(node.module or "").split(".")[1:], alias.name]) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {layer_of(alias.name.split(".")[1:]) for alias in node.names if alias.name.startswith("podless.")}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


def test_imports_point_down() -> None:
    wrong = []
    for file in FILES:
        own = layer(file)
        for other in imports(file):
            assert other in LAYERS, f"{file} imports podless.{other}, which is no layer"
            if LAYERS.index(other) < LAYERS.index(own):
                wrong.append(f"{file.relative_to(SOURCE)} ({own}) may not import podless.{other}")
    assert not wrong, "\n".join(wrong)


def test_every_room_is_on_the_plan() -> None:
    rooms = {layer(file) for file in FILES}
    assert rooms <= set(LAYERS), f"not a layer: {rooms - set(LAYERS)}"


LINES = 500  # of a file; the rest of what it does is another concept


def test_no_file_is_too_long() -> None:
    lines = {file.relative_to(SOURCE).as_posix(): len(file.read_text().splitlines()) for file in FILES}
    assert not {file: count for file, count in lines.items() if count > LINES}


TESTS = pathlib.Path(__file__).parent
# folders of tests that are about no single folder of the source
APART = {
    "bench",
    "clients",
    "clients/python",
    "conformance",
    "faults",
    "fuzz",
    "fuzz/adversary",
    "legacy",
    "cel/spec",
    "pages",
}


def test_tests_mirror_the_source() -> None:
    folders = {file.parent.relative_to(TESTS).as_posix() for file in TESTS.rglob("*.py")} - {"."}
    alone = {folder for folder in folders - APART if not (SOURCE / folder).is_dir()}
    assert not alone, f"these have no twin in src/podless: {sorted(alone)}"
    assert folders >= APART, f"gone: {sorted(APART - folders)}"


def test_tests_of_a_folder_are_in_its_twin() -> None:
    for file in TESTS.rglob("test_*.py"):
        folder, subject = file.parent.relative_to(TESTS), file.stem.removeprefix("test_")
        twin = SOURCE / folder / subject
        assert not twin.is_dir(), f"{file.relative_to(TESTS)} is about {twin.relative_to(SOURCE)}: move it there"


def modules() -> dict[str, pathlib.Path]:
    """Files by the name of their module within podless; "" for the package itself."""
    found = {}
    for file in FILES:
        parts = file.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(known: dict[str, pathlib.Path], module: str, *, deferred: bool) -> set[str]:
    """The modules that one imports; with `deferred` those too that it imports in functions and for annotations."""

    def nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
        for node in body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                yield from nodes(node.orelse)
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from ast.walk(node)

    file = known[module]
    found = set()
    for node in nodes_of(file) if deferred else nodes(parsed(file).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "podless":
            base = (node.module or "").removeprefix("podless").removeprefix(".")
            for alias in node.names:
                whole = f"{base}.{alias.name}".removeprefix(".")
                found.add(whole if whole in known else base)
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("podless.") for alias in node.names if alias.name.startswith("podless.")}
    return found - {module}


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules of which each imports every other one, directly or not."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for other in graph[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        reach[start] = seen
    found = {frozenset(other for other in reach[one] if one in reach[other]) for one in graph if one in reach[one]}
    return [set(circle) for circle in found]


@pytest.mark.parametrize("deferred", [False, True])
def test_imports_form_no_circle(deferred: bool) -> None:
    """Neither what Python runs at import, nor what is imported inside functions and for annotations."""
    known = modules()
    found = circles({module: imported(known, module, deferred=deferred) for module in known})
    assert not found, f"these import each other: {list(map(sorted, found))}"


def constructs(file: pathlib.Path) -> set[str]:
    """The names of what a file calls, as far as they are plain names."""
    calls = (node.func for node in nodes_of(file) if isinstance(node, ast.Call))
    return {func.id for func in calls if isinstance(func, ast.Name)}


@pytest.mark.parametrize("name", ["API", "State", "Converter", "Registry", "AdmissionChain"])
def test_one_place_constructs_a_server(name: str) -> None:
    """A server has one of each, complete when it is constructed."""
    places = {file.relative_to(SOURCE).as_posix() for file in FILES if name in constructs(file)}
    assert places == {"cluster.py"}


# the time of day, by the number of arguments from which on a call does not ask for it
TIME_OF_DAY = {
    "time.time": 1,
    "time.time_ns": 1,
    "time.gmtime": 1,
    "time.localtime": 1,
    "time.ctime": 1,
    "time.asctime": 1,
    "time.strftime": 2,
    "time.CLOCK_REALTIME": 1,
    "datetime.datetime.now": 2,
    "datetime.datetime.utcnow": 2,
    "datetime.datetime.today": 2,
    "datetime.date.today": 2,
    "email.utils.formatdate": 1,
    "email.utils.localtime": 1,
    "uuid.uuid1": 3,
}
# who asks for the machine's time, which a server's clock has no part in, and why
WALL = {
    "http/audit/backend.py": "files go by their names, those of earlier runs among them",
    "http/metrics.py": "the start of the process, which Prometheus subtracts from its own time",
    "http/operations.py": "the start of the server, which `podless status` subtracts from its own time",
    "http/tls.py": "certificates, which clients judge by their own time",
}


def dotted(node: ast.AST, names: dict[str, str]) -> str:
    """What an expression names: `system.time` is time.time after `import time as system`."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = dotted(node.value, names)
        return f"{before}.{node.attr}" if before else ""
    return ""


def uses(nodes: list[ast.AST]) -> Iterator[tuple[str, int, int | None]]:
    """What is named of other modules: its name, the line, and the arguments where it is called."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.split(".")[0]: alias.name for alias in node.names if alias.asname}
            names |= {alias.name.split(".")[0]: alias.name.split(".")[0] for alias in node.names if not alias.asname}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    calls = {id(node.func): len(node.args) + len(node.keywords) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node, names)):
            yield name, node.lineno, calls.get(id(node))


def times_of_day(nodes: list[ast.AST]) -> list[str]:
    """Where the machine is asked for the time of day."""
    return [
        f"{line}: {name}"
        for name, line, given in uses(nodes)
        if name in TIME_OF_DAY and (given is None or given < TIME_OF_DAY[name])
    ]


def test_only_the_clock_asks_the_machine_for_the_time_of_day() -> None:
    """A test that moves a server's clock moves all of the server: `podless.runtime.clock` gives the time."""
    found = {str(file.relative_to(SOURCE)): times_of_day(nodes_of(file)) for file in FILES}
    assert found.pop("runtime/clock.py")
    wrong = [f"{file}:{line}" for file, lines in found.items() for line in lines]
    assert not wrong, "\n".join(wrong)


def test_only_these_ask_for_the_time_that_no_test_moves() -> None:
    asking = {
        str(file.relative_to(SOURCE))
        for file in FILES
        if any(name == "podless.runtime.clock.wall_time" for name, _, _ in uses(nodes_of(file)))
    }
    assert asking == {*WALL}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("import time\nnow = time.time", 1),
        ("import time as system\nsystem.time()", 1),
        ("from time import time_ns as stamp\nstamp()", 1),
        ("import datetime\ndatetime.datetime.now(datetime.UTC)", 1),
        ("from datetime import UTC, datetime\nmake = lambda: datetime.now(UTC)", 1),
        ("from datetime import date\ndate.today()", 1),
        ("import time\ntime.strftime('%Y')\ntime.gmtime()\ntime.clock_gettime(time.CLOCK_REALTIME)", 3),
        ("import time\ntime.strftime('%Y', time.gmtime(0))\ntime.monotonic()\ntime.perf_counter()", 0),
        ("from datetime import UTC, datetime\ndatetime.fromtimestamp(0, UTC)", 0),
        ("from podless.meta import clock\nclock.time()", 0),
    ],
)
def test_the_time_of_day_is_found_however_it_is_asked_for(text: str, count: int) -> None:
    assert len(times_of_day([*ast.walk(ast.parse(text))])) == count


# what a release of Kubernetes decides: its name, and the lines of Go that its errors name
RELEASED = re.compile(r"(?<![\w.])v?1\.[34][0-9](?![0-9])|\.go:[0-9]")


def minors(nodes: list[ast.AST]) -> Iterator[int]:
    """The lines with a minor release alone, as a text: "36"."""
    for node in nodes:
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                named = isinstance(key, ast.Constant) and "inor" in str(key.value)
                if named and isinstance(value, ast.Constant) and str(value.value).isdigit():
                    yield value.lineno


def test_only_apis_names_a_release_of_kubernetes() -> None:
    """apis/release.py says which one is served; layers above ask it, and those below are given what they need."""
    wrong = []
    for file in FILES:
        if (
            layer(file) not in ("apis", "plugins") and file != SOURCE / "runtime" / "release.py"
        ):  # which reads the names
            text = file.read_text()
            lines = [text.count("\n", 0, match.start()) + 1 for match in RELEASED.finditer(text)]
            wrong += [f"{file.relative_to(SOURCE)}:{line}" for line in (*lines, *minors(nodes_of(file)))]
    assert not wrong, "\n".join(wrong)


# that read the tables, and Pod Security Standards, whose versions users name
COMPARE_RELEASES = {"apis/features.py", "apis/release.py", "apis/stored.py", "runtime/release.py"}
COMPARE_RELEASES |= {"apis/policy/admission.py", "apis/policy/podsecuritystandards.py"}


def decisions(nodes: list[ast.AST]) -> Iterator[int]:
    """The lines that compare a release, or ask for one by its number, instead of asking for a gate or a change."""
    for node in nodes:
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(isinstance(side, ast.Attribute) and side.attr == "minor" for side in sides):
                yield node.lineno
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("covers", "reaches") and isinstance(node.args[0], ast.Constant):
                yield node.lineno


def test_code_asks_for_gates_and_changes_and_compares_no_releases() -> None:
    files = {file: str(file.relative_to(SOURCE)) for file in FILES}
    wrong = [
        f"{name}:{line}"
        for file, name in files.items()
        if name not in COMPARE_RELEASES
        for line in decisions(nodes_of(file))
    ]
    assert not wrong, "\n".join(wrong)
    assert {*files.values()} >= COMPARE_RELEASES


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("if release.minor >= 34: pass", True),
        ("if 33 < CURRENT.get().minor: pass", True),
        ('ok = CURRENT.get().covers("1.34-")', True),
        ('ok = release.reaches("1.37")', True),
        ("ok = release.covers(kind.releases)", False),
        ('ok = has("ValuesAsJSON")', False),
    ],
)
def test_decisions_by_release_are_found(code: str, found: bool) -> None:
    assert bool([*decisions([*ast.walk(ast.parse(code))])]) is found


DOCS = TESTS.parent / "docs"
NAMED = re.compile(r"`([a-z_][a-z_/]*(?:\.py|/))`")  # what begins with a slash is a key of the store


@pytest.mark.parametrize(
    "page",
    [*sorted((DOCS / "explanation").rglob("*.md")), TESTS.parent / "CONTRIBUTING.md"],
    ids=lambda page: page.name,
)
def test_what_a_page_names_is_there(page: pathlib.Path) -> None:
    named = NAMED.findall(page.read_text())
    gone = [path for path in named if not (SOURCE / path).exists() and not (TESTS.parent / path).exists()]
    gone = [path for path in gone if "/" in path or not any(SOURCE.rglob(path))]  # a name alone is of any folder
    assert not gone, f"{page.name} names what is not there: {gone}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*sorted(DOCS.rglob("*.md")), *TESTS.parent.glob("*.md")]:
        targets = re.findall(r"\]\(([\w./-]+)(?:#[^)]*)?\)", page.read_text())
        gone = [target for target in targets if not (page.parent / target).exists()]
        assert not gone, f"{page.name} leads to {gone}"


def test_each_promise_names_its_test() -> None:
    """The promises of the security page are held by test functions that are there: `tests/x.py::test_a`, `::test_b`."""
    page = (DOCS / "explanation" / "security.md").read_text()
    table = page.partition("| promise |")[2].partition("\n\n")[0].splitlines()[2:]
    assert table
    for row in table:
        proof = row.rstrip(" |").rpartition(" | ")[2]
        tests = re.findall(r"`(tests/[\w/.]+)?::(\w+)`", proof)
        assert tests, f"this promise names no test: {row}"
        file = ""
        for named, test in tests:
            file = named or file
            there = file and re.search(rf"^(async )?def {test}\(", (TESTS.parent / file).read_text(), re.M)
            assert there, f"docs/explanation/security.md names what is not there: {file}::{test}"


LOCKS = ("requirements.lock", "requirements-dev.lock")


def test_both_lock_files_have_the_same_versions() -> None:
    pins = [re.findall(r"^([\w.-]+==\S+)", (TESTS.parent / name).read_text(), re.M) for name in LOCKS]
    assert pins[0]
    assert {*pins[0]} <= {*pins[1]}, "make serve would install others than make test"


WRITES = {"commit", "commit_chain"}  # the methods of a store that write
# who may call them, and why no one else need do so
WRITERS = {
    "verbs/storage.py": "the funnel: every write of a running server",
    "store/backup.py": "a restore fills a store that no server uses: there is no cache and nobody who waits",
    "store/share.py": "files that servers share are there before a server has a cache",
    "apis/stored.py": "the release that writes is noted before a server has a cache",
}


def test_only_the_funnel_commits() -> None:
    """An engine's own `self.commit` is no call of a store, and a module's function such as itertools.chain is none."""
    found: dict[str, list[str]] = {}
    for file in FILES:
        imported_names = {
            (alias.asname or alias.name).partition(".")[0]
            for node in nodes_of(file)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes_of(file):
            if isinstance(node, ast.Attribute) and node.attr in WRITES:
                holder = ast.unparse(node.value)
                if holder not in {"self", *imported_names}:
                    found.setdefault(file.relative_to(SOURCE).as_posix(), []).append(f"{holder}.{node.attr}")
    assert found.keys() == WRITERS.keys(), f"who writes to a store: {found}; who may: {sorted(WRITERS)}"


def test_only_the_two_loops_count_tries() -> None:
    """Of a server in verbs/storage.py, of a client in remote/cluster.py; all else gives them its number of tries."""
    loops = ast.For | ast.AsyncFor | ast.While | ast.comprehension
    found = set()
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, loops):
                counted = node.test if isinstance(node, ast.While) else node.iter
                names = {name.id.lower() for name in ast.walk(counted) if isinstance(name, ast.Name)}
                if any(re.search(r"(^|_)(tries|attempts|retries)$", name) for name in names):
                    found.add(file.relative_to(SOURCE).as_posix())
    assert found == {"verbs/storage.py"}, "these try again by themselves"


# who may look into the text of an error, and why
READERS = {
    "codec/goregexp.py": "RE2 gives only texts, which are told in Go's words",
    "store/etcd/client.py": "etcd's texts say more than its codes; they become types here",
    "store/sqlite/refusals.py": "SQLite's texts are told in one line",
}
PARTS = {"startswith", "endswith", "find", "index", "partition", "rpartition", "split", "removeprefix", "removesuffix"}
TEXTS = {"args", "message", "text"}  # attributes of errors


def readings(function: ast.AST) -> Iterator[str]:
    """Where a function compares or takes apart the text of an error that it has caught or was given."""
    nodes = list(ast.walk(function))
    errors = {node.name for node in nodes if isinstance(node, ast.ExceptHandler)}
    errors |= {
        node.arg
        for node in nodes
        if isinstance(node, ast.arg)
        and node.annotation
        and re.search("error|refused|exception", ast.unparse(node.annotation), re.I)
    }
    if not errors:
        return

    def is_text(node: ast.AST) -> bool:
        """str(error), error.message, a name that was given such a text, or something made of these."""
        for part in ast.walk(node):
            if (
                isinstance(part, ast.Call)
                and ast.unparse(part.func) == "str"
                and {*map(ast.unparse, part.args)} & errors
            ):
                return True
            if isinstance(part, ast.Attribute) and part.attr in TEXTS and ast.unparse(part.value) in errors:
                return True
            if isinstance(part, ast.Name) and part.id in texts:
                return True
        return False

    texts: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign):
            values = getattr(node.value, "elts", [node.value])
            targets = getattr(node.targets[0], "elts", node.targets[:1])
            texts |= {ast.unparse(target) for target, value in zip(targets, values, strict=False) if is_text(value)}
    for node in nodes:
        compared = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn)
        if (compared and any(map(is_text, ast.iter_child_nodes(node)))) or (
            isinstance(node, ast.Attribute) and node.attr in PARTS and is_text(node.value)
        ):
            yield ast.unparse(node)


def test_errors_are_told_apart_by_their_types() -> None:
    """A text is for people, and may change. A module that has nothing but a text gives the error a type."""
    found: dict[str, list[str]] = {}
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for reading in readings(node):
                    found.setdefault(file.relative_to(SOURCE).as_posix(), []).append(reading)
    assert found.keys() == READERS.keys(), f"who reads texts of errors: {found}; who may: {sorted(READERS)}"


def test_codes_of_sqlite_are_read_in_one_place() -> None:
    found = {file.name for file in FILES if "sqlite_errorcode" in file.read_text()}
    assert found == {"refusals.py"}


# Modules that remember something without runtime/memo.py, and why no two threads meet there.
UNSHARED = {
    "offload/offloop.py": "of the loop",
    "runtime/slices.py": "of the loop, whose work it runs",
    "runtime/pace.py": "of the loop",
    "runtime/watchdog.py": "of the loop",
    "runtime/bounded.py": "weights of what others keep, behind a lock",
    "codec/gotime.py": "a reader of one text",
    "codec/jsontext.py": "a scan of one text",
    "cel/correlation.py": "two states of one object",
    "runtime/patternprice.py": "a reader of one pattern",
    "structs/repeats.py": "a reader of one body",
    "runtime/heartbeat.py": "one thread",
    "codec/yamltext.py": "a reader of one body",
    "codec/yamlwrite.py": "a writer of one answer",
    "structs/protobuf_messages.py": "of the process, behind a lock, and seen as a whole",
    "kinds/declared/reading.py": "a reader of one annotation",
    "cel/checker.py": "a tree before anybody else has it",
    "cel/estimate.py": "one estimate",
    "cel/generate.py": "one compilation",
    "cel/codegen.py": "one compilation",
    "cel/patterns.py": "answers that follow from their question, behind a lock",
    "cel/policies/activation.py": "one evaluation",
    "cel/recovery.py": "a reader of one expression",
    "cel/rules/definitions.py": "the check of one definition",
    "cel/types.py": "one check",
    "cel/writer.py": "one compilation",
    "fields/jsonpatch.py": "one patch",
    "apis/core/metering.py": "of the loop",
    "meta/jsonpath.py": "one search of one object",
    "kinds/registry.py": "of the loop",
    "kinds/compiledforms.py": "a mark of the loop, which another loop may clear: then a form is dropped early",
    "schema/check.py": "one result",
    "schema/plain.py": "one walk",
    "structs/gotypes.py": "one error",
    "schema/regex.py": "what follows from a pattern alone, and is seen as a whole",
    "runtime/collector.py": "counts of the collector, which runs on one thread at a time",
}
# Modules that keep answers with functools, and why they may.
CACHING = {
    "runtime/bounded.py": "answers that follow from their question",
    "cel/functions.py": "the types of the language by name",
    "cel/library/__init__.py": "the functions of the language, the same for all",
    "cel/rules/verdict.py": "answers that follow from their question",
    "apis/batch/schedules.py": "the time zones of this machine",
    "apis/apiextensions/definition/shared.py": "one definition as it is checked",
    "auth/certificates.py": "of the loop",
    "http/openapi.py": "of the loop",
    "console/__init__.py": "of the loop",
    "models/objects.py": "the classes of a program",
    "check/findings.py": "one file",
    "check/run.py": "one run of the checker",
}


def remembers(function: ast.FunctionDef) -> bool:
    """Whether a method puts something where it has looked whether it is there."""

    def attributes(node: ast.AST) -> set[str]:
        return {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}

    looked: set[str] = set()
    put: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.If):
            looked |= attributes(node.test)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            looked |= attributes(node.func.value)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for elt in target.elts if isinstance(target, ast.Tuple) else [target]:
                    place = elt.value if isinstance(elt, ast.Subscript) else elt
                    if isinstance(place, ast.Attribute):
                        put.add(place.attr)
    return bool(looked & put) and function.name != "__init__"


def test_what_threads_share_is_filled_by_one_module() -> None:
    """The thread contract: runtime/memo.py alone decides what work off the loop may keep."""
    found = {
        str(file.relative_to(SOURCE))
        for folder in ("runtime", "codec", "structs", "meta", "offload", "cel", "schema", "fields", "kinds", "apis")
        for file in (SOURCE / folder).rglob("*.py")
        if layer(file) != "plugins"
        for node in nodes_of(file)
        if isinstance(node, ast.FunctionDef) and remembers(node)
    }
    assert sorted(found ^ UNSHARED.keys()) == []


def test_caches_of_functools_are_known() -> None:
    found = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        for node in nodes_of(file)
        if isinstance(node, ast.ImportFrom) and node.module == "functools"
        if {"cache", "cached_property", "lru_cache"} & {name.name for name in node.names}
    }
    assert sorted(found ^ CACHING.keys()) == []


def described(docstring: str) -> Iterator[str]:
    """The parameters or attributes that a docstring explains, each before a colon at the start of a sentence."""
    for names in re.findall(r"(?:^|[.] |\n)((?:[a-z_]+, )*[a-z_]+): ", docstring):
        yield from names.split(", ")


def names_in(root: ast.AST) -> set[str]:
    """The names of functions, parameters, variables and attributes in a definition; private ones also without _."""
    found: set[str] = set()
    for node in ast.walk(root):
        for attribute in ("name", "id", "attr", "arg"):
            if isinstance(name := getattr(node, attribute, None), str):
                found |= {name, name.removeprefix("_")}
    return found


# words that a docstring explains, and that are no names in Python: orders of a plan, severities
EXPLAINED = {"kubectl", "helm", "error", "warning"}


def test_docstrings_explain_parameters_and_attributes_that_are_there() -> None:
    wrong = [
        f"{file.relative_to(SOURCE)}:{node.lineno}: {node.name} has no {name}"
        for file in SOURCE.rglob("*.py")
        for node in nodes_of(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if (docstring := ast.get_docstring(node))
        if (names := {*described(docstring)} - EXPLAINED)
        for name in names - names_in(node)
    ]
    assert wrong == []


def raised_errors(docstring: str) -> Iterator[str]:
    """The errors that a docstring names: the first after "Raises", and what a comma, "and" or "or" adds."""
    for sentence in re.findall(r"\bRaises? (_?[A-Z][^.]*)", docstring):
        yield from re.findall(r"(?:^|, (?:and |or )?| and | or |\n)(_?[A-Z]\w*[a-z]\w*)", sentence)


def test_docstrings_name_errors_that_are_there() -> None:
    nodes = [node for file in SOURCE.rglob("*.py") for node in nodes_of(file)]
    known = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    known |= {name for name in dir(builtins) if name[0].isupper()}
    known |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    wrong = {
        error
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for error in raised_errors(ast.get_docstring(node) or "")
        if error not in known
    }
    assert wrong == set()
