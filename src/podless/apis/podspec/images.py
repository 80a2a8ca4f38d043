"""Names of images: which tag one asks for. Source: the grammar of distribution's reference package, as recorded."""

from __future__ import annotations

import re

_LATEST = "latest"
_MOST_NAME = 255
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_LABEL = r"[a-zA-Z0-9]++(?:-++[a-zA-Z0-9]++)*+"
_DOMAIN = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*+|\[[a-fA-F0-9:]++\])(?::[0-9]++)?+")
_PART = r"[a-z0-9]++(?:(?:__|[._]|-++)[a-z0-9]++)*+"
_COMPONENT = re.compile(_PART)
_REST = re.compile(rf"(?P<path>{_PART}(?:/{_PART})*+)(?::(?P<tag>\w[\w.-]{{0,127}}+))?+(?P<digest>@.*)?", re.ASCII)
_DIGESTS = re.compile(r"@sha256:[a-f0-9]{64}|@sha384:[a-f0-9]{96}|@sha512:[a-f0-9]{128}")


def is_latest(image: str) -> bool:
    """Whether an image is asked for by the tag latest, or by no tag and no digest; False for what is no image name."""
    if _IDENTIFIER.fullmatch(image):
        return False
    first, slash, rest = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost" or first.lower() != first):
        domain = first
    else:
        domain, rest = "docker.io", image
    if not _DOMAIN.fullmatch(domain) and not _COMPONENT.fullmatch(domain):
        return False
    found = _REST.fullmatch(rest)
    if found is None or len(domain) + 1 + len(found["path"]) > _MOST_NAME:
        return False
    if found["digest"]:
        return found["tag"] == _LATEST and _DIGESTS.fullmatch(found["digest"]) is not None
    return found["tag"] in (None, _LATEST)
