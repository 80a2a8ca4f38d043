"""An operator with kopf that copies a garden's color to its status.

The defect: it treats every error of the API as permanent, so that kopf does not call it again. With --mended it leaves
errors to kopf, which tries again.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import kopf
from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap

MENDED = bool(os.environ.get("MENDED")) or "--mended" in sys.argv
Garden = create_namespaced_resource("example.com", "v1", "Garden", "gardens")
client = Client()


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.posting.enabled = False
    settings.networking.error_backoffs = [0.05, 0.1, 0.2]


@kopf.on.create("gardens", backoff=0.1)
@kopf.on.update("gardens", backoff=0.1)
def plant(name: str, namespace: str, spec: kopf.Spec, **_: Any) -> None:
    data = {"color": spec["color"]}
    try:
        client.apply(
            ConfigMap("v1", "ConfigMap", metadata=ObjectMeta(name=f"{name}-paint", namespace=namespace), data=data),
            field_manager="gardens",
        )
    except ApiError as error:
        if MENDED:
            raise
        raise kopf.PermanentError(str(error)) from None


if __name__ == "__main__":
    kopf.run(namespaces=["default"])
