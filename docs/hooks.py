"""A hook of mkdocs: makes the navigation, and links to files of the repository.

The pages of a section come in the order in which its index.md links to them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SECTIONS = {
    "Tutorials": "tutorials",
    "How-to guides": "how-to",
    "Reference": "reference",
    "Explanation": "explanation",
}
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:src|examples|tests|deploy|bench)/?[^)]*|[A-Z]+(?:\.md)?)\)")
_LINK = re.compile(r"\]\(([\w./-]+\.md)(?:#[\w-]*)?\)")


def section_pages(docs: Path, folder: str) -> list[str]:
    """Return the pages of a section below docs/, first its index, then those that the index links to, in order."""
    index = docs / folder / "index.md"
    linked = [(index.parent / target).resolve() for target in _LINK.findall(index.read_text())]
    here = [path.relative_to(docs.resolve()).as_posix() for path in linked if path.is_relative_to(docs.resolve())]
    return [f"{folder}/index.md", *dict.fromkeys(page for page in here if page.startswith(f"{folder}/"))]


def on_config(config: Any) -> Any:
    """Set the navigation."""
    docs = Path(config["docs_dir"])
    sections: list[dict[str, list[Any]]] = [
        {title: list(section_pages(docs, folder))} for title, folder in SECTIONS.items()
    ]
    decisions = [
        f"explanation/decisions/{path.name}" for path in sorted((docs / "explanation/decisions").glob("[0-9]*"))
    ]
    overview = "explanation/decisions/README.md"
    explanation = sections[-1]["Explanation"]
    explanation[explanation.index(overview)] = {"Decisions": [overview, *decisions]}
    config["nav"] = [{"Home": "index.md"}, *sections]
    return config


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """Let links that leave docs/ lead to the repository, or make them plain text without a repository URL."""
    base = str(config.get("repo_url") or "").rstrip("/")

    def replace(link: re.Match[str]) -> str:
        return f"[{link[1]}]({base}/blob/main/{link[2]})" if base else link[1]

    return _OUTSIDE.sub(replace, markdown)
