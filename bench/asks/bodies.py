"""What is sent as it is, in JSON, YAML and protobuf."""

from __future__ import annotations

from collections.abc import Iterator

from bench.asks.ask import GROUP, MAPS, MAX, PROTOBUF, THINGS, YAML, Ask, ask, thing, upto, varint


def bodies() -> Iterator[tuple[str, Ask]]:
    """What is sent as it is in JSON, YAML and protobuf."""
    dry = f"{THINGS}?dryRun=All"
    yield "json: a list of numbers", ask("POST", dry, thing("any", upto(lambda n: b"1.5")))
    yield "json: exponents", ask("POST", dry, thing("any", upto(lambda n: b"1e5")))
    yield "json: many keys", ask("POST", dry, b'{"spec":{"any":{%b}}}' % upto(lambda n: b'"k%d":1' % n))
    yield "json: the same key", ask("POST", dry, b'{"spec":{"any":{%b}}}' % upto(lambda n: b'"k":1'))
    yield "json: escapes, malformed", ask("POST", dry, b'{"spec":"' + rb"\"" * (MAX // 2))
    yield (
        "json: texts in brackets",
        ask("POST", dry, b'{"spec":%b%b%b}' % (b"[" * 40, upto(lambda n: b'"a"'), b"]" * 40)),
    )
    yield "json: small objects", ask("POST", dry, thing("any", upto(lambda n: b'{"a":{}}')))
    yield "json: deep", ask("POST", dry, b'{"a":' * (MAX // 6))
    yield "json: unknown fields", ask("POST", f"{dry}&fieldValidation=Strict", b"{%b}" % upto(lambda n: b'"u%d":1' % n))
    yield (
        "json: a config map",
        ask("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"x"},"data":{%b}}' % upto(lambda n: b'"k%d":"v"' % n)),
    )
    mixed = upto(lambda n: b'"%08x":"v"' % (n * 2654435761 % (1 << 32)))
    yield (
        "json: keys in no order",
        ask(
            "POST",
            dry,
            b'{"apiVersion":"%b/v1","kind":"Things","metadata":{"name":"a"},'
            b'"spec":{"any":{%b}}}' % (GROUP.encode(), mixed),
        ),
    )
    yield (
        "json: a config map in no order",
        ask("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"x"},"data":{%b}}' % mixed),
    )
    twice = b'{"metadata":{"name":"x"},"data":{"a":"b","a":"c",%b}}' % upto(lambda n: b'"k%d":"v"' % n, MAX - 200)
    yield "json: a config map with a key twice", ask("POST", f"{MAPS}?dryRun=All", twice)
    yield "json: a number too large", ask("POST", dry, thing("any", b"1e999," + upto(lambda n: b"{}", MAX - 200)))
    yield "json: empty objects", ask("POST", dry, thing("any", upto(lambda n: b"{}")))
    yield "json: wrong types", ask("POST", dry, thing("numbers", upto(lambda n: b'"a"')))
    yield (
        "json: a config map of wrong types",
        ask("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"x"},"data":{%b}}' % upto(lambda n: b'"k%d":1' % n)),
    )
    yield "yaml: a list", ask("POST", dry, b"spec:\n  any:\n" + b"  - a: b\n" * (MAX // 9), YAML)
    yield "yaml: flow", ask("POST", dry, b"spec: {any: [" + b"a," * (MAX // 3) + b"a]}", YAML)
    yield "yaml: aliases", ask("POST", dry, b"a: &a [x,x,x,x,x,x,x,x]\nb: [" + b"*a," * (MAX // 4) + b"*a]", YAML)
    yield "yaml: 60 KB", ask("POST", dry, b"spec:\n  any:\n" + b"  - a: b\n" * 6900, YAML)
    item = b"\x0a\x01k\x12\x01v"
    message = b"".join(
        b"\x12" + bytes([len(one)]) + one for one in (b"\x0a\x07k%06d\x12\x01v" % n for n in range(180_000))
    )
    envelope = b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12"
    yield (
        "protobuf: a config map",
        ask("POST", f"{MAPS}?dryRun=All", envelope + varint(len(message)) + message, PROTOBUF),
    )
    meta = b"\x0a\x01x" + b"\x72\x01f" * 900_000
    meta = b"\x0a" + varint(len(meta)) + meta
    yield "protobuf: finalizers", ask("POST", f"{MAPS}?dryRun=All", envelope + varint(len(meta)) + meta, PROTOBUF)
    mixed = b"".join(b"\x12\x0d\x0a\x08%08x\x12\x01v" % (n * 2654435761 % (1 << 32)) for n in range(200_000))
    yield (
        "protobuf: a config map in no order",
        ask("POST", f"{MAPS}?dryRun=All", envelope + varint(len(mixed)) + mixed, PROTOBUF),
    )
    assert item
