"""The worst that one request of up to 3 MB can do: how long it holds the event loop, for every parser and every write.

Each request is sent twice to a server in this process, beside a heartbeat on the same loop; what counts is the longest
rest between two beats while the request was at work, the better of both. Three clocks tell of a rest: the wall's, which
counts what else the machine does, the processor time of the process, which does not and is what the list goes by, and
that of the loop's own thread: what another thread keeps the interpreter for is the difference. The worst ten are
printed, and all the processor time of each request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench.flood import Wire
from bench.record.figure import Figure
from podless.app import App, Settings
from podless.cli import serve
from podless.http.limits import Limits

MOST = 3 * 1024 * 1024 - 4096  # bytes of a body
MOST_TIME = 30.0  # seconds that an answer is waited for
GROUP = "worst.example.com"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"
MAPS = "/api/v1/namespaces/default/configmaps"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"

Ask = tuple[str, str, bytes, dict[str, str]]  # method, path, body, headers


def ask(method: str, path: str, body: bytes = b"", media: str = JSON, **headers: str) -> Ask:
    return (
        method,
        path,
        body,
        {"Content-Type": media} | {key.replace("_", "-"): value for key, value in headers.items()},
    )


def text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def crd(plural: str, schema: Any, **more: Any) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}} | more
    names = {"plural": plural, "kind": plural.title()}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    meta = {"name": f"{plural}.{GROUP}"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}


SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "map": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
                },
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "numbers": {"type": "array", "items": {"type": "integer"}},
                "pattern": {"type": "string", "pattern": "^(a|b|ab)*c?(a.{0,20}b)*$"},
                "one": {"type": "string", "pattern": "(x+x+)+y"},
                "duration": {"type": "string", "format": "duration"},
                "stamp": {"type": "string", "format": "date-time"},
                "email": {"type": "string", "format": "email"},
            },
        }
    },
}


def named(spec: Any, name: str = "a", kind: str = "Things") -> Any:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def config(name: str, data: Any = None, **metadata: Any) -> Any:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}


def upto(item: Callable[[int], bytes], size: int = MOST) -> bytes:
    """Items with commas between, up to a size."""
    parts: list[bytes] = []
    left = size
    while left > 0:
        parts.append(item(len(parts)))
        left -= len(parts[-1]) + 1
    return b",".join(parts[:-1])


def thing(field: str, items: bytes, name: str = "a") -> bytes:
    return text(named({field: 0}, name)).replace(b'"%b":0' % field.encode(), b'"%b":[%b]' % (field.encode(), items))


def bodies() -> Iterator[tuple[str, Ask]]:
    """What is sent as it is in JSON, YAML and protobuf."""
    dry = f"{THINGS}?dryRun=All"
    yield "json: a list of numbers", ask("POST", dry, thing("any", upto(lambda n: b"1.5")))
    yield "json: exponents", ask("POST", dry, thing("any", upto(lambda n: b"1e5")))
    yield "json: many keys", ask("POST", dry, b'{"spec":{"any":{%b}}}' % upto(lambda n: b'"k%d":1' % n))
    yield "json: the same key", ask("POST", dry, b'{"spec":{"any":{%b}}}' % upto(lambda n: b'"k":1'))
    yield "json: escapes, malformed", ask("POST", dry, b'{"spec":"' + rb"\"" * (MOST // 2))
    yield "json: small objects", ask("POST", dry, thing("any", upto(lambda n: b'{"a":{}}')))
    yield "json: deep", ask("POST", dry, b'{"a":' * (MOST // 6))
    yield "json: unknown fields", ask("POST", f"{dry}&fieldValidation=Strict", b"{%b}" % upto(lambda n: b'"u%d":1' % n))
    yield (
        "json: a config map",
        ask("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"x"},"data":{%b}}' % upto(lambda n: b'"k%d":"v"' % n)),
    )
    yield "json: wrong types", ask("POST", dry, thing("numbers", upto(lambda n: b'"a"')))
    yield (
        "json: a config map of wrong types",
        ask("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"x"},"data":{%b}}' % upto(lambda n: b'"k%d":1' % n)),
    )
    yield "yaml: a list", ask("POST", dry, b"spec:\n  any:\n" + b"  - a: b\n" * (MOST // 9), YAML)
    yield "yaml: flow", ask("POST", dry, b"spec: {any: [" + b"a," * (MOST // 3) + b"a]}", YAML)
    yield "yaml: aliases", ask("POST", dry, b"a: &a [x,x,x,x,x,x,x,x]\nb: [" + b"*a," * (MOST // 4) + b"*a]", YAML)
    yield "yaml: 60 KB", ask("POST", dry, b"spec:\n  any:\n" + b"  - a: b\n" * 6900, YAML)
    item = b"\x0a\x01k\x12\x01v"
    message = b"".join(
        b"\x12" + bytes([len(one)]) + one for one in (b"\x0a\x07k%06d\x12\x01v" % n for n in range(180_000))
    )
    envelope = b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12"
    yield (
        "protobuf: a config map",
        ask("POST", f"{MAPS}?dryRun=All", envelope + _varint(len(message)) + message, PROTOBUF),
    )
    meta = b"\x0a\x01x" + b"\x72\x01f" * 900_000
    meta = b"\x0a" + _varint(len(meta)) + meta
    yield "protobuf: finalizers", ask("POST", f"{MAPS}?dryRun=All", envelope + _varint(len(meta)) + meta, PROTOBUF)
    assert item


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


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
            upto(item, MOST - 200),
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
    gone = upto(lambda n: b'{"$patch":"delete","name":"d%d"}' % n, MOST - 100)
    yield (
        "strategic: deletes",
        ask(
            "PATCH",
            "/api/v1/namespaces/default/serviceaccounts/default?dryRun=All",
            b'{"secrets":[%b]}' % gone,
            STRATEGIC,
        ),
    )
    new = upto(lambda n: b'{"name":"d%d"}' % n, MOST - 100)
    yield (
        "strategic: a list",
        ask(
            "PATCH",
            "/api/v1/namespaces/default/serviceaccounts/default?dryRun=All",
            b'{"secrets":[%b]}' % new,
            STRATEGIC,
        ),
    )
    order = upto(lambda n: b'{"name":"d%d"}' % n, MOST // 2)
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
                thing(field, upto(item, MOST - 200), "x"),
                APPLY,
            ),
        )
        yield f"create: {name}", ask("POST", dry, thing(field, upto(item, MOST - 200), "x"))
    keys = b'{"apiVersion":"%b/v1","kind":"Things","metadata":{"name":"x"},"spec":{"any":{%b}}}' % (
        GROUP.encode(),
        upto(lambda n: b'"k%d":1' % n, MOST - 200),
    )
    yield "apply: keys", ask("PATCH", f"{THINGS}/x?fieldManager=m&force=true&dryRun=All", keys, APPLY)
    maps = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{%b}}' % upto(
        lambda n: b'"k%d":"v"' % n, MOST - 200
    )
    yield "apply: a config map", ask("PATCH", f"{MAPS}/x?fieldManager=m&dryRun=All", maps, APPLY)
    for name in ("pattern", "one", "duration", "stamp", "email"):
        for char in ("a", "x", "1", "1h", "a@"):
            value = char * (1_000_000 // len(char))
            yield f"format or pattern: {name} of {char}", ask("POST", dry, text(named({name: value}, "x")))


def definitions() -> Iterator[tuple[str, Ask]]:
    """Schemas, rules, columns."""
    dry = f"{CRDS}?dryRun=All"
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(50):
        deep = {"type": "object", "properties": {"p": deep}}
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}}
    nested = {
        "type": "object",
        "properties": {
            f"p{n}": {
                "type": "object",
                "properties": {f"q{m}": {"type": "string", "maxLength": 5, "default": "a"} for m in range(100)},
            }
            for n in range(100)
        },
    }
    enum = {"type": "object", "properties": {"e": {"type": "string", "enum": [f"v{n}" for n in range(100_000)]}}}
    required = {"type": "object", "required": [f"v{n}" for n in range(100_000)]}
    values = {
        "type": "object",
        "properties": {"d": {"type": "array", "items": {"type": "integer"}, "default": list(range(200_000))}},
    }
    rules = {
        "type": "object",
        "properties": {"s": {"type": "string", "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": f"self.s == '{n}'"} for n in range(3000)],
    }
    long_rule = {
        "type": "object",
        "properties": {"s": {"type": "string", "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": " && ".join(["self.s == 'a'"] * 20_000)}],
    }
    nest_rule = {
        "type": "object",
        "properties": {"l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 5}}},
        "x-kubernetes-validations": [{"rule": "self.l.all(a, " * 10 + "true" + ")" * 10}],
    }
    any_of = {
        "type": "object",
        "properties": {"x": {"type": "string", "anyOf": [{"pattern": f"a{n}"} for n in range(20_000)]}},
    }
    for name, schema in (
        ("deep", deep),
        ("10,000 properties", wide),
        ("10,000 nested properties", nested),
        ("an enum", enum),
        ("required", required),
        ("a default", values),
        ("3,000 rules", rules),
        ("a long rule", long_rule),
        ("nested macros", nest_rule),
        ("anyOf", any_of),
    ):
        body = text(crd("defined", schema))
        if len(body) < MOST:
            yield f"definition: {name}", ask("POST", dry, body)
    columns = [{"name": f"c{n}", "type": "string", "jsonPath": ".spec.a[?(@.b=='c')].d"} for n in range(20_000)]
    yield (
        "definition: columns",
        ask("POST", dry, text(crd("defined", {"type": "object"}, additionalPrinterColumns=columns))),
    )
    path = [{"name": "c", "type": "string", "jsonPath": ".a" * 500_000}]
    yield (
        "definition: a long path",
        ask("POST", dry, text(crd("defined", {"type": "object"}, additionalPrinterColumns=path))),
    )
    versions = crd("defined", {"type": "object"})
    versions["spec"]["versions"] += [
        dict(versions["spec"]["versions"][0], name=f"v{n}", storage=False) for n in range(2, 20_000)
    ]
    yield "definition: versions", ask("POST", dry, text(versions))
    wide_rule = {
        "verbs": [f"v{n}" for n in range(80)],
        "resources": [f"r{n}" for n in range(80)],
        "apiGroups": [f"g{n}" for n in range(80)],
    }
    yield (
        "role: 80 x 80 x 80",
        ask("POST", f"{ROLES}?dryRun=All", text({"metadata": {"name": "x"}, "rules": [wide_rule]})),
    )
    many = [{"verbs": ["get"], "resources": [f"r{n}"], "apiGroups": [""]} for n in range(40_000)]
    yield "role: 40,000 rules", ask("POST", f"{ROLES}?dryRun=All", text({"metadata": {"name": "x"}, "rules": many}))
    policy = {
        "metadata": {"name": "x"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]
            },
            "validations": [{"expression": f"object.metadata.name != '{n}'"} for n in range(5000)],
        },
    }
    yield (
        "policy: 5,000 rules",
        ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All", text(policy)),
    )
    hooks = {
        "metadata": {"name": "x"},
        "webhooks": [
            {
                "name": f"h{n}.example.com",
                "clientConfig": {"url": "https://h"},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "matchConditions": [{"name": "a", "expression": f"{n} == 1"}],
            }
            for n in range(5000)
        ],
    }
    yield (
        "webhooks: 5,000",
        ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All", text(hooks)),
    )
    review = {
        "spec": {
            "resourceAttributes": {
                "verb": "get",
                "fieldSelector": {
                    "requirements": [{"key": "a", "operator": "In", "values": [f"v{n}" for n in range(200_000)]}]
                },
            }
        }
    }
    yield "review: a selector", ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", text(review))
    yield (
        "review: a token",
        ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", text({"spec": {"token": "a." * (MOST // 2 - 100)}})),
    )
    event = {
        "metadata": {"name": "x", "namespace": "default"},
        "involvedObject": {"namespace": "default"},
        "message": "m" * (MOST - 300),
    }
    yield "event: a message", ask("POST", "/api/v1/namespaces/default/events?dryRun=All", text(event))


def reads() -> Iterator[tuple[str, Ask]]:
    """Selectors, tokens, lists in every form, documents."""
    quote = urllib.parse.quote
    for name, query in (
        ("a label selector", "labelSelector=" + quote("a in (" + "b," * 19_000 + "b)")),
        ("many label selectors", "labelSelector=" + quote(",".join(["a!=b"] * 5000), safe="=,!")),
        ("a field selector", "fieldSelector=" + quote(",".join(["metadata.name!=b"] * 3000), safe="=,!")),
        ("a continue token", "limit=1&continue=" + "e" * 60_000),
        ("a query", "&".join(f"a{n}=b" for n in range(6000))),
        ("a resourceVersion", "resourceVersion=" + "1" * 60_000),
        ("a timeout", "timeout=" + "1h" * 30_000),
    ):
        yield f"query: {name}", ask("GET", f"{MAPS}?{query}")
    yield "headers: accept", ask("GET", MAPS, Accept="a/b;q=0." + "1" * 30_000)
    yield "headers: many accepts", ask("GET", MAPS, Accept="a/b," * 15_000)
    yield "headers: impersonation", ask("GET", MAPS, Impersonate_User="u", Impersonate_Group="g," * 20_000)
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    for name, path in (("custom objects", THINGS), ("config maps", MAPS)):
        for form, accept in (
            ("json", JSON),
            ("yaml", YAML),
            ("table", table),
            ("metadata", partial),
            ("protobuf", PROTOBUF),
        ):
            yield f"list of {name} as {form}", ask("GET", path, Accept=accept)
        yield f"list of {name} for people", ask("GET", f"{path}?pretty=1")
        yield f"list of {name}, selected", ask("GET", f"{path}?labelSelector=a%21%3Db")
        yield f"list of {name} by a field", ask("GET", f"{path}?fieldSelector=metadata.name%21%3Db")
        yield f"list of {name}, compressed", ask("GET", path, Accept_Encoding="gzip")
        yield f"watch of {name}", ask("GET", f"{path}?watch=1&timeoutSeconds=1")
        yield f"deletion of {name}", ask("DELETE", f"{path}?dryRun=All")
    yield "get of a big object as yaml", ask("GET", f"{MAPS}/big", Accept=YAML)
    for path in (
        "/openapi/v2",
        "/openapi/v3",
        f"/openapi/v3/apis/{GROUP}/v1",
        "/apis",
        f"/apis/{GROUP}/v1",
        "/metrics",
    ):
        yield f"document: {path}", ask("GET", path)
    yield (
        "document: /openapi/v2 as protobuf",
        ask("GET", "/openapi/v2", Accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
    )
    yield (
        "document: /apis, aggregated",
        ask("GET", "/apis", Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
    )


def raw(token: str, asked: Ask) -> bytes:
    method, path, body, headers = asked
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n{lines}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Hold(NamedTuple):
    """The longest rest between two beats, in seconds. process: processor time, loop: of the loop's thread alone."""

    process: float = 0.0
    loop: float = 0.0
    wall: float = 0.0


class Found(NamedTuple):
    """What a request did. spent: processor time in all."""

    hold: Hold
    spent: float
    name: str
    code: int

    def __str__(self) -> str:
        hold = "".join(f"{seconds * 1e3:9.1f}" for seconds in (*self.hold, self.spent))
        return f"{hold}  {self.code}  {self.name}"


HEADS = "  process     loop     wall   in all  ms"


def clocks() -> Hold:
    return Hold(time.process_time(), time.thread_time(), time.perf_counter())


class Heart:
    """Beats as often as the loop lets it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = False
        self.longest = Hold()
        self._last = self._first = clocks()
        self._beat()

    def _beat(self) -> None:
        now = clocks()
        rest = Hold(*(later - before for later, before in zip(now, self._last, strict=True)))
        self.longest = Hold(*map(max, self.longest, rest))
        self._last = now
        if not self._stopped:
            self._loop.call_later(0.0005, self._beat)

    def begin(self) -> None:
        self.longest = Hold()
        self._last = self._first = clocks()

    def spent(self) -> float:
        return time.process_time() - self._first.process

    def stop(self) -> None:
        self._stopped = True


async def fill(wire: Wire, token: str, objects: int, definitions: int) -> None:
    async def must(asked: Ask) -> None:
        code = await wire.ask(raw(token, asked))
        assert code < 300, (asked[:2], code)

    await must(ask("POST", CRDS, text(crd("things", SCHEMA))))
    for number in range(definitions):
        await must(
            ask(
                "POST",
                CRDS,
                text(
                    crd(
                        f"more{number}",
                        {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(60)}},
                    )
                ),
            )
        )
    await must(ask("POST", THINGS, text(named({"any": [0]}, "one"))))
    for number in range(objects):
        await must(ask("POST", THINGS, text(named({"any": {"text": f"line {number} " * 60}}, f"t{number}"))))
        await must(ask("POST", MAPS, text(config(f"m{number}", {"a": f"line {number}\n" * 60}))))
    await must(ask("POST", MAPS, text(config("big", {"a": "some words: and more\n" * 40_000}))))


async def read(port: int, data: bytes) -> int:
    """A request on a connection of its own, whatever its answer is."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        writer.write(data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        async with asyncio.timeout(MOST_TIME):
            head = await reader.readline()
            while await reader.read(1 << 20):
                pass
        return int(head[9:12] or 0)
    except (ConnectionError, ValueError, TimeoutError):
        return 0
    finally:
        writer.close()


def client(port: int, token: str, wanted: list[tuple[str, Ask]], times: int, told: Any, go: Any) -> None:
    """A process that sends one request at a time, as often as it is told to."""

    async def run() -> None:
        for _, asked in wanted:
            data = raw(token, asked)
            for _ in range(times):
                go.acquire()
                told.put(await read(port, data))

    asyncio.run(run())


async def measure(objects: int, definitions: int, only: str, times: int) -> list[Found]:
    import multiprocessing

    found: list[Found] = []
    app = App(Settings(tls=False, limits=Limits()))
    await app.start()
    heart = Heart()
    try:
        port = int(app.url.rpartition(":")[2])
        wire = Wire(*await asyncio.open_connection("127.0.0.1", port))
        await fill(wire, app.token, objects, definitions)
        serve.settle()
        wanted = [each for each in (*bodies(), *writes(), *definitions_(), *reads()) if only in each[0]]
        context = multiprocessing.get_context("spawn")
        told, go = context.Queue(), context.Semaphore(0)
        process = context.Process(target=client, args=(port, app.token, wanted, times, told, go))
        process.start()
        print(HEADS)
        for name, _ in wanted:
            seen = []
            for _ in range(times):
                await asyncio.sleep(0.02)
                heart.begin()
                go.release()
                while told.empty():  # noqa: ASYNC110
                    await asyncio.sleep(0.0005)
                await asyncio.sleep(0.02)
                seen.append(Found(heart.longest, heart.spent(), name, told.get()))
            found.append(min(seen))
            print(found[-1], flush=True)
        process.join()
    finally:
        heart.stop()
        await app.stop()
    return sorted(found, reverse=True)


definitions_ = definitions


def main(smoke: bool = False, only: str = "", most: int = 10) -> list[Figure]:
    """Print the worst."""
    logging.getLogger("podless").setLevel(logging.ERROR)
    found = asyncio.run(measure(20 if smoke else 5000, 3 if smoke else 200, only, 1 if smoke else 2))
    print(f"the worst of {len(found)} requests, by the processor time that they held the loop for")
    print(HEADS)
    print(*found[:most], sep="\n")
    return [
        Figure("the worst request holds the loop for", found[0].hold.process * 1e3, "ms"),
        Figure("by the wall's clock", max(each.hold.wall for each in found) * 1e3, "ms"),
    ]


if __name__ == "__main__":
    import sys

    main("--smoke" in sys.argv, next((each for each in sys.argv[1:] if not each.startswith("-")), ""), 60)
