"""Reads a Markdown page as what its reader meets: files to save, sessions to type, programs to run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NOTE = re.compile(r"^\s*<!-- (not run|session): (.*?) -->\s*$")
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)(?P<more>[^`]*)$")
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. line: its first line in the page, from 1. title: the file that the reader saves it as.

    unrun: why the block is not executed; "" if it is.
    """

    line: int
    language: str
    text: str
    title: str = ""
    unrun: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a session and the output that the page shows; an empty output is not compared."""

    line: int
    text: str
    output: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page in parts. server: options of the server that its sessions expect to be running; None for no server."""

    path: Path
    blocks: tuple[Block, ...]
    server: tuple[str, ...] | None


def read_page(path: Path) -> Page:
    """Return the blocks of a page in their order. Raises ValueError for a block that does not end."""
    lines = path.read_text().splitlines()
    blocks: list[Block] = []
    server: tuple[str, ...] | None = None
    unrun = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if note := _NOTE.match(line):
            if note[1] == "not run":
                unrun = note[2]
            else:
                server = tuple(note[2].removeprefix("server").split())
        elif fence := _FENCE.match(line):
            begin, close = number, fence["indent"] + "```"
            while number < len(lines) and lines[number].rstrip() != close:
                number += 1
            if number == len(lines):
                raise ValueError(f"{path}:{begin}: the block does not end")
            text = "".join(f"{each.removeprefix(fence['indent'])}\n" for each in lines[begin:number])
            title = _TITLE.search(fence["more"])
            blocks.append(Block(begin, fence["language"], text, title[1] if title else "", unrun))
            unrun = ""
            number += 1
        elif line.strip():
            unrun = ""
    return Page(path, tuple(blocks), server)


def read_commands(block: Block) -> Iterator[Command]:
    """Split a session at its prompts: `$ ` begins a command, `> ` continues it, all else is output."""
    command, output, at = "", "", block.line
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ ") or (line.startswith("> ") and not output and command):
            if line.startswith("$ "):
                if command:
                    yield Command(at, command, output)
                command, output, at = "", "", number
            command += f"{line[2:]}\n"
        elif not command:
            raise ValueError(f"line {number} is before the first prompt")
        elif command.endswith("\\\n") and not output:
            command += f"{line}\n"
        else:
            output += f"{line}\n"
    if command:
        yield Command(at, command, output)
