from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.blocks import Block, Command, read_commands, read_page
from tests.pages.sessions import matches

PAGE = """
<!-- session: server --controllers job -->
# Title

```yaml title="crd.yaml"
a: 1
```

<!-- not run: needs a cluster -->

```console
$ kubectl get nodes
```

1. In a list:

   ```console
   $ ls
   ```
"""


def test_a_page_is_read_with_its_files_sessions_and_server(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    page = read_page(path)
    assert page.server == ("--controllers", "job")
    assert [(block.language, block.title, block.unrun, block.text) for block in page.blocks] == [
        ("yaml", "crd.yaml", "", "a: 1\n"),
        ("console", "", "needs a cluster", "$ kubectl get nodes\n"),
        ("console", "", "", "$ ls\n"),
    ]


def test_a_block_that_does_not_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("```console\n$ ls\n")
    with pytest.raises(ValueError, match=r"page\.md:1"):
        read_page(path)


def test_commands_are_split_at_prompts() -> None:
    text = "$ echo a \\\n    b\na b\n$ cat <<E\n> x\n> E\nx\n$ true\n"
    assert [*read_commands(Block(1, "console", text))] == [
        Command(2, "echo a \\\n    b\n", "a b\n"),
        Command(5, "cat <<E\nx\nE\n", "x\n"),
        Command(9, "true\n", ""),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a b", "a   b\n", True),
        ("a b", "a c\n", False),
        ("a ... c", "a b b c\n", True),
        ("a 3s", "a 4s\n", False),
        ("a ...s", "a 4s\n", True),
        ("first\n...\nlast", "first\nx\ny\nlast\n", True),
        ("first\n...\nlast", "first\nlast\n", True),
        ("first\n...", "first\nx\ny\n", True),
        ("first", "first\nsecond\n", False),
        ("a.c", "abc\n", False),
    ],
)
def test_output_is_compared_with_what_is_left_open(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same
