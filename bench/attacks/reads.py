"""Watches, tables and other versions (rows C, G and I)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.asks.ask import CRDS, GROUP, JSON, MAPS, Ask, config, named
from bench.attacks.attack import TABLE, Attack, Site, defined, get, merge, numbers, objects, post

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _events(site: Site) -> Sequence[Ask]:
    return [post(MAPS, config(f"c{number}", {"a": "b"})) for number in range(10)]


def _selecting(site: Site) -> Sequence[Ask]:
    """Watches by selectors that are all others."""
    return [
        get(f"{MAPS}?watch=1&labelSelector=" + ",".join(f"!{number}x{label:x}" for label in range(site.many(6200))))
        for number in range(site.many(300))
    ]


def _by_fields(site: Site) -> Sequence[Ask]:
    many = site.many(2400)
    return [
        get(f"{MAPS}?watch=1&fieldSelector=" + ",".join(f"metadata.name!={number}x{name:x}" for name in range(many)))
        for number in range(site.many(300))
    ]


def _columns(site: Site) -> str:
    """A kind of very many columns, and an object of 0.9 MB."""
    columns = [{"name": name, "type": "string", "jsonPath": "..a"} for name in numbers("c", site.many(60))]
    path = site.define(_ANY, additionalPrinterColumns=columns)
    site.post(path, named({"l": [{"a": number} for number in range(site.many(75_000))]}))
    return path


_PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def _table(one: bool) -> Callable[[Site], Sequence[Ask]]:
    def setup(site: Site) -> Sequence[Ask]:
        path = _columns(site)
        return [get(f"{path}/a" if one else path, TABLE)]

    return setup


def _abreast(query: str, accept: str) -> Callable[[Site], Sequence[Ask]]:
    def setup(site: Site) -> Sequence[Ask]:
        return [get(f"{_columns(site)}{query}", accept)] * site.many(100)

    return setup


def _nothing(site: Site) -> Sequence[Ask]:
    _columns(site)
    return []


def _table_of_change(site: Site) -> Sequence[Ask]:
    path = _columns(site)
    return [merge(f"{path}/a", {"metadata": {"labels": {"a": "b"}}})]


def _other_version(site: Site) -> Sequence[Ask]:
    """Objects that are stored in another version than they are asked for."""
    definition = defined(_ANY)
    versions = definition["spec"]["versions"]
    versions.append({**versions[0], "name": "v2", "storage": False})
    site.post(CRDS, definition)
    body = {"l": [{"a": "some text"} for _ in range(45_000)]}
    for name in numbers("t", site.many(40)):
        site.post(objects(), named(body, name))
    return [get(f"/apis/{GROUP}/v2/namespaces/default/things")]


ATTACKS = [
    Attack("C", "300 watches with 58 KB of labels that are not there, 10 creates", _events, _selecting),
    Attack("C2", "300 watches with 45 KB of names, 10 creates", _events, _by_fields),
    Attack("G1", "60 columns `..a`, an object of 0.9 MB as Table", _table(True)),
    Attack("G2", "60 columns `..a`, a list of it as Table", _table(False)),
    Attack(
        "G3",
        "60 columns `..a`, a change of it in 3 watches as Table",
        _table_of_change,
        lambda site: [get(f"{objects()}?watch=1", TABLE)] * 3,
    ),
    Attack("G4", "100 GETs at once of an object of 0.9 MB as Table", _abreast("/a", TABLE), abreast=100),
    Attack("G5", "100 lists at once of an object of 0.9 MB as Table", _abreast("", TABLE), abreast=100),
    Attack(
        "G6",
        "100 watches as Table of an object of 0.9 MB",
        _nothing,
        lambda site: [get(f"{objects()}?watch=1", TABLE)] * site.many(100),
    ),
    Attack("G7", "100 GETs at once of an object of 0.9 MB for people", _abreast("/a?pretty=1", JSON), abreast=100),
    Attack("G8", "100 lists at once of the metadata of an object of 0.9 MB", _abreast("", _PARTIAL), abreast=100),
    Attack("I", "40 objects of 0.9 MB in a version that is not the stored one", _other_version),
]
