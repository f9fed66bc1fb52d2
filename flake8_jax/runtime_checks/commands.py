"""What a command means: the Python program in it, the interpreter, and the variables that are set for it.

Vocabulary
----------
words      the command as the user gave it. plain: as ``child.workload`` understands it, beginning with ``python``, ``pytest``,
           a script or a notebook.
launcher   a program that runs another one: ``env``, ``uv run``, ``torchrun`` … jaxlint does not run it, but sets the variables
           and takes the interpreter that it would.
options    those of the interpreter (``-X``, ``-O``, ``-W``), which have to be there when it starts.

Limitations: launchers for environments (``uv run`` and the like) install nothing here, and the environment is ``.venv``
beside the project. ``torchrun`` is understood for one process.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

_PYTHON = re.compile(r"^python[\d.]*(\.exe)?$")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_FLAGS = frozenset("bBdEIOPqsSuvR")
_VALUED = frozenset("XW")
_SHEBANG = re.compile(rb"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(\S*python[\d.]*)\b")
_SHELL = re.compile(rb"^'''exec'\s+\"?([^\s\"]*python[\d.]*)\"?\s")
_TORCH = {
    "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "GROUP_RANK": "0", "NODE_RANK": "0",
    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500",
}  # fmt: skip


_NOTEBOOK_PROGRAMS = ("jupyter", "jupyter-execute", "jupyter-nbconvert", "papermill")


class CommandError(Exception):
    """The command cannot be run; the message says what can."""


class Command(msgspec.Struct, frozen=True):
    """words: plain. options: of the interpreter. variables: set for it, None for one that is taken away. python: the
    interpreter that the command asks for, or empty."""

    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    variables: Mapping[str, str | None] = {}
    python: str = ""


class _Launcher(msgspec.Struct, frozen=True):
    """valued: its options that take a value in the next word. before: words after its name. environment: it runs things in
    that of the project."""

    valued: frozenset[str] = frozenset()
    before: int = 0
    environment: bool = False


_UV = frozenset({
    "--with", "--with-editable", "--with-requirements", "--extra", "--no-extra", "--group", "--only-group", "--no-group",
    "--env-file", "--python", "-p", "--project", "--directory", "--package", "--index", "--index-url", "--default-index",
    "--cache-dir", "--config-file", "--color", "-w",
})  # fmt: skip
_TORCHRUN = frozenset({
    "--nproc_per_node", "--nnodes", "--node_rank", "--rdzv_backend", "--rdzv_endpoint", "--rdzv_id", "--rdzv_conf",
    "--max_restarts", "--monitor_interval", "--start_method", "--role", "--log_dir", "-r", "--redirects", "-t", "--tee",
    "--master_addr", "--master_port", "--local_addr",
})  # fmt: skip
_LAUNCHERS = {
    "uv": _Launcher(_UV, 1, True),
    "poetry": _Launcher(frozenset({"-C", "--directory", "-P", "--project"}), 1, True),
    "pdm": _Launcher(frozenset({"-p", "--project"}), 1, True),
    "pipenv": _Launcher(before=1, environment=True),
    "rye": _Launcher(before=1, environment=True),
    "nice": _Launcher(frozenset({"-n", "--adjustment"})),
    "nohup": _Launcher(),
    "time": _Launcher(frozenset({"-f", "-o"})),
    "torchrun": _Launcher(_TORCHRUN | {"--" + name[2:].replace("_", "-") for name in _TORCHRUN if name[:2] == "--"}),
}


def parse_command(words: Sequence[str], cwd: str) -> Command:
    """Parse the words of a command.

    Raises: CommandError if it is no command that starts Python.
    """
    if not words:
        return Command()
    head, rest = words[0], list(words[1:])
    name = os.path.basename(head)
    if _ASSIGNMENT.match(head):
        return _with_variables(parse_command(rest, cwd), {head.partition("=")[0]: head.partition("=")[2]}, rest)
    if name == "env":
        return _env(rest, cwd)
    if name in _LAUNCHERS and not os.path.isfile(os.path.join(cwd, head)):
        return _launched(name, rest, cwd)
    if _PYTHON.match(name):
        return _python(head, rest, cwd)
    if name in _NOTEBOOK_PROGRAMS:
        return _notebook(head, rest)
    if os.sep in head or name not in ("pytest", "py.test"):
        return Command((head, *rest), python=_interpreter_of(head, cwd))
    return Command((head, *rest))


def _notebook(head: str, rest: list[str]) -> Command:
    """``jupyter execute a.ipynb``, ``papermill a.ipynb out.ipynb``: the first notebook."""
    found = next((word for word in rest if word.endswith(".ipynb")), "")
    if not found:
        raise CommandError(f"`{head}` is understood with a notebook: `-- analysis.ipynb` runs its code cells in order")
    return Command((found,))


def _with_variables(command: Command, variables: Mapping[str, str | None], rest: Sequence[str]) -> Command:
    if not rest:
        raise CommandError("there is no program behind the variables")
    return msgspec.structs.replace(command, variables={**variables, **command.variables})


def _env(rest: list[str], cwd: str) -> Command:
    """``env [-u NAME] [NAME=VALUE] COMMAND``."""
    variables: dict[str, str | None] = {}
    while rest:
        word = rest[0]
        if word in ("-u", "--unset") and len(rest) > 1:
            variables[rest[1]] = None
            rest = rest[2:]
        elif word.startswith("--unset="):
            variables[word.partition("=")[2]] = None
            rest = rest[1:]
        elif _ASSIGNMENT.match(word):
            variables[word.partition("=")[0]] = word.partition("=")[2]
            rest = rest[1:]
        elif word == "--":
            rest = rest[1:]
            break
        elif word.startswith("-"):
            raise CommandError(f"`env {word}` is not understood: give `env NAME=VALUE … python script.py`")
        else:
            break
    return _with_variables(parse_command(rest, cwd), variables, rest)


def _launched(name: str, rest: list[str], cwd: str) -> Command:
    """What a launcher runs."""
    launcher = _LAUNCHERS[name]
    if launcher.before and rest[:1] != ["run"]:
        raise CommandError(f"`{name}` is understood as `{name} run …`")
    options, rest = _options(rest[launcher.before :], launcher.valued)
    named = dict(options)
    if name == "torchrun":
        return _torch(named, rest, cwd)
    if not rest:
        raise CommandError(f"there is no program behind `{name}`")
    if "-m" in named or "--module" in named:
        rest = ["python", "-m", *rest]
    found = parse_command(rest, cwd)
    if not launcher.environment or found.python:
        return found
    return msgspec.structs.replace(found, python=_environment(cwd))


def _options(words: list[str], valued: frozenset[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """The options at the beginning, with their values, and what follows."""
    found: list[tuple[str, str]] = []
    while words and words[0].startswith("-"):
        word = words[0]
        if word == "--":
            return found, words[1:]
        option, equals, value = word.partition("=")
        if option in valued and not equals and len(words) > 1:
            found.append((option, words[1]))
            words = words[2:]
        else:
            found.append((option, value))
            words = words[1:]
    return found, words


def _torch(options: Mapping[str, str], rest: list[str], cwd: str) -> Command:
    counts = [
        value for name, value in options.items() if name.strip("-").replace("-", "_") in ("nproc_per_node", "nnodes")
    ]
    if any(value not in ("1", "1:1") for value in counts):
        raise CommandError("of `torchrun`, one process can be watched: give `--nproc-per-node 1`")
    if not rest:
        raise CommandError("there is no program behind `torchrun`")
    module = "-m" in options or "--module" in options
    found = parse_command(["python", *(["-m"] if module else []), *rest], cwd)
    return msgspec.structs.replace(found, variables={**_TORCH, **found.variables})


def _python(head: str, rest: list[str], cwd: str) -> Command:
    """``python [options] script …``."""
    options: list[str] = []
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
        word = rest[0]
        if word.startswith("--check-hash-based-pycs"):
            count = 1 if "=" in word else 2
            options, rest = options + rest[:count], rest[count:]
            continue
        letters = word[1:]
        plain = len(letters) - len(letters.lstrip("".join(_FLAGS)))
        last = letters[plain : plain + 1]
        if (
            word.startswith("--")
            or last not in ("", "X", "W", "m", "c")
            or (last in ("m", "c") and letters[plain + 1 :])
        ):
            raise CommandError(f"`python {word}` cannot be watched: give a script, `-m module` or `-c code`")
        if plain:
            options.append("-" + letters[:plain])
        rest = rest[1:]
        if last in ("m", "c"):
            rest = ["-" + last, *rest]
        elif last in _VALUED:
            value, rest = (letters[plain + 1 :], rest) if letters[plain + 1 :] else (rest[0] if rest else "", rest[1:])
            options += ["-" + last, value]
    named = head if os.sep in head else shutil.which(head) or "" if head not in ("python", "python3") else ""
    python = os.path.join(cwd, named) if os.sep in named else named
    return Command(("python", *rest), tuple(options), {}, python)


def _interpreter_of(head: str, cwd: str) -> str:
    """The interpreter that a script names in its first lines, where it is a program of its own."""
    path = os.path.join(cwd, head) if os.sep in head else shutil.which(head)
    if path is None or head.endswith(".py") or not os.path.isfile(path):
        return ""
    found = script_interpreter(path)
    return found if found and os.sep in found and os.path.isfile(found) else ""


def script_interpreter(path: str) -> str:
    """Return the Python that the first line of a script names; an empty string if there is none."""
    try:
        with open(path, "rb") as file:
            first, second = file.readline(400), file.readline(400)
    except OSError:
        return ""
    found = _SHEBANG.match(first) or (_SHELL.match(second) if first.startswith(b"#!/bin/sh") else None)
    return os.fsdecode(found[1]) if found else ""


def _environment(cwd: str) -> str:
    """The interpreter of the project's environment; empty if there is none."""
    for folder in (Path(cwd), *Path(cwd).parents):
        candidate = folder / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if candidate.is_file():
            return str(candidate)
    return ""


def default_interpreter(words: Sequence[str]) -> str:
    """Return the path of the Python that a shell would start for the command; an empty string if it starts none."""
    head = words[0] if words else ""
    script = shutil.which(head) if head in ("pytest", "py.test") else None
    if script is not None and os.path.isfile(found := script_interpreter(script)):
        return found
    named = head if _PYTHON.match(os.path.basename(head)) else "python"
    return shutil.which(named) or shutil.which("python3") or ""


_FINDS_JAX = (
    "import sys; sys.path[:] = filter(None, sys.path); import importlib.util as u; sys.exit(u.find_spec('jax') is None)"
)
_FINDS_SECONDS = 20.0


def has_jax(python: str) -> bool:
    """Start an interpreter and return whether it can import JAX; False if it cannot be started."""
    if os.path.abspath(python) == os.path.abspath(sys.executable):
        return importlib.util.find_spec("jax") is not None
    try:
        return not subprocess.run(
            [python, "-c", _FINDS_JAX], stdin=subprocess.DEVNULL, capture_output=True, timeout=_FINDS_SECONDS
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False
