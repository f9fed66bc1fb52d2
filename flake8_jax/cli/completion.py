"""``jaxlint completion``: the script that completes commands, options and rules in a shell.

Limitations: codes of rules that are installed later are completed when the script is made again. Options in front of the
command, and those of ``check`` without its name, are not completed.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import tell

SHELLS = ("bash", "zsh", "fish")
_ELSEWHERE = {
    "rule": ("rules", "rule_parser"),
    "rules": ("rules", "rules_parser"),
    "config": ("config", "config_parser"),
    "clean": ("config", "clean_parser"),
}
"""Commands whose parser is in the module of another one, or has another name than ``parser``."""
_FILES = frozenset({"PATH", "FILE", "PATH[:LINE]", "PATH|KEY=VALUE", "FILE:LINE"})
_FOLDERS = frozenset({"DIRECTORY", "DIR"})
_RULES = frozenset({"RULES", "CODE|NAME", "CODE"})
_EPILOG = """\
To use it in every new shell:
  bash  jaxlint completion bash > ~/.local/share/bash-completion/completions/jaxlint
  zsh   jaxlint completion zsh > ~/.zfunc/_jaxlint     # with `fpath+=~/.zfunc; autoload -Uz compinit; compinit` in ~/.zshrc
  fish  jaxlint completion fish > ~/.config/fish/completions/jaxlint.fish
"""


def parser() -> CommandParser:
    """The options of ``completion``."""
    made = CommandParser(
        prog="jaxlint completion",
        description="Print the script that completes jaxlint's commands, options and rules in a shell.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("shell", choices=SHELLS, help="print the script for this shell")
    return made


def run(arguments: Sequence[str]) -> int:
    """Print the script; returns the exit status."""
    args = parser().parse_args(arguments)
    try:
        import shtab
    except ImportError:
        tell("shell completion needs the package shtab; install it with `pip install 'flake8-jax[completion]'`")
        return 2
    print(script(args.shell, shtab))
    return 0


def script(shell: str, shtab: Any) -> str:
    """The script for a shell. shtab: the module, which is an optional dependency."""
    made = str(shtab.complete(_whole_parser(shtab), shell))
    # The first word may be a path as well as a command, which shtab cannot express.
    if shell == "bash":
        return made.replace("complete -o bashdefault -F", "complete -o bashdefault -o default -F")
    if shell == "zsh":
        return made.replace("_describe 'jaxlint commands' _commands", "_describe 'jaxlint commands' _commands; _files")
    return f"{made}\ncomplete -c jaxlint -n '_shtab_jaxlint_using; and test $_shtab_jaxlint_npos -eq 0' -F"


def _whole_parser(shtab: Any) -> argparse.ArgumentParser:
    """One parser of all commands."""
    from flake8_jax.cli import COMMANDS

    whole = argparse.ArgumentParser(prog="jaxlint")
    whole.add_argument("--version", action="store_true", help="print the version")
    commands = whole.add_subparsers(dest="command")
    rules = _rules()
    for name in COMMANDS:
        command = _parser_of(name)
        if command is None:
            continue
        for action in command._actions:
            _say_what_completes(action, rules, shtab)
        summary = (command.description or "").partition(".")[0]
        commands.add_parser(name, parents=[command], add_help=False, help=summary)
    return whole


def _parser_of(command: str) -> argparse.ArgumentParser | None:
    """The parser of a command; None if it has none."""
    module, function = _ELSEWHERE.get(command, (command, "parser"))
    try:
        found = importlib.import_module(f"flake8_jax.cli.{module}")
    except ModuleNotFoundError:
        return None
    make = getattr(found, function, None)
    made = make() if make is not None else None
    return made if isinstance(made, argparse.ArgumentParser) else None


def _rules() -> list[str]:
    """The codes and names of all rules."""
    from flake8_jax.cli.rules import known_rules

    found = known_rules().values()
    return sorted((*(rule.code for rule in found), *(rule.name for rule in found)))


def _say_what_completes(action: argparse.Action, rules: list[str], shtab: Any) -> None:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar in _FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif metavar in _FOLDERS:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif metavar in _RULES:
        action.choices = rules
