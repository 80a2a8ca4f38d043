"""Two normalised answers side by side."""

from __future__ import annotations

import json
from typing import Any

_UNWORDED = ("message", "lastTransitionTime", "lastUpdateTime")


def equal(got: Any, want: Any) -> bool:
    """Whether they are equal as JSON: unlike in Python, 1, 1.0 and true are three different things."""
    return json.dumps(got, sort_keys=True) == json.dumps(want, sort_keys=True)


def meaning(answer: Any) -> Any:
    """What an answer says, without the wording of its messages."""
    if not isinstance(answer, dict) or "body" not in answer:
        return answer
    body = answer["body"]
    if not (isinstance(body, dict) and body.get("kind") == "Status"):
        return {"status": answer["status"], "body": _unworded(body)}
    details = body.get("details") or {}
    causes = sorted({(cause.get("reason") or "", cause.get("field") or "") for cause in details.get("causes") or []})
    kept = {key: details.get(key) for key in ("name", "group", "kind")}
    return {"status": answer["status"], "reason": body.get("reason"), "causes": causes, "details": kept}


def _unworded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unworded(item) for key, item in value.items() if key not in _UNWORDED}
    return [_unworded(item) for item in value] if isinstance(value, list) else value


def difference(got: Any, want: Any, path: str = "") -> list[str]:
    """The places where they differ, one a line."""
    if isinstance(got, dict) and isinstance(want, dict):
        lines = []
        for key in sorted({*got, *want}):
            if key not in got:
                lines.append(f"{path}.{key}: missing, want {_short(want[key])}")
            elif key not in want:
                lines.append(f"{path}.{key}: got {_short(got[key])}, want nothing")
            elif not equal(got[key], want[key]):
                lines += difference(got[key], want[key], f"{path}.{key}")
        return lines
    if isinstance(got, list) and isinstance(want, list):
        if len(got) != len(want):
            return [f"{path}: got {len(got)} items {_short(got)}, want {len(want)} {_short(want)}"]
        pairs = enumerate(zip(got, want, strict=True))
        return [
            line
            for number, (one, other) in pairs
            if not equal(one, other)
            for line in difference(one, other, f"{path}[{number}]")
        ]
    return [f"{path or '.'}: got {_short(got)}, want {_short(want)}"]


def _short(value: Any, most: int = 300) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[:most] + "…"
