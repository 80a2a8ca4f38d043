"""Long texts where short ones are meant, reviews of much, watches that begin with all states, large literals."""

from __future__ import annotations

import base64
import urllib.parse
from collections.abc import Iterator
from typing import Any

from bench.asks.ask import (
    APPLY,
    CRDS,
    JSON,
    MAPS,
    MAX,
    PATCH,
    PROTOBUF,
    ROLES,
    STRATEGIC,
    THINGS,
    YAML,
    Ask,
    ask,
    config,
    crd,
    text,
    upto,
)

DEFAULT = "/api/v1/namespaces/default"
AUTHORIZATION, AUTHENTICATION = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
LONG = 60_000  # characters in a head
MUCH = 1_000_000  # characters in a body


def setup() -> Iterator[Ask]:
    """A user with many roles."""
    bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
    for number in range(200):
        rules = [
            {"verbs": ["get"], "apiGroups": [f"g{number}"], "resources": [f"r{n}"], "resourceNames": [f"n{number}-{n}"]}
            for n in range(100)
        ]
        name = f"much{number}"
        yield ask("POST", ROLES, text({"metadata": {"name": name}, "rules": rules}))
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        who = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "much"}]
        yield ask("POST", bindings, text({"metadata": {"name": name}, "roleRef": ref, "subjects": who}))


def places() -> Iterator[tuple[str, Ask]]:
    """All of them."""
    yield from _reviews()
    yield from _heads()
    yield from _watches()
    yield from _values()
    yield from _errors()
    yield from _zeros()
    yield from _definitions()
    yield from _options()


def _reviews() -> Iterator[tuple[str, Ask]]:
    rules = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    yield "review: 20,000 rules", ask("POST", rules, text({"spec": {"namespace": "default"}}), Impersonate_User="much")
    access = f"{AUTHORIZATION}/subjectaccessreviews"
    get = {"verb": "get", "resource": "pods"}
    groups = [f"g{n}" for n in range(250_000)]
    yield (
        "review: groups",
        ask("POST", access, text({"spec": {"user": "a", "groups": groups, "resourceAttributes": get}})),
    )
    extra = {f"k{n}": ["v"] for n in range(150_000)}
    yield "review: extra", ask("POST", access, text({"spec": {"user": "a", "extra": extra, "resourceAttributes": get}}))
    many = {"k": [f"v{n}" for n in range(250_000)]}
    yield (
        "review: one extra",
        ask("POST", access, text({"spec": {"user": "a", "extra": many, "resourceAttributes": get}})),
    )
    tokens = f"{AUTHENTICATION}/tokenreviews"
    audiences = [f"a{n}" for n in range(250_000)]
    yield "review: audiences", ask("POST", tokens, text({"spec": {"token": "a", "audiences": audiences}}))
    token = f"{DEFAULT}/serviceaccounts/default/token"
    yield "token request: audiences", ask("POST", token, text({"spec": {"audiences": audiences}}))


def _heads() -> Iterator[tuple[str, Ask]]:
    for name, token in (
        ("dots", "a." * (LONG // 2)),
        ("a token of bad base64", ".".join(("!" * 20_000,) * 3)),
        (
            "a token with a long head",
            ".".join((base64.urlsafe_b64encode(b'{"alg":"' + b"[" * 30_000).decode(), "e30", "x")),
        ),
        (
            "a token with deep claims",
            ".".join(("eyJhbGciOiJFUzI1NiJ9", base64.urlsafe_b64encode(b"[" * 40_000).decode(), "x")),
        ),
    ):
        yield f"head: {name}", ask("GET", MAPS, Authorization=f"Bearer {token}")
    extras = {f"Impersonate-Extra-k{n}": "v" for n in range(2000)}
    yield "head: impersonated extras", ask("GET", f"{MAPS}/big", b"", JSON, Impersonate_User="u", **extras)
    escaped = {f"Impersonate-Extra-{'%41' * 20}{n}": "v" for n in range(700)}
    yield "head: escaped extras", ask("GET", f"{MAPS}/big", b"", JSON, Impersonate_User="u", **escaped)
    for name, path in (
        ("slashes", "/" * LONG),
        ("dots", "/." * (LONG // 2)),
        ("escapes", "/api/v1/namespaces/" + "%41" * (LONG // 3)),
        ("segments", "/apis/" + "a/" * (LONG // 2)),
        ("a command", f"{DEFAULT}/pods/a/exec?" + "command=a&" * (LONG // 10)),
        ("a proxy", f"{DEFAULT}/services/a:b/proxy/" + "a/" * (LONG // 2)),
    ):
        yield f"path: {name}", ask("GET", path)
    quote = urllib.parse.quote
    for name, query in (
        ("field selectors", "fieldSelector=" + ",".join(["metadata.name=a"] * (LONG // 16))),
        ("unknown fields", "fieldSelector=" + ",".join([f"a{n}=b" for n in range(LONG // 9)])),
        ("keys that are not there", "labelSelector=" + quote(",".join(f"!k{n}" for n in range(LONG // 9)), safe=",!")),
        ("values", "labelSelector=" + quote("a notin (" + ",".join(f"v{n}" for n in range(8000)) + ")", safe=",!()")),
        ("a limit", "limit=" + "9" * LONG),
        ("a continue token of JSON", "limit=1&continue=" + base64.urlsafe_b64encode(b"[" * 40_000).decode()),
        ("a manager", "fieldManager=" + "m" * LONG),
    ):
        yield f"query: {name}", ask("GET", f"{MAPS}?{query}")
        yield f"query of a deletion: {name}", ask("DELETE", f"{MAPS}?dryRun=All&{query}")
    yield "query: a manager that applies", ask("PATCH", f"{MAPS}/y?fieldManager={'m' * LONG}", text(config("y")), APPLY)


def _watches() -> Iterator[tuple[str, Ask]]:
    begin = "watch=1&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    for name, path in (("custom objects", THINGS), ("config maps", MAPS)):
        for form, accept in (("json", JSON), ("table", TABLE), ("metadata", PARTIAL), ("protobuf", PROTOBUF)):
            yield f"watch of all {name} as {form}", ask("GET", f"{path}?{begin}", Accept=accept)
        yield f"watch of all {name}, selected", ask("GET", f"{path}?{begin}&labelSelector=a%21%3Db")
        yield f"watch of {name} from 0", ask("GET", f"{path}?watch=1&timeoutSeconds=1&resourceVersion=0")


def _values() -> Iterator[tuple[str, Ask]]:
    """One long text, where numbers, times, names and addresses are."""
    job = {"jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": []}}}}}
    for name, schedule in (
        ("steps", "*/1," * (MUCH // 4)),
        ("numbers", "1," * (MUCH // 2)),
        ("a zone", "TZ=" + "a" * MUCH),
    ):
        body = {"metadata": {"name": "x"}, "spec": {"schedule": schedule, **job}}
        path = "/apis/batch/v1/namespaces/default/cronjobs?dryRun=All"
        yield f"schedule: {name}", ask("POST", path, text(body))
    for name, amount in (
        ("digits", "1" * MUCH),
        ("zeros", "0." + "0" * MUCH + "1"),
        ("an exponent", "1e" + "9" * MUCH),
        ("a small exponent", "1e-" + "9" * 9),
        ("nonsense", "1" * MUCH + "x"),
    ):
        body = {"metadata": {"name": "x"}, "spec": {"hard": {"cpu": amount}}}
        yield f"quantity: {name}", ask("POST", f"{DEFAULT}/resourcequotas?dryRun=All", text(body))
    hard = {f"count/r{n}.example.com": "1" for n in range(80_000)}
    quota = {"metadata": {"name": "x"}, "spec": {"hard": hard}}
    yield "quantities: 80,000", ask("POST", f"{DEFAULT}/resourcequotas?dryRun=All", text(quota))
    for name, address in (
        ("digits", "1" * MUCH),
        ("colons", ":" * MUCH),
        ("dots", "1." * (MUCH // 2)),
        ("a prefix", "::/" + "1" * MUCH),
    ):
        spec: dict[str, Any] = {"clusterIP": address, "ports": [{"port": 1}], "loadBalancerSourceRanges": [address]}
        yield (
            f"address: {name}",
            ask("POST", f"{DEFAULT}/services?dryRun=All", text({"metadata": {"name": "x"}, "spec": spec})),
        )
    for name, field in (
        ("a name", "name"),
        ("a generated name", "generateName"),
        ("a uid", "uid"),
        ("a time", "creationTimestamp"),
    ):
        for char in ("a", "-", "A.", "9"):
            body = {"metadata": {"name": "x", field: char * MUCH}}
            yield f"metadata: {name} of {char}", ask("POST", f"{MAPS}?dryRun=All", text(body))
    fields = b",".join(
        b'{"manager":"m%d","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}' % n
        for n in range(25_000)
    )
    body_ = text(config("x")).replace(b'"name":"x"', b'"name":"x","managedFields":[%b]' % fields)
    yield "metadata: managers", ask("POST", f"{MAPS}?dryRun=All", body_)
    one = b'{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{%b}}}'
    wide = text(config("x")).replace(
        b'"name":"x"', b'"name":"x","managedFields":[%b]' % (one % upto(lambda n: b'"f:k%d":{}' % n, MAX - 500))
    )
    yield "metadata: a manager of much", ask("POST", f"{MAPS}?dryRun=All", wide)
    owners = upto(lambda n: b'{"apiVersion":"v1","kind":"Pod","name":"p%d","uid":"u%d"}' % (n, n), MAX - 500)
    yield (
        "metadata: owners",
        ask("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"x","ownerReferences":[%b]}}' % owners),
    )
    secret = {"metadata": {"name": "x"}, "data": {"a": "QUFB" * (MUCH // 4)}}
    yield "secret: base64", ask("POST", f"{DEFAULT}/secrets?dryRun=All", text(secret))
    secret["data"] = {"a": "QUF!" * (MUCH // 4)}
    yield "secret: bad base64", ask("POST", f"{DEFAULT}/secrets?dryRun=All", text(secret))
    pem = b"-----BEGIN CERTIFICATE REQUEST-----\n" + b"QUFB" * 15 * 12_000 + b"\n-----END CERTIFICATE REQUEST-----\n"
    request = {"request": base64.b64encode(pem).decode(), "signerName": "a.b/c", "usages": ["client auth"]}
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All"
    yield "certificate request", ask("POST", path, text({"metadata": {"name": "x"}, "spec": request}))


def _errors() -> Iterator[tuple[str, Ask]]:
    """Bodies that are told back, in each form."""
    body = b'{"spec":[%b]}' % upto(lambda n: b'"a"')
    for form, accept in (("json", JSON), ("yaml", YAML), ("protobuf", PROTOBUF)):
        yield f"no kind, as {form}", ask("POST", f"{THINGS}?dryRun=All", body, Accept=accept)
    yield "no kind, for people", ask("POST", f"{THINGS}?dryRun=All&pretty=1", body, User_Agent="curl/8")
    ports = b'{"metadata":{"name":"x"},"spec":{"ports":[%b]}}' % upto(lambda n: b"{}")
    for form, accept in (("json", JSON), ("yaml", YAML), ("protobuf", PROTOBUF)):
        yield f"service: wrong ports, as {form}", ask("POST", f"{DEFAULT}/services?dryRun=All", ports, Accept=accept)
    hosts = b'{"metadata":{"name":"x"},"spec":{"rules":[%b]}}' % upto(lambda n: b'{"host":"-"}')
    yield (
        "ingress: wrong rules",
        ask("POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses?dryRun=All", hosts),
    )
    subsets = b'{"metadata":{"name":"x"},"subsets":[{"addresses":[%b]}]}' % upto(lambda n: b'{"ip":"x"}')
    yield "endpoints: wrong addresses", ask("POST", f"{DEFAULT}/endpoints?dryRun=All", subsets)
    test = b'{"op":"test","path":"/spec","value":{"any":[%b]}}' % upto(lambda n: b"1", MAX - 300)
    yield "json patch: a long test", ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b]" % test, PATCH)
    tests = upto(lambda n: b'{"op":"test","path":"/spec/any/0","value":0}', MAX - 300)
    yield "json patch: too many tests", ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b]" % tests, PATCH)
    add = b'{"op":"add","path":"/spec/any","value":[%b]},' % upto(lambda n: b"0", MAX - 3000)
    test = b",".join([b'{"op":"test","path":"/spec/any/1","value":0}'] * 60)
    yield (
        "json patch: tests behind a long value",
        ask("PATCH", f"{THINGS}/one?dryRun=All", b"[%b%b]" % (add, test), PATCH),
    )
    many = b'{"data":{%b}}' % upto(lambda n: b'"k%d":"v"' % n)
    yield "strategic merge: keys", ask("PATCH", f"{MAPS}/big?dryRun=All", many, STRATEGIC)
    ports = b'{"spec":{"ports":[%b]}}' % upto(lambda n: b'{"port":%d,"$patch":"delete"}' % n)
    yield "strategic merge: deletions", ask("PATCH", f"{DEFAULT}/services/every-service?dryRun=All", ports, STRATEGIC)
    yield "config map of many keys, told as protobuf", ask("POST", f"{MAPS}?dryRun=All", _keys(), Accept=PROTOBUF)
    yield "config map of many keys, told as YAML", ask("POST", f"{MAPS}?dryRun=All", _keys(), Accept=YAML)
    order = b'{"spec":{"$setElementOrder/ports":[%b]}}' % upto(lambda n: b'{"port":%d}' % n)
    yield "strategic merge: an order", ask("PATCH", f"{DEFAULT}/services/every-service?dryRun=All", order, STRATEGIC)
    yield "delete: options", ask("DELETE", f"{MAPS}/big?dryRun=All", b"{%b}" % upto(lambda n: b'"k%d":1' % n))


def _keys() -> bytes:
    return b'{"metadata":{"name":"x"},"data":{%b}}' % upto(lambda n: b'"k%d":"v"' % n)


def _zeros() -> Iterator[tuple[str, Ask]]:
    """Many items that say nothing, each of which breaks rules."""
    for name, path, head, item in (
        ("service: empty families", f"{DEFAULT}/services", b'"spec":{"ipFamilies"', b'""'),
        ("pod: empty containers", f"{DEFAULT}/pods", b'"spec":{"containers"', b"{}"),
        ("pod: empty constraints", f"{DEFAULT}/pods", b'"spec":{"topologySpreadConstraints"', b"{}"),
        ("node: empty taints", "/api/v1/nodes", b'"spec":{"taints"', b"{}"),
        ("definition: empty versions", CRDS, b'"spec":{"versions"', b"{}"),
        ("definition: empty names", CRDS, b'"spec":{"names":{"shortNames"', b'""'),
    ):
        many = b",".join([item] * ((MAX - 300) // (len(item) + 1)))
        body = b'{"metadata":{"name":"x"},%b:[%b]%b}' % (head, many, b"}" * head.count(b"{"))
        yield name, ask("POST", f"{path}?dryRun=All", body)


def _definitions() -> Iterator[tuple[str, Ask]]:
    dry = f"{CRDS}?dryRun=All"
    for name, pattern in (
        ("letters", "a" * MUCH),
        ("choices", "|".join(f"a{n}" for n in range(150_000))),
        ("groups", "(a)" * (MUCH // 3)),
        ("nested groups", "(" * (MUCH // 2) + ")" * (MUCH // 2)),
        ("repeats", "a{1,2}" * (MUCH // 6)),
        ("classes", "[a-z]" * (MUCH // 5)),
        ("one class", "[" + "ab" * (MUCH // 2) + "]"),
        ("what may be left out", "a?" * 3900),
        ("much that may be left out", "a?" * (MUCH // 2)),
        ("classes of Unicode", r"\p{L}{1,255}"),
        ("many classes of Unicode", r"\pL" * (MUCH // 3)),
        ("folded letters", "(?i)" + "k" * 35_000),
        ("as many letters as may be", "ab" * 120_000),
    ):
        schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}}}
        yield f"pattern: {name}", ask("POST", dry, text(crd("defined", schema)))
    many = {
        "type": "object",
        "properties": {f"p{n}": {"type": "string", "pattern": f"^a{n}[a-z]+$"} for n in range(40_000)},
    }
    yield "pattern: 40,000 of them", ask("POST", dry, text(crd("defined", many)))
    for name, rule in (
        ("a text", "self.s == '" + "a" * MUCH + "'"),
        ("a list", "self.s in [" + ",".join(f"'{n}'" for n in range(120_000)) + "]"),
        ("a map", "self.s in {" + ",".join(f"'{n}':1" for n in range(80_000)) + "}"),
        ("a number", "1 == " + "1" * MUCH),
        ("sums", "+".join(["1"] * (MUCH // 4)) + "== 1"),
        ("brackets", "(" * (MUCH // 4) + "true" + ")" * (MUCH // 4)),
        ("a pattern", "self.s.matches('" + "(a|b)" * (MUCH // 8) + "')"),
        ("escapes", r"self.s == '" + r"\u0041" * (MUCH // 8) + "'"),
    ):
        rules = [{"rule": rule}]
        ruled: dict[str, Any] = {
            "type": "object",
            "properties": {"s": {"type": "string", "maxLength": 9}},
            "x-kubernetes-validations": rules,
        }
        yield f"rule: {name}", ask("POST", dry, text(crd("defined", ruled)))


def _options() -> Iterator[tuple[str, Ask]]:
    hpa = b'{"metadata":{"name":"x"},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[%b]}}'
    metrics = upto(lambda n: b'{"type":"Resource","resource":{"name":"r%d","target":{"type":"Value","value":"1"}}}' % n)
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?dryRun=All"
    yield "autoscaler: metrics", ask("POST", path, hpa % metrics[: MAX - 500].rpartition(b",{")[0])
    scale = b'{"metadata":{"name":"x"},"spec":{%b}}' % upto(lambda n: b'"k%d":1' % n, MAX - 500)
    yield (
        "scale: unknown fields",
        ask("PUT", "/apis/apps/v1/namespaces/default/deployments/every-deployment/scale", scale),
    )
    eviction = b'{"metadata":{"name":"x"},"deleteOptions":{"dryRun":[%b]}}' % upto(lambda n: b'"All"', MAX - 500)
    yield "eviction: dry runs", ask("POST", f"{DEFAULT}/pods/every-pod/eviction", eviction)
    labels = {f"k{n}": "v" for n in range(150_000)}
    selector = {"metadata": {"name": "x"}, "spec": {"podSelector": {"matchLabels": labels}}}
    yield (
        "network policy: a selector",
        ask("POST", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies?dryRun=All", text(selector)),
    )
