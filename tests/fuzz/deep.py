"""What nests as deep as any input can, run on a thread with a small stack: `python -m tests.fuzz.deep BYTES NAME`."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

from cryptography import x509

from podless import cel
from podless.cel import bounds
from podless.cel.patterns import compile_pattern
from podless.codec import jsontext, sentfloats, serializer
from podless.fields import combine, compare
from podless.fields.typed import schema_shape
from podless.meta import jsonpath, selectors
from podless.meta.field import parse_path
from podless.schema import Schema, structural
from podless.schema.regex import make_matcher
from podless.structs import repeats
from podless.structs.protobuf_messages import Messages
from podless.structs.structs import Field, Struct
from tests.cel.test_depth import BINDINGS, DEPTHS, VARIABLES
from tests.fuzz.test_deep import nested

FIRST = 1_000_000  # levels; input with fewer and fewer is tried until some is accepted
LEVELS = [FIRST, 20_000, 10_000, 5000, 2000, 1020, 1000, 900, 500, 300, 250, 150, 100]
DECODE: dict[str, Callable[[bytes], Any]] = {
    "json": serializer.decode_json,
    "yaml": serializer.decode_yaml,
}


def accepted(decode: Callable[[bytes], Any], form: str) -> Iterator[Any]:
    """The two deepest values that are decoded."""
    found = 0
    for level in LEVELS:
        with suppress(ValueError, RecursionError):
            yield decode(nested(form, level).encode())
            found += 1
        if found == 2:
            return
    raise AssertionError(f"nothing was decoded: {form}")


def use_values(decode: Callable[[bytes], Any]) -> None:
    """Do with values what servers do with them."""
    any_object: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    uses: list[Callable[[Any], Any]] = [
        repr, serializer.encode_json, serializer.encode_sorted, serializer.encode_yaml, serializer.copy_value,
        copy.deepcopy, json.dumps,
        lambda value: value == copy.deepcopy(value),
        lambda value: pickle.loads(pickle.dumps(value)),
        lambda value: list(serializer.encode_json_pieces(value)),
        lambda value: compile(repr(value), "", "exec"),
        lambda value: compare.compare_values({"a": value}, {"a": [value]}, schema_shape(any_object)),
        lambda value: combine.merge_values({"a": value}, {"a": [value]}, schema_shape(any_object)),
        lambda value: Schema(any_object).admit({"a": value}),
    ]  # fmt: skip
    for form in ("list", "map", "both"):
        for value in accepted(decode, form):
            for use in uses:
                with suppress(ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
                    use(value)


def use_expressions() -> None:
    sources = [source(count) for most, source in DEPTHS.values() for count in (most, most + 1, 3000)]
    sources += [
        "x" + "+1" * 5000,
        "x" + "-x*2" * 240,
        "x==0&&" * 4000 + "true",
        "true?" * 249 + "true" + ":false" * 249,
    ]
    terms = "1 / x > 0"
    for number in range(240):
        terms = f"x == {number % 2} {'&&' if number % 2 == 0 else '||'} ({terms})"
    loops = "1 / x > 0"
    for number in range(100):
        loops = f"l.all(y{number}, {loops})"
    for source in (*sources, terms, loops):
        with suppress(cel.CelError):
            program = cel.compile(source, VARIABLES)
            program.complete()
            program.estimate()
            program.evaluate(BINDINGS)


def use_schemas() -> None:
    wraps: list[Callable[[Any], dict[str, Any]]] = [
        lambda inner: {"type": "object", "properties": {"a": inner}},
        lambda inner: {"type": "object", "properties": {"a": inner}, "default": {}},
        lambda inner: {"type": "object", "additionalProperties": inner},
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"not": inner},
        lambda inner: {"allOf": [inner]},
    ]
    for wrap, depth in product(wraps, (60, 120, 240, 1000)):
        inner: dict[str, Any] = {"type": "string"}
        for _ in range(depth):
            inner = wrap(inner)
        spec = json.loads(nested("list" if "items" in inner else "map", min(depth, 900)))
        with suppress(ValueError, TypeError, RecursionError):
            structural({"type": "object", "properties": {"spec": inner}}, "")
            schema = Schema({"type": "object", "properties": {"spec": inner}})
            schema.complete()
            schema.admit({"spec": spec})
            schema.accepts({"spec": spec})


def use_texts() -> None:
    bodies = [nested(form, FIRST).encode() for form in ("list", "map", "both")]
    for raw, decode in product(bodies, (sentfloats.decode_as_written, repeats.read_pairs, jsontext.find_repeats)):
        with suppress(RecursionError, ValueError):
            decode(raw)  # with json of the standard library
    patterns = ["(" * 100_000, "(a" * 20_000 + ")" * 20_000, "(?:" * 999 + "a" + ")" * 999, "a" + "|b" * 50_000]
    paths = ["." + "a." * 100_000, ".a" + "[0]" * 100_000, "[?(@.a==1)]" * 1000, "[?(" * 5000, "{" * 10_000]
    queries = ["a" + ",b" * 50_000, "a in (" * 10_000, "!" * 100_000]
    parsers: list[tuple[list[str], list[Callable[[str], Any]]]] = [
        (patterns, [make_matcher, compile_pattern]),
        (paths, [jsonpath.parse_path, parse_path]),
        (queries, [selectors.parse_labels, selectors.parse_fields]),
    ]
    for texts, parses in parsers:
        for text, parse in product(texts, parses):
            with suppress(Exception):
                parse(text)


def use_binaries() -> None:
    whole: Struct = Struct("Whole", lambda: (Field("inner", whole, 1, pointer=True),))
    certificate = message = b""
    for _ in range(5000):
        certificate = b"\x30\x84" + len(certificate).to_bytes(4, "big") + certificate
        message = b"\x0a" + _encode_length(len(message)) + message
    for parse in (x509.load_der_x509_certificate, x509.load_der_x509_csr):
        with suppress(ValueError):
            parse(certificate)
    for raw in (message, b"\x0b" * FIRST + b"\x0c" * FIRST, b"\x1b" * FIRST + b"\x1c" * FIRST):  # the others are groups
        with suppress(ValueError):
            Messages().decode(whole, raw)


def _encode_length(size: int) -> bytes:
    digits = [size >> shift & 127 | 128 for shift in range(0, max(size.bit_length(), 1), 7)]
    return bytes([*digits[:-1], digits[-1] & 127])


WORK: dict[str, Callable[[], None]] = {
    "expressions": use_expressions,
    "schemas": use_schemas,
    "texts": use_texts,
    "binaries": use_binaries,
    **{name: partial(use_values, decode) for name, decode in DECODE.items()},
}


def main(size: int, name: str) -> None:
    """Do some work on a thread with a stack of so many bytes, while expressions that nest deep are compiled."""
    failed: list[BaseException] = []

    def work() -> None:
        sys.setrecursionlimit(bounds._RECURSION_LIMIT)
        try:
            WORK[name]()
        except BaseException as error:
            failed.append(error)

    threading.stack_size(size)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
