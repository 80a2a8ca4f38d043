"""Columns of extensions."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import NAME, Cell, Of, at, text

COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "thirdpartyresources": (
        NAME,
        Cell("Description", "string", Of("extensions", "ThirdPartyResource", "description"), text("description")),
        Cell(
            "Version(s)",
            "string",
            Of("extensions", "ThirdPartyResource", "versions"),
            lambda obj: ",".join(str(at(one, "name")) for one in at(obj, "versions", default=())),
        ),
    )
}
