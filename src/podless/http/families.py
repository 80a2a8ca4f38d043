"""The metric families of /metrics, from families.txt, with kube-apiserver's names, labels and types where it has them.

Source: k8s.io/apiserver's pkg/endpoints/metrics, pkg/util/flowcontrol/metrics and pkg/storage/etcd3/metrics; and
Prometheus' clients for Go and Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from podless.runtime.datafiles import read_rows
from podless.runtime.histogram import Histogram


class Family(NamedTuple):
    """A metric family. labels: their names, in the order of the values of a sample."""

    type: str
    help: str
    labels: tuple[str, ...] = ()


FAMILIES = {
    name: Family(type_, text, tuple(labels[0].split()) if labels else ())
    for name, type_, text, *labels in read_rows(Path(__file__).with_name("families.txt"))
}
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[tuple[str, ...], float | Histogram]


def render_family(name: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of a family. samples: label values, each with a number or a histogram."""
    family = FAMILIES[name]
    yield f"# HELP {name} {family.help}\n# TYPE {name} {family.type}\n"
    for values, sample in samples:
        labels = ",".join(
            f'{label}="{value.translate(_ESCAPED)}"' for label, value in zip(family.labels, values, strict=True)
        )
        if isinstance(sample, Histogram):
            yield from sample.format_samples(name, labels)
        else:
            yield f"{name}{{{labels}}} {sample}\n" if labels else f"{name} {sample}\n"
