"""A pair: what is stored and what is asked, drawn from a seed; what it is made of, and smaller ones like it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random

from podless.runtime.jsonobject import Object
from tests.fuzz.adversary import stored
from tests.fuzz.adversary.acts import ACTS, FITTING
from tests.fuzz.adversary.fields import FORMS, of
from tests.fuzz.adversary.stored import GROUP, MORE, Ask, Place

_SMALL, _LARGE = 8, 3000  # of which a form makes a set-up or a body
_BYTES = 2_500_000  # of a body; the server takes no more than 3 MiB
_PARTS = ("fields", "more", "asked")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that is stored or asked. place: a number of its own, from which what is random in it follows."""

    name: str
    size: int
    place: int

    def __str__(self) -> str:
        return f"{self.name} ({self.size})"


@dataclass(frozen=True, slots=True)
class Pair:
    """What is stored: a definition whose spec has some fields, some columns, one version or two, and more. What is
    asked: some acts. sound: whether values fit the schema, so that work goes on behind it.
    """

    seed: str
    fields: tuple[Part, ...]
    more: tuple[Part, ...]
    asked: tuple[Part, ...]
    columns: int = 0
    versions: int = 1
    sound: bool = False

    @classmethod
    def of_all(cls) -> Pair:
        """A small one that has all that there is, so that all that it needs is imported."""

        def each(known: Iterable[str], start: int) -> tuple[Part, ...]:
            return tuple(Part(name, 3, start + index) for index, name in enumerate(known))

        return cls("all", each(FORMS, 0), each(MORE, 100), each(ACTS, 200), 5, 2, True)

    @classmethod
    def draw(cls, seed: str) -> Pair:
        """The pair of a seed."""
        random = Random(seed)

        def part(name: str, place: int, most: int = _LARGE) -> Part:
            size = round(_SMALL * math.exp(random.random() * math.log(most / _SMALL)))
            return Part(name, size, place)

        fields = tuple(part(random.choice(list(FORMS)), place) for place in range(random.choice((1, 1, 2, 3))))
        more = tuple(part(random.choice(list(MORE)), 10 + place) for place in range(random.choice((0, 1, 1, 2))))
        known = [act for each in more for act in FITTING.get(each.name, ()) if random.random() < 0.7]
        names = [*random.sample(known, k=min(2, len(known))), random.choice(list(ACTS))]
        asked = tuple(part(name, 20 + place) for place, name in enumerate(dict.fromkeys(names)))
        columns = random.choice((0, 0, 5, 60))
        return cls(seed, fields, more, asked, columns, random.choice((1, 1, 2)), random.random() < 0.6)

    def __str__(self) -> str:
        told = [f"{each}" for each in self.fields]
        told += [f"{self.columns} columns"] if self.columns else []
        told += [f"{self.versions} versions"] if self.versions > 1 else []
        told += [f"{each}" for each in self.more]
        told += ["values that fit"] if self.sound else []
        return f"{self.seed}: {'; '.join(told)} <- {'; '.join(map(str, self.asked))}"

    def smaller(self) -> Iterator[Pair]:
        """Pairs that lack one part, or have a smaller one; the smallest first."""
        for name in _PARTS:
            parts: tuple[Part, ...] = getattr(self, name)
            for place in range(len(parts)):
                if len(parts) > 1 or name == "more":
                    yield replace(self, **{name: parts[:place] + parts[place + 1 :]})  # type: ignore[arg-type]
        if self.columns:
            yield replace(self, columns=0)
        if self.versions > 1:
            yield replace(self, versions=1)
        for name in _PARTS:
            parts = getattr(self, name)
            for index, part in enumerate(parts):
                if part.size > 2 * _SMALL:
                    less = replace(part, size=part.size // 3)
                    yield replace(self, **{name: (*parts[:index], less, *parts[index + 1 :])})  # type: ignore[arg-type]

    def random(self, part: Part, more: str = "") -> Random:
        """What is random in a part: the same whatever other parts there are."""
        return Random(f"{self.seed}/{part.place}{more}")

    def definition(self, place: Place) -> Object:
        """The definition of the kind."""
        properties = {
            f"f{number}": FORMS[each.name].schema(self.random(each), each.size)
            for number, each in enumerate(self.fields)
        }
        spec = of(properties | {"n": {"type": "integer"}}) | {"description": f"{place.plural} of {self.seed}"}
        schema = of({"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}})
        scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
        columns = stored.columns(Random(self.seed), self.columns)
        version = {
            "served": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}, "scale": scale},
            **({"additionalPrinterColumns": columns} if columns else {}),
        }
        listed = [{**version, "name": f"v{number + 1}", "storage": not number} for number in range(self.versions)]
        names = {"plural": place.plural, "kind": place.plural.title()}
        body = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": listed}
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        return head | {"metadata": {"name": f"{place.plural}.{GROUP}"}, "spec": body}

    def spec(self, size: int) -> Object:
        """The spec of an object, for the size of a body."""
        made = {}
        for number, each in enumerate(self.fields):
            form = FORMS[each.name]
            value = (form.sound if self.sound else None) or form.value
            made[f"f{number}"] = value(self.random(each, f"/{size}"), each.size, size)
        return made

    def setup(self, place: Place) -> Iterator[Ask]:
        """What is stored before."""
        yield stored.post("/api/v1/namespaces", {"metadata": {"name": place.space}})
        yield stored.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", self.definition(place))
        for each in self.more:
            yield from MORE[each.name](self.random(each), each.size, place)

    def requests(self, place: Place) -> Iterator[Ask]:
        """What is asked then."""
        for each in self.asked:
            yield from ACTS[each.name](self.random(each), each.size, place, self.spec)


def encoded(ask: Ask) -> bytes | None:
    """The body as it is sent; None where it would be too long for any server."""
    if ask.body is None:
        return b""
    body = json.dumps(ask.body, separators=(",", ":")).encode()
    return body if len(body) <= _BYTES else None
