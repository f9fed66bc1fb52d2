"""The command ``jaxlint``: this module finds out which sub-command is meant, and no more, so that it starts fast.

Vocabulary
----------
command     the first word that is no global flag; ``check`` if there is none. Each has a module with ``run``.
running     a command that runs the user's code on JAX, in a process of its own.
troubles    what a run could not look at or finish, on standard error.

::

    words ─► command ─► run(arguments) ─► exit status
                          │
                          ├─ check, inspect ─ arguments ─► settings ─► pipeline ─► output, reporters
                          ├─ rule, rules, config, clean ─► registry, settings, cache
                          ├─ server ─► flake8_jax.server
                          └─ bench, verify, mre … ─ running, linted ─► runtime_checks
    all of them ─ said ─► text without control characters ─ process ─► streams, signals

Exit statuses: 0 clean or all fixed, 1 findings, 2 a wrong call or configuration, output that cannot be written, or a failure
of our own; 130 after Ctrl-C, 143 after SIGTERM.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from flake8_jax import __version__
from flake8_jax.cli.process import run_to_the_end

_RUNNING = ("bench", "env", "hotspots", "locate", "mre", "probe", "prove", "pytree", "recompiles", "record", "verify")
"""Commands with a module of their own that start a process with JAX."""
COMMANDS = (
    "check", "rule", "rules", "inspect", "config", "clean", "init", "completion", "format", "mcp", "version", "server",
    "template",
    *_RUNNING,
)  # fmt: skip
_ANYWHERE = frozenset({"rule", "rules", "config", "completion", "format", "version", "server", "template"})
"""Commands that do not need the current directory."""
_GLOBAL_FLAGS = frozenset({"-q", "--quiet", "-s", "--silent", "-v", "--verbose", "--isolated"})

_MEANT = {"explain": "jaxlint rule", "lint": "jaxlint check", "fix": "jaxlint check --fix", "lsp": "jaxlint server"}
"""What other linters call our commands."""

_HELP = """\
jaxlint finds and fixes mistakes in JAX code.

usage: jaxlint [check] [options] PATH…
       jaxlint COMMAND [options]

commands:
  check     lint files and directories (the default); see `jaxlint check --help`
  rule      explain one rule: `jaxlint rule JAX101`, `jaxlint rule traced-branch`, `jaxlint rule --all`
  rules     list the rules
  inspect   show which functions and parameters jaxlint infers to be traced
  config    list the configuration keys, or explain one
  template  print a program to start from: `jaxlint template --list`
  server    the language server, for editors: findings while you type
  mcp       a server of the Model Context Protocol, through which programs use jaxlint
  clean     remove the cache
  init      set jaxlint up in a project: configuration, pre-commit, CI; asks first
  completion  print the script that completes commands and options in bash, zsh or fish
  version   print the version

commands that use JAX, in a process of its own (all of them except env and locate run your code):
  verify      run your command, or functions with generated inputs, to confirm findings
  prove       run your command with and without the fixes and compare the results
  mre         write the smallest script that shows a finding, and an issue report
  record      run your command and record what JAX traces and compiles
  env         show devices and versions, and what is missing for other devices
  bench       measure how long a function takes, alone or against another
  hotspots    show where your command spends time and memory, by lines and findings
  recompiles  show which inputs recompile a jitted function, and how to avoid it
  probe       show what a function compiles to, also for absent accelerators
  pytree      a tree of arrays: shapes, dtypes, bytes, sharding, as text and as a picture
  locate      find where the installed JAX implements a topic or raises an error

options:
  -h, --help      print this, or the help of a command, as `jaxlint help COMMAND` does
  --version       print the bare version
  --explain CODE  print the page of a rule in Markdown
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character gets an escape instead
            stream.reconfigure(errors="backslashreplace")
    try:
        return _dispatch(given)
    except BrokenPipeError:
        # The reader of our output is gone. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def script() -> NoReturn:
    """The command itself, as the whole process."""
    command, _ = _split(sys.argv[1:])
    # The threads of the server wait for input, which may never come. What runs the user's code has processes to end.
    run_to_the_end(main, grace=0.0 if command == "server" else 20.0 if command in (*_RUNNING, "mcp") else 1.0)


def _dispatch(given: list[str]) -> int:
    if given[:1] in (["-V"], ["--version"]):
        print(__version__)
        return 0
    if given[:1] in (["-h"], ["--help"]) or given == ["help"]:
        print(_HELP, end="")
        return 0
    if given[:1] == ["help"]:
        given = [given[1], "--help"]
    command, rest = _split(given)
    if command == "check" and (mistaken := _mistaken(given)):
        print(f"jaxlint: {mistaken} (`jaxlint --help` lists the commands)", file=sys.stderr)
        return 2
    if command not in _ANYWHERE:
        try:
            os.getcwd()
        except OSError as error:
            print(
                f"jaxlint: the current directory cannot be used: {error.strerror}; change to another", file=sys.stderr
            )
            return 2
    if command == "version":
        print(f"jaxlint {__version__}")
        return 0
    if command == "format":
        from flake8_jax.cli.format import run as run_format

        return run_format(rest)
    if command in ("rule", "rules"):
        from flake8_jax.cli import rules

        return rules.run_rule(rest) if command == "rule" else rules.run_rules(rest)
    if command == "inspect":
        from flake8_jax.cli.inspect import run as run_inspect

        return run_inspect(rest)
    if command in ("config", "clean"):
        from flake8_jax.cli import config

        return config.run_config(rest) if command == "config" else config.run_clean(rest)
    if command == "server":
        from flake8_jax.cli.server import run as run_server

        return run_server(rest)
    if command in (*_RUNNING, "init", "completion", "mcp", "template"):
        run_command = importlib.import_module(f"flake8_jax.cli.{command}").run
        return int(run_command(rest))
    from flake8_jax.cli.check import run as run_check

    return run_check(rest)


def _mistaken(given: list[str]) -> str | None:
    """What is wrong with a first word that is neither a command nor a path, but is written like a command."""
    word = next((word for word in given if word not in _GLOBAL_FLAGS), "")
    if not word.isidentifier() or word in COMMANDS or os.path.lexists(word):
        return None
    from flake8_jax.cli.parsing import did_you_mean

    meant = f"; did you mean `{_MEANT[word]}`?" if word in _MEANT else did_you_mean(word, COMMANDS)
    return f"there is no command `{word}`, and no such file or directory{meant}"


def _split(given: list[str]) -> tuple[str, list[str]]:
    """The sub-command and its arguments; flags that every command has may come first."""
    if given[:1] == ["--explain"]:
        return "rule", given[1:]
    if given and given[0].startswith("--explain="):
        return "rule", [given[0].partition("=")[2]]
    leading = 0
    while leading < len(given) and given[leading] in _GLOBAL_FLAGS:
        leading += 1
    if leading < len(given) and given[leading] in COMMANDS:
        return given[leading], given[:leading] + given[leading + 1 :]
    return "check", given
