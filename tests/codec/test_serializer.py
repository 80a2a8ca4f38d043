"""JSON and YAML as a Go server reads and prints them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec import gojson, gotext, jsontext, serializer
from podless.codec.serializer import JSONError, YAMLError
from tests.codec import tokens

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    SCALARS | TEXT, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=20
)
# what libyaml cannot print as it is (control characters) is refused on the way back
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cs", "Cc"]), max_size=12)
YAML_VALUES = st.recursive(
    SCALARS | PRINTABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PRINTABLE, inner, max_size=4),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1, 1.0 and true are three things."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"1.0", 1),
        (b'{"a":1e3}', {"a": 1000}),
        (b'{"a":[1E+2,-1.50]}', {"a": [100, -1.5]}),
        (b'{"a":9223372036854775807}', {"a": 9223372036854775807}),
        (b'{"a":9223372036854775808}', {"a": 9223372036854776000}),
        (b'{"a":-9223372036854775809}', {"a": -9223372036854776000}),
        (b'{"a": 18446744073709551616}', {"a": 18446744073709552000}),
        (b'{"a":100000000000000000000}', {"a": 100000000000000000000}),
        (b'{"a":1e21}', {"a": 1e21}),
        (b'{"a":-0}', {"a": 0}),
        (b'{"a":-0.0}', {"a": 0}),
        (b'{"a":1e-7}', {"a": 1e-07}),
        (b'{"a":"x:1.5"}', {"a": "x:1.5"}),
        (b"123456789012345678901234567890", 1.2345678901234568e29),
    ],
)
def test_numbers_are_as_go_encodes_them_again(raw: bytes, value: Any) -> None:
    assert same(serializer.decode_json(raw), value)
    assert same(tokens.parse_json(raw), value)


def test_json_has_the_escapes_of_go() -> None:
    value = {"<a>": "b&c\u2028\u2029\u2030"}
    assert serializer.encode_json(value) == rb'{"\u003ca\u003e":"b\u0026c\u2028\u2029' + '\u2030"}'.encode()
    assert serializer.encode_sorted(value) == serializer.encode_json(value)
    assert rb"\u003ca" in serializer.encode_pretty(value)
    assert serializer.encode_unescaped(value) == '{"<a>":"b&c\u2028\u2029\u2030"}'
    assert serializer.decode_json(serializer.encode_json(value)) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"\\ud800x"', "\ufffdx"),
        (b'"\\ud83d\\ud83d\\ude00"', "\ufffd\U0001f600"),
        (b'"\\ude00"', "\ufffd"),
        (b'{"\xff":"a\xe2\x82"}', {"\ufffd": "a\ufffd\ufffd"}),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\\u0000\\/\x7f"', "\0/\x7f"),
    ],
)
def test_text_that_is_not_unicode_is_repaired(raw: bytes, value: Any) -> None:
    assert serializer.decode_json(raw) == value


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b'{"a":', "unexpected end of JSON input"),
        (b'"abc', "unexpected end of JSON input"),
        (b"abc", "invalid character 'a' looking for beginning of value"),
        (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
        (b"\x81", "invalid character '\\u0081' looking for beginning of value"),
        (b"'", "invalid character '\\'' looking for beginning of value"),
        (b"{} t", "invalid character 't' after top-level value"),
        (b'{"a":1}"', "invalid character '\"' after top-level value"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b"{a}", "invalid character 'a' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
        (b'"\\x41"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"nul!", "invalid character '!' in literal null (expecting 'l')"),
        (b"tru", "invalid character ' ' in literal true (expecting 'e')"),
        (b"-", "invalid character ' ' in numeric literal"),
        (b"-a", "invalid character 'a' in numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"1.", "invalid character ' ' after decimal point in numeric literal"),
        (b"[1.e3]", "invalid character 'e' after decimal point in numeric literal"),
        (b"[1e+]", "invalid character ']' in exponent of numeric literal"),
        (b"1e400", "json: cannot unmarshal number 1e400 into Go value of type float64"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"[" * 20000, "invalid character '[' exceeded max depth"),
        (b"[" * 12000 + b"]" * 12000, "invalid character '[' exceeded max depth"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "invalid character '{' exceeded max depth"),
    ],
)
def test_errors_are_in_gos_words(raw: bytes, message: str) -> None:
    with pytest.raises(JSONError) as caught:
        serializer.decode_json(raw, [])
    assert caught.value.message == str(caught.value) == message


def test_deep_values_are_taken_up_to_the_bound() -> None:
    deep = b"[" * jsontext.MAX_DEPTH + b"]" * jsontext.MAX_DEPTH
    assert serializer.encode_json({"items": [serializer.decode_json(deep)]}) == b'{"items":[' + deep + b"]}"


def test_repeated_keys_are_found_with_their_paths() -> None:
    raw = b"""{"k":1,"metadata":{"labels":{"x":"1","x":"2"}},"spec":{"a":1,"a":2,"l":[{"k":"a"},{"k":"b","k":"c"}],
        "a.b/c":{"d":1,"d":1,"d":1}},"k":2}"""
    paths = ["metadata.labels.x", "spec.a", "spec.l[1].k", "spec.a.b/c.d", "k"]
    found: list[str] = []
    value = serializer.decode_json(raw, found)
    assert found == [f'duplicate field "{path}"' for path in paths]
    assert value["spec"]["a"] == 2


@pytest.mark.parametrize("raw", [b'{"a":{"b":1},"a":{}}', b'{"a":1,"\\u0061":":","c":"\\u003a"}', b'[{"":1,"":1}]'])
def test_the_cheap_test_overlooks_no_repeated_key(raw: bytes) -> None:
    found: list[str] = []
    serializer.decode_json(raw, found)
    assert len(found) == 1


def test_strict_text_puts_yaml_lines_in_one_error() -> None:
    lines = ['line 7: key "num" already set in map', 'line 8: key "b" already set in map']
    assert serializer.format_strict_error([*lines, 'unknown field "q"']) == (
        'yaml: unmarshal errors:\n  line 7: key "num" already set in map\n  line 8: key "b" already set in map, '
        'unknown field "q"'
    )
    assert (
        serializer.format_strict_error(['duplicate field "a"', 'unknown field "b"'])
        == 'duplicate field "a", unknown field "b"'
    )


@given(VALUES)
def test_json_comes_back_as_it_went(value: Any) -> None:
    settled = serializer.decode_json(serializer.encode_json(value))
    assert same(serializer.decode_json(serializer.encode_json(settled), []), settled)
    assert same(tokens.parse_json(serializer.encode_json(settled)), settled)
    assert serializer.encode_sorted(settled) == serializer.encode_sorted(json.loads(json.dumps(settled)))


@given(st.binary(max_size=30) | st.text('[]{}:,"\\ue1.-+0tfn \n', max_size=30).map(str.encode))
def test_both_readers_agree_on_any_bytes(raw: bytes) -> None:
    def outcome(decode: Any) -> Any:
        try:
            return json.dumps(decode(raw))
        except JSONError as error:
            return error.message

    assert (
        outcome(serializer.decode_json)
        == outcome(tokens.parse_json)
        == outcome(lambda raw: serializer.decode_json(raw, []))
    )


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ({"a": 10**20}, b'{"a":100000000000000000000}'),
        ({"a": "\ud800"}, '{"a":"\ufffd"}'.encode()),
        ({"b": 1, "a": "é"}, '{"b":1,"a":"é"}'.encode()),
    ],
)
def test_encode_never_fails(value: Any, raw: bytes) -> None:
    assert serializer.encode_json(value) == raw


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "<empty>"),
        (b"{not json", "{not json"),
        (b"[]", "5b5d"),
        (b"not json", "6e6f74206a736f6e"),
        (b'{"apiVersion":"rest-create-malformed', '{"apiVersion":"rest-create-mal ...'),
        (b"apiVersion: rest-content-types.example", "61706956657273696f6e3a20726573742d636f6e74656e742d7479706573 ..."),
        (b"{" + b"\xff" * 2, "{\ufffd\ufffd"),
    ],
)
def test_the_part_of_a_body_that_errors_show(raw: bytes, text: str) -> None:
    assert serializer.format_snippet(raw) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("b: [x, y, No, on, OFF, ~, null]", {"b": ["x", True, False, True, False, None, None]}),
        ("[0755, 0o17, 0x1f, 0b101, 1_000, 08, +5, -0x10]", [493, 15, 31, 5, 1000, 8, 5, -16]),
        ("[1e3, .5, 1., 1e400, 1e21, 0.1e-6]", [1000, 0.5, 1, "1e400", 1e21, 1e-07]),
        ("[9223372036854775807, 9223372036854775808]", [9223372036854775807, 9223372036854776000]),
        ("[-9223372036854775809]", [-9223372036854776000]),
        ("[2020-01-02, 2001-12-14t21:59:43.10-05:00]", ["2020-01-02", "2001-12-14t21:59:43.10-05:00"]),
        ("[190:20:30, 1:30]", ["190:20:30", "1:30"]),
        ("a: &b {x: 1}\nc: *b\nd: {<<: *b, z: 2}", {"a": {"x": 1}, "c": {"x": 1}, "d": {"x": 1, "z": 2}}),
        ("<<: [{a: 1, b: 1}, {a: 2, c: 2}]", {"a": 1, "b": 1, "c": 2}),
        ("a: 1\n<<: {a: 2}", {"a": 2}),
        ("{1: a, y: b, 1.5: c, 0.1: d, 'n': e}", {"1": "a", "true": "b", "1.5": "c", "0.1": "d", "n": "e"}),
        ("a: one\na: two", {"a": "two"}),
        ("a: 1\n---\nb: 2", {"a": 1}),
        ("---\na: 1\n...\n[", {"a": 1}),
        (
            "a: !!str 1\nb: !!float 1\nc: !!binary aGk=\nd: !x 5\ne: ! 5",
            {"a": "1", "b": 1, "c": "hi", "d": "5", "e": "5"},
        ),
        ("", None),
        ("# nothing", None),
        ("'yes'", "yes"),
        ("|\n a\n b\n", "a\nb\n"),
    ],
)
def test_yaml_means_what_it_means_to_go(text: str, value: Any) -> None:
    assert same(serializer.decode_yaml(text.encode()), value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a: [1\n", "yaml: line 1: did not find expected ',' or ']'"),
        (b"a: [", "yaml: line 1: did not find expected node content"),
        (b"\ta: 1\n", "yaml: found character that cannot start any token"),
        (b"x: 1\ny:\n\ta: 1\n", "yaml: line 3: found character that cannot start any token"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"a: *x", "yaml: unknown anchor 'x' referenced"),
        (b"a: &x [*x]", "yaml: anchor 'x' value contains itself"),
        (b"<<: 5", "yaml: map merge requires map or sequence of maps as the value"),
        (b"? [a]\n: b", 'yaml: invalid map key: []interface {}{"a"}'),
        (b"? {a: 1}\n: b", 'yaml: invalid map key: map[interface {}]interface {}{"a":1}'),
        (b"a: .inf", "json: unsupported value: +Inf"),
        (b"a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        (b"a: !!binary '*'", "yaml: !!binary value contains invalid base64 data"),
        (b"a: \x01", "yaml: control characters are not allowed"),
        (b"a: \xff", "yaml: invalid leading UTF-8 octet"),
        (b"[" * 100000, "yaml: exceeded max depth of 10000"),
        (b"~: x", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'),
    ],
)
def test_yaml_errors_are_in_gos_words(raw: bytes, message: str) -> None:
    with pytest.raises(YAMLError) as caught:
        serializer.decode_yaml(raw)
    assert caught.value.message == message


def test_documents_made_of_aliases_are_refused() -> None:
    levels = [
        f"{name}: &{name} [{', '.join(f'*{before}' for _ in range(9))}]"
        for before, name in zip("abcdefg", "bcdefgh", strict=True)
    ]
    with pytest.raises(YAMLError, match="yaml: document contains excessive aliasing"):
        serializer.decode_yaml("\n".join(["a: &a [x]", *levels]).encode())


def test_repeated_yaml_keys_are_found_with_their_lines() -> None:
    found: list[str] = []
    value = serializer.decode_yaml(b'spec:\n  num: 1\n  num: 2\n  1: a\n  "1": b\n  1: c\n  on: 1\n  yes: 2\n', found)
    assert value == {"spec": {"num": 2, "1": "c", "true": 2}}
    assert found == [
        'line 3: key "num" already set in map',
        "line 6: key 1 already set in map",
        "line 8: key true already set in map",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [], "a": {}, "c": [{"d": 1, "e": [2]}]}, "a: {}\nb: []\nc:\n- d: 1\n  e:\n  - 2\n"),
        ({"k10": 1, "k9": 2, "A": 3, "_": 4, "k1": 5, "k01": 6}, "_: 4\nA: 3\nk1: 5\nk01: 6\nk9: 2\nk10: 1\n"),
        ({"a": ""}, 'a: ""\n'),
        ({"a": "yes", "b": "1", "c": "1:30"}, 'a: "yes"\nb: "1"\nc: "1:30"\n'),
        ({"d": "2020-01-02T03:04:05Z", "e": "~", "f": "0x1"}, 'd: "2020-01-02T03:04:05Z"\ne: "~"\nf: "0x1"\n'),
        ({"a": "2020-13-01", "b": "v1", "c": "a: b", "d": "-"}, "a: 2020-13-01\nb: v1\nc: 'a: b'\nd: '-'\n"),
        ({"a": "two\nlines\n", "b": "é"}, "a: |\n  two\n  lines\nb: é\n"),
        (
            {"a": 1.5, "b": 1e21, "c": 1234567.5, "d": None, "e": True},
            "a: 1.5\nb: 1e+21\nc: 1.2345675e+06\nd: null\ne: true\n",
        ),
        ({"message": "word " * 20 + "end"}, "message: " + "word " * 14 + "word\n  " + "word " * 5 + "end\n"),
        ("text", "text\n"),
        ([], "[]\n"),
    ],
)
def test_yaml_is_printed_as_go_prints_it(value: Any, text: str) -> None:
    assert serializer.encode_yaml(value).decode() == text


@given(YAML_VALUES)
def test_yaml_comes_back_as_it_went(value: Any) -> None:
    settled = serializer.decode_json(serializer.encode_json(value))
    assert same(serializer.decode_yaml(serializer.encode_yaml(settled)), settled)


@given(st.binary(max_size=40) | st.text("[]{}:,&*-?|><!%'\"# \nab1.<", max_size=40).map(str.encode))
def test_hostile_yaml_raises_only_the_declared_error(raw: bytes) -> None:
    try:
        value = serializer.decode_yaml(raw, [])
    except YAMLError:
        return
    assert isinstance(serializer.encode_json(value), bytes)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_general_floats_keep_their_value(value: float) -> None:
    assert float(gotext.format_float(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0001, "0.0001"), (0.00001, "1e-05"), (999999.0, "999999"), (-1e6, "-1e+06"), (1.5e300, "1.5e+300"), (0.0, "0")],
)
def test_general_floats_have_an_exponent_where_go_has_one(value: float, text: str) -> None:
    assert gotext.format_float(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (2**63, "9.223372036854776e+18"),
        (10**20, "1e+20"),
    ],
)
def test_integers_beyond_64_bits_are_floats(value: int, text: str) -> None:
    assert gotext.format_plain(value) == text


@given(
    st.recursive(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**70), 2**70)
        | st.from_regex(r"[a-z:\-0-9. ]{0,8}"),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.from_regex(r"[0-9.e:]{0,4}"), inner, max_size=4),
    ),
    st.booleans(),
)
def test_every_float_is_noticed_between_texts_that_look_like_one(value: Any, spaced: bool) -> None:
    raw = json.dumps(value, indent=1 if spaced else None).encode()
    assert repr(serializer.decode_json(raw)) == repr(tokens.parse_json(raw))


@given(
    st.binary(max_size=30)
    | st.text('[]{}:,"\\ue1.-+0tfn \n', max_size=30).map(str.encode)
    | VALUES.map(serializer.encode_json)
)
def test_a_text_that_was_read_beforehand_is_what_it_is(raw: bytes) -> None:
    def outcome(text: bytes) -> Any:
        found: list[str] = []
        floats: serializer.Floats = []
        try:
            return serializer.decode_json(text, found, floats), found, floats
        except JSONError as error:
            return str(error)

    parsed = serializer.ParsedJSON.parse(raw)
    assert [outcome(parsed), outcome(parsed)] == [outcome(raw)] * 2  # the second time it is read anew
    assert parsed == raw


@pytest.mark.parametrize("number", ["9" * 400, "1e999"])
def test_a_text_is_judged_before_its_numbers(number: str) -> None:
    with pytest.raises(serializer.JSONError, match="unexpected end of JSON input"):
        serializer.decode_json(f'{{"a":{number}'.encode())
    with pytest.raises(serializer.JSONError, match=r"^json: cannot unmarshal number"):
        serializer.decode_json(f'{{"a":{number}, "b":"\xff"}}'.encode("latin-1"))


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1e16, b"10000000000000000"),
        (-1e19, b"-10000000000000000000"),
        (18446744073709552000, b"18446744073709552000"),
        (1.5e20, b"150000000000000000000"),
        (1e21, b"1e+21"),
        (0.0000015, b"0.0000015"),
        (9.5e-7, b"9.5e-7"),
        (1e-10, b"1e-10"),
    ],
)
def test_numbers_are_printed_with_an_exponent_where_go_has_one(number: float, shown: bytes) -> None:
    assert serializer.encode_json([number]) == b"[" + shown + b"]"
    assert (
        serializer.encode_sorted({"b": number, "a": "\ud800 1e+5"}) == b'{"a":"\xef\xbf\xbd 1e+5","b":' + shown + b"}"
    )
    assert serializer.encode_json(serializer.decode_own(serializer.encode_json([number]))) == b"[" + shown + b"]"


@given(VALUES)
def test_large_maps_are_encoded_in_parts_as_in_one_go(value: Any) -> None:
    value = serializer.decode_json(serializer.encode_json(value))  # whole floats are never kept as floats
    whole = serializer.encode_sorted(value)
    token = serializer.in_steps.set(True)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(serializer, "_KEYS_PER_PIECE", 2)
            assert serializer.encode_sorted(value) == whole
    finally:
        serializer.in_steps.reset(token)


def test_no_part_has_more_keys_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    encode = gojson.encode_value

    def counted(value: Any, option: int) -> bytes:
        sizes.append(len(value))
        return encode(value, option)

    monkeypatch.setattr(gojson, "encode_value", counted)
    token = serializer.in_steps.set(True)
    try:
        value = {"a": [{f"{number * 7919 % 100_000:x}": number for number in range(100_000)}]}
        assert serializer.decode_own(serializer.encode_sorted(value)) == value
    finally:
        serializer.in_steps.reset(token)
    assert max(sizes) == 1 << 14


@given(st.lists(st.sampled_from([1e21, 1e-7, 0.5, "+", "e+", "e-6", "-", "1e+2", "2e-6", 7]), max_size=80))
def test_numbers_are_found_among_signs(values: list[Any]) -> None:
    shown = [
        f'"{value}"' if isinstance(value, str) else {1e21: "1e+21", 1e-7: "1e-7"}.get(value, str(value))
        for value in values
    ]
    assert serializer.encode_json(values) == f"[{','.join(shown)}]".encode()


def test_texts_that_look_like_numbers_with_exponents_stay() -> None:
    value = {"a": "1e+5 2e-6,", "1e+3": [0.1, 2**70]}
    assert serializer.encode_json(value) == b'{"a":"1e+5 2e-6,","1e+3":[0.1,1180591620717411303424]}'


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70), TEXT)
def test_any_number_is_printed_as_go_prints_it(number: float, key: str) -> None:
    value = {key: [number, f"{number}"]}
    made = serializer.encode_json(value)
    assert made == serializer.encode_sorted(value)
    shown = made[made.rindex(b"[") + 1 :].partition(b",")[0].decode()
    if isinstance(number, float):
        assert float(shown) == number
        assert ("e" in shown) == (number != 0 and not 1e-6 <= abs(number) < 1e21)
        assert "e-0" not in shown
    else:
        assert shown == str(number)


@given(VALUES)
def test_numbers_are_stored_as_they_are_read_again(value: Any) -> None:
    raw = serializer.encode_json([value])
    once = serializer.encode_json(serializer.decode_json(raw))
    assert serializer.encode_json(serializer.decode_json(once)) == once
    assert serializer.encode_json(serializer.decode_own(once)) == once


@given(st.dictionaries(TEXT, st.none() | st.integers(-9, 9) | TEXT | st.lists(TEXT), max_size=4), st.integers(0, 9))
def test_a_document_in_pieces_is_the_same(value: dict[str, Any], more: int) -> None:
    value |= {"long": [{"a": number, "b": []} for number in range(more)], "value": value.copy(), "empty": {}}
    value |= {"texts": ["\u00e9\n" * more, *([{"a": []}] * more), {"b": ["some \U0001f600 text" * more]}]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serializer, "_ITEMS_PER_PIECE", 3)
        patch.setattr(serializer, "_CHARACTERS_PER_PIECE", 5)
        assert b"".join(serializer.encode_json_pieces(value)) == serializer.encode_json(value)
        assert b"".join(serializer.encode_json_pieces(value, b"")) == serializer.encode_pretty(value)
