"""Completion in shells and the manual page: both from the options that the commands declare."""

from __future__ import annotations

import argparse
import builtins
import shutil
import subprocess
from typing import Any

import pytest

from podless.cli import main
from tests.pages.manual import build_manual


def complete(script: str, *words: str) -> list[str]:
    """What bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in ("podless", *words))
    asked = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_podless podless; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not on this machine")
def test_bash_completes_commands_options_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert complete(script, "comple") == ["completion"]
    assert complete(script, "serve", "--etcd-serv") == ["--etcd-servers"]
    assert complete(script, "serve", "--store", "") == ["sqlite", "etcd"]


def test_zsh_gets_a_script_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef podless")


def test_without_shtab_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = builtins.__import__

    def lacking(name: str, *more: Any, **named: Any) -> Any:
        if name == "shtab":
            raise ImportError(name)
        return known(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", lacking)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'podless[completion]'" in capsys.readouterr().err


def test_the_manual_has_every_command() -> None:
    manpage = pytest.importorskip("argparse_manpage.manpage", reason="argparse-manpage is not installed")
    parser = build_manual()
    text = str(manpage.Manpage(parser)).replace("\\-", "-")
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    assert [name for name in commands.choices if f"podless {name}" not in text] == []
    assert "--etcd-servers" in text
    assert "port to listen on; 0 for any free port (default: 6443)" in text
