"""A hook of mkdocs: links that leave docs/ lead to the repository, or become plain text without a repository URL."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:src|examples|tests|deploy|bench)/?[^)]*|[A-Z]+(?:\.md)?)\)")


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """Replace the links of a page before it is rendered."""
    base = str(config.get("repo_url") or "").rstrip("/")

    def replace(link: re.Match[str]) -> str:
        return f"[{link[1]}]({base}/blob/main/{link[2]})" if base else link[1]

    return _OUTSIDE.sub(replace, markdown)
