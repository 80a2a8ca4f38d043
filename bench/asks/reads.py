"""Selectors, tokens, lists in every form, documents."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator

from bench.asks.ask import GROUP, JSON, MAPS, PROTOBUF, THINGS, YAML, Ask, ask


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
