"""Printer columns of extensions."""

from __future__ import annotations

from podless.apis.shared.columns import NAME, Columns, Object, at, string


def _read_versions(obj: Object) -> str:
    return ",".join(str(at(version, "name")) for version in at(obj, "versions", default=()))


COLUMNS: Columns = {
    "thirdpartyresources": (
        NAME,
        string("Description", "ThirdPartyResource.description"),
        string("Version(s)", "ThirdPartyResource.versions", _read_versions),
    )
}
