"""Metadata, patches, applies."""

from __future__ import annotations

from collections.abc import Iterator

from bench.asks.ask import (
    APPLY,
    GROUP,
    MAPS,
    MAX,
    MERGE,
    PATCH,
    STRATEGIC,
    THINGS,
    Ask,
    ask,
    named,
    text,
    thing,
    upto,
)


def writes() -> Iterator[tuple[str, Ask]]:
    """Metadata, patches, applies."""
    dry = f"{THINGS}?dryRun=All"
    owner = b'{"apiVersion":"v1","kind":"ConfigMap","name":"o%d","uid":"u%d"}'
    for name, field, item in (
        ("owners", "ownerReferences", lambda n: owner % (n, n)),
        ("finalizers", "finalizers", lambda n: b'"example.com/f%d"' % n),
        (
            "managed fields",
            "managedFields",
            lambda n: (
                b'{"manager":"m%d","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}'
                % n
            ),
        ),
    ):
        whole = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","%b":[%b]}}' % (
            field.encode(),
            upto(item, MAX - 200),
        )
        yield f"metadata: {name}", ask("POST", f"{MAPS}?dryRun=All", whole)
    labels = b'{"metadata":{"name":"x","labels":{%b}}}' % upto(lambda n: b'"l%d":"v"' % n)
    yield "metadata: labels", ask("POST", f"{MAPS}?dryRun=All", labels)
    yield "metadata: bad labels", ask("POST", f"{MAPS}?dryRun=All", labels.replace(b'"v"', b'"-"'))
    yield (
        "merge patch: keys",
        ask("PATCH", f"{THINGS}/one?dryRun=All", b'{"spec":{"any":{%b}}}' % upto(lambda n: b'"k%d":1' % n), MERGE),
    )
    step = b'{"op":"add","path":"/spec/any/-","value":1}'
    yield (
        "json patch: 10,000 steps",
        ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b]" % b",".join([step] * 9999), PATCH),
    )
    front = b'{"op":"add","path":"/spec/any/0","value":1}'
    yield (
        "json patch: at the front",
        ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b]" % b",".join([front] * 9999), PATCH),
    )
    copy = b'{"op":"copy","from":"/spec","path":"/spec/any/0"}'
    yield "json patch: copies", ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b]" % b",".join([copy] * 9999), PATCH)
    test = b'{"op":"test","path":"/spec/any","value":[1]}'
    yield "json patch: tests", ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b]" % b",".join([test] * 9999), PATCH)
    items = upto(lambda n: b"{}", MAX - 200)
    for what, more in (
        ("a long value", b""),
        ("a long value and a test", b',{"op":"test","path":"/kind","value":"Things"}'),
    ):
        patch = b'[{"op":"add","path":"/spec/any/0","value":[%b]}%b]' % (items, more)
        yield f"json patch: {what}", ask("PATCH", f"{THINGS}/one?dryRun=All", patch, PATCH)
    gone = upto(lambda n: b'{"$patch":"delete","name":"d%d"}' % n, MAX - 100)
    yield (
        "strategic: deletes",
        ask(
            "PATCH",
            "/api/v1/namespaces/default/serviceaccounts/default?dryRun=All",
            b'{"secrets":[%b]}' % gone,
            STRATEGIC,
        ),
    )
    new = upto(lambda n: b'{"name":"d%d"}' % n, MAX - 100)
    yield (
        "strategic: a list",
        ask(
            "PATCH",
            "/api/v1/namespaces/default/serviceaccounts/default?dryRun=All",
            b'{"secrets":[%b]}' % new,
            STRATEGIC,
        ),
    )
    order = upto(lambda n: b'{"name":"d%d"}' % n, MAX // 2)
    yield (
        "strategic: an order",
        ask(
            "PATCH",
            "/api/v1/namespaces/default/serviceaccounts/default?dryRun=All",
            b'{"$setElementOrder/secrets":[%b],"secrets":[%b]}' % (order, order),
            STRATEGIC,
        ),
    )
    for name, field, item in (
        ("a set", "set", lambda n: b'"%07d"' % n),
        ("a map", "map", lambda n: b'{"k":"%07d"}' % n),
        ("the same again", "set", lambda n: b'"a"'),
        ("fields", "any", lambda n: b'{"a":1}'),
    ):
        yield (
            f"apply: {name}",
            ask(
                "PATCH",
                f"{THINGS}/x?fieldManager=m&force=true&dryRun=All",
                thing(field, upto(item, MAX - 200), "x"),
                APPLY,
            ),
        )
        yield f"create: {name}", ask("POST", dry, thing(field, upto(item, MAX - 200), "x"))
    keys = b'{"apiVersion":"%b/v1","kind":"Things","metadata":{"name":"x"},"spec":{"any":{%b}}}' % (
        GROUP.encode(),
        upto(lambda n: b'"k%d":1' % n, MAX - 200),
    )
    yield "apply: keys", ask("PATCH", f"{THINGS}/x?fieldManager=m&force=true&dryRun=All", keys, APPLY)
    maps = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{%b}}' % upto(
        lambda n: b'"k%d":"v"' % n, MAX - 200
    )
    yield "apply: a config map", ask("PATCH", f"{MAPS}/x?fieldManager=m&dryRun=All", maps, APPLY)
    mixed = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{%b}}' % upto(
        lambda n: b'"%08x":"v"' % (n * 2654435761 % (1 << 32)), MAX - 200
    )
    yield "apply: a config map in no order", ask("PATCH", f"{MAPS}/x?fieldManager=m&dryRun=All", mixed, APPLY)
    for name in ("pattern", "one", "duration", "stamp", "email"):
        for char in ("a", "x", "1", "1h", "a@"):
            value = char * (1_000_000 // len(char))
            yield f"format or pattern: {name} of {char}", ask("POST", dry, text(named({name: value}, "x")))
