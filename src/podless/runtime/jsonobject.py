"""What a JSON object is in Python. `Schema` says that it is an OpenAPI schema."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
Schema = dict[str, Any]
