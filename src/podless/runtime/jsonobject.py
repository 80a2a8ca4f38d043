"""The Python type of a JSON object. `Schema` is the type of OpenAPI schemas."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
Schema = dict[str, Any]
