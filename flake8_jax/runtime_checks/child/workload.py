"""The user's own command, run in this process as if it had been started by itself.

Understood are ``python script.py …``, ``python -m module …``, ``python -c code``, ``python -`` (the program on standard input),
``pytest …``, a script of Python, a program on the path that is one (its first lines name Python), and a notebook (its code
cells in order, see ``core.cells``). What launchers and options of the interpreter mean, the linter has seen to
before (``commands``). What a command starts in further processes runs unobserved, but for the workers of pytest-xdist under
``record``.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import inspect
import os
import re
import runpy
import shutil
import sys
import traceback
import types
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_PYTHON = re.compile(r"^python[\d.]*(\.exe)?$")

Cell = tuple[int, str, bool]
"""The first row of a cell in the text of its notebook, its text, and whether it is to raise."""


class CommandError(Exception):
    """The command cannot be run here; the message says what can."""


def prepare(
    command: list[str], notebooks: Mapping[str, Sequence[Cell]] = {}, plugins: Sequence[object] = ()
) -> Callable[[], object]:
    """What to call to run the command, with ``sys.argv`` and ``sys.path`` as it expects them. notebooks: their code cells, by
    path; plugins: for pytest.

    Raises CommandError.
    """
    if not command:
        raise CommandError("there is no command: give one after `--`, such as `-- python train.py`")
    head, rest = command[0], command[1:]
    name = os.path.basename(head)
    if _PYTHON.match(name):
        return _pytest(rest[2:], plugins, os.getcwd()) if is_pytest(command) else _python(rest)
    if is_pytest(command):
        return _pytest(rest, plugins)
    if head.endswith(".ipynb"):
        return _notebook(head, rest, notebooks)
    if head.endswith(".py"):
        return _script(head, rest)
    found = shutil.which(head) or shutil.which(head, path=os.path.dirname(sys.executable))
    if found is not None and _is_python_script(found):
        return _script(found, rest)
    raise CommandError(
        f"`{head}` is not a Python program: give `python script.py …`, `python -m module …` or `pytest …`"
    )


def is_pytest(command: Sequence[str]) -> bool:
    """Whether a command runs pytest."""
    words = [os.path.basename(word) for word in command[:3]]
    if words[:1] in (["pytest"], ["py.test"]):
        return True
    return words[1:] == ["-m", "pytest"] and bool(_PYTHON.match(words[0]))


def show_error(error: BaseException) -> None:
    """Print an error that ended the command as Python would have, without our frames around it."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    if trace is not None:
        error.__traceback__ = trace  # which the hook prefers to what it is given
    sys.excepthook(type(error), error, error.__traceback__)


def _is_ours(path: str) -> bool:
    return path.startswith(os.path.dirname(os.path.abspath(__file__))) or path in ("<frozen runpy>", runpy.__file__)


def _put_first(folder: str) -> None:
    """Put the folder first on the path. Modules of the standard library that only this package imported so far make way for
    those of the folder that have their names."""
    sys.path.insert(0, folder)
    modules = list(sys.modules.items())  # in the order in which they were imported
    ours = [name for name, _ in modules].index(__name__.partition(".")[0])
    for name, module in modules[ours:]:
        if _is_standard(module) and _has_module(folder, name.partition(".")[0]):
            sys.modules.pop(name)


def _is_standard(module: object) -> bool:
    path = getattr(module, "__file__", None) or ""
    return path.startswith(os.path.join(os.path.dirname(os.__file__), "")) and "-packages" not in path


def _has_module(folder: str, name: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, file)) for file in (f"{name}.py", os.path.join(name, "__init__.py")))


def _python(arguments: list[str]) -> Callable[[], object]:
    if len(arguments) >= 2 and arguments[0] == "-m":
        return _module(arguments[1], arguments[2:])
    if len(arguments) >= 2 and arguments[0] == "-c":
        return _code("-c", "<string>", arguments[1], arguments[2:])
    if arguments[:1] == ["-"]:
        return _code("-", "<stdin>", sys.stdin.read(), arguments[1:])
    if not arguments or arguments[0].startswith("-"):
        raise CommandError("give a script, `-m module` or `-c code` after `python`")
    return _script(arguments[0], arguments[1:])


def _script(path: str, arguments: list[str]) -> Callable[[], object]:
    if os.path.isdir(path):  # with a ``__main__.py`` in it
        sys.argv = [path, *arguments]
        return lambda: runpy.run_path(path, run_name="__main__")
    if not os.path.isfile(path):
        raise CommandError(f"{path}: there is no such script in {os.getcwd()}")
    full = os.path.abspath(path)  # as Python has it: the program may change the folder
    sys.argv = [path, *arguments]
    _put_first(os.path.dirname(full))
    if full.endswith(".pyc") or zipfile.is_zipfile(full):
        return lambda: runpy.run_path(full, run_name="__main__")
    try:
        with open(full, "rb") as file:
            return _as_main(file.read(), full, __file__=full, __cached__=None)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error


def _module(name: str, arguments: list[str]) -> Callable[[], object]:
    sys.argv = [name, *arguments]
    _put_first(os.getcwd())
    return lambda: runpy.run_module(name, run_name="__main__", alter_sys=True)


def _pytest(arguments: list[str], plugins: Sequence[object], folder: str | None = None) -> Callable[[], object]:
    """folder: the first on the path, where it was started with ``-m``."""
    sys.argv = ["pytest", *arguments]
    if folder is not None:
        _put_first(folder)

    def work() -> None:
        import pytest

        raise SystemExit(int(pytest.main(arguments, plugins=list(plugins))))

    return work


def _code(name: str, file: str, code: str, arguments: list[str]) -> Callable[[], object]:
    sys.argv = [name, *arguments]
    _put_first(os.getcwd())
    return _as_main(code, file)


def _as_main(text: str | bytes, name: str, **variables: object) -> Callable[[], object]:
    """Run the text of a program as the module ``__main__``."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, **variables)

    def work() -> None:
        sys.modules["__main__"] = main
        exec(compile(text, name, "exec", dont_inherit=True), main.__dict__)

    return work


def _notebook(path: str, arguments: list[str], notebooks: Mapping[str, Sequence[Cell]]) -> Callable[[], object]:
    """Its cells in order, in a module of its own. Magics do nothing, and ``get_ipython`` and ``display`` are there."""
    full = os.path.abspath(path)
    if full not in notebooks:
        raise CommandError(f"{path}: there is no such notebook among the files that are looked at")
    sys.argv = [path, *arguments]
    _put_first(os.path.dirname(full))
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=full, display=print, get_ipython=lambda: None)

    def work() -> None:
        sys.modules["__main__"] = main
        for row, text, raising in notebooks[full]:
            try:
                _run_cell("\n" * (row - 1) + text, full, main.__dict__)
            except Exception:
                if not raising:
                    raise
                traceback.print_exc()

    return work


def _run_cell(text: str, path: str, variables: dict[str, Any]) -> None:
    """Run a cell. It may wait for coroutines at its top level."""
    code = compile(text, path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(types.FunctionType(code, variables)())
    else:
        exec(code, variables)


def _is_python_script(path: str) -> bool:
    with open(path, "rb") as file:
        first, second = file.readline(400), file.readline(400)
    return first.startswith(b"#!") and (b"python" in first or (b"exec" in second and b"python" in second))
