"""The user's own command, run in this process as if it had been started by itself.

Understood are ``python script.py …``, ``python -m module …``, ``python -c code``, ``pytest …``, a script of Python, and a
program on the path that is one (its first line names Python). Not understood: other programs, options of the
interpreter (``-O``, ``-X``), and what a command starts in further processes, which runs unobserved.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import sys
from collections.abc import Callable

_PYTHON = re.compile(r"^python[\d.]*(\.exe)?$")


class CommandError(Exception):
    """The command cannot be run here; the message says what can."""


def prepare(command: list[str]) -> Callable[[], object]:
    """What to call to run the command, with ``sys.argv`` and ``sys.path`` as it expects them.

    Raises CommandError.
    """
    if not command:
        raise CommandError("there is no command: give one after `--`, such as `-- python train.py`")
    head, rest = command[0], command[1:]
    name = os.path.basename(head)
    if _PYTHON.match(name):
        return _python(rest)
    if name in ("pytest", "py.test"):
        return _module("pytest", rest)
    if head.endswith(".py"):
        return _script(head, rest)
    found = shutil.which(head)
    if found is not None and _is_python_script(found):
        return _script(found, rest)
    raise CommandError(f"`{head}` is no Python program: give `python script.py …`, `python -m module …` or `pytest …`")


def _python(arguments: list[str]) -> Callable[[], object]:
    if arguments[:1] == ["-u"]:
        arguments = arguments[1:]
    if len(arguments) >= 2 and arguments[0] == "-m":
        return _module(arguments[1], arguments[2:])
    if len(arguments) >= 2 and arguments[0] == "-c":
        return _code(arguments[1], arguments[2:])
    if not arguments or arguments[0].startswith("-"):
        raise CommandError("give a script, `-m module` or `-c code` after `python`; its own options are not understood")
    return _script(arguments[0], arguments[1:])


def _script(path: str, arguments: list[str]) -> Callable[[], object]:
    if not os.path.isfile(path):
        raise CommandError(f"{path}: there is no such script in {os.getcwd()}")
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    return lambda: runpy.run_path(path, run_name="__main__")


def _module(name: str, arguments: list[str]) -> Callable[[], object]:
    sys.argv = [name, *arguments]
    sys.path.insert(0, os.getcwd())
    return lambda: runpy.run_module(name, run_name="__main__", alter_sys=True)


def _code(code: str, arguments: list[str]) -> Callable[[], object]:
    sys.argv = ["-c", *arguments]
    sys.path.insert(0, os.getcwd())
    compiled = compile(code, "<string>", "exec")
    return lambda: exec(compiled, {"__name__": "__main__", "__builtins__": __builtins__})


def _is_python_script(path: str) -> bool:
    with open(path, "rb") as file:
        first = file.readline(200)
    return first.startswith(b"#!") and b"python" in first
