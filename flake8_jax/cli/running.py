"""What the commands that run the user's code share: their parser and options, the child, and what is said when it fails.

    bench, env, locate, probe, recompiles ── ask ──► one child, one result ── show_result ──► text or JSON
    verify, prove, mre ── linted ──► findings, workload ──┐
    record ───────────────────────────────────────────────┴─ finish ──► an exit status, whatever went wrong

Vocabulary
----------
target function   what TARGET names. platform: what ``--target`` names, the accelerator.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import print_json, say, tell
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.runtime_checks.commands import Command
    from flake8_jax.runtime_checks.sandbox import Limits, Message, Outcome

PLATFORMS = ("cpu", "cuda", "tpu")
_ROOT_SIGNS = ("pyproject.toml", "jaxlint.toml", ".jaxlint.toml", ".git")
_T = TypeVar("_T")


class RunError(Exception):
    """The child gave no answer; the message says why and what to do."""


def names_list(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]


def positive(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def duration(text: str) -> float:
    """Seconds: ``90``, ``90s``, ``1.5m`` or ``2h``."""
    unit = _UNITS.get(text[-1:], 0.0)
    try:
        number = float(text[:-1]) * unit if unit else float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a time above 0: give seconds, or 90s, 2m, 1h")
    return number


def dimension(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name.isidentifier() or not size.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not NAME=SIZE, as in N=128")
    return name, int(size)


def command_parser(name: str, description: str, epilog: str, usage: str | None = None) -> argparse.ArgumentParser:
    """The parser of ``jaxlint NAME``. usage: what stands behind the name, where argparse would leave something out."""
    return CommandParser(
        prog=f"jaxlint {name}",
        usage=f"jaxlint {name} {usage}" if usage is not None else None,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_output_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="print text or JSON (default: text)"
    )


def add_run_options(parser: argparse.ArgumentParser, *, platform: bool = True, command: bool = False) -> None:
    """Options of every command that starts a child. command: whether the user may give a command after ``--``."""
    add_output_format(parser)
    group = parser.add_argument_group("the process that uses JAX")
    if platform:
        group.add_argument(
            "--target",
            dest="platform",
            choices=PLATFORMS,
            help="run on this platform (default: the one that JAX chooses)",
        )
    add_process_options(group, command=command)


def add_process_options(
    group: argparse._ArgumentGroup,
    *,
    seconds: float | None = 300.0,
    late: str = "stop the process after this time",
    command: bool = True,
) -> None:
    """Which interpreter, and what it may use. seconds: the default of the time limit, None for no limit; late: what happens
    then; command: whether the user may give a command, which can name an interpreter."""
    group.add_argument(
        "--python",
        metavar="PATH",
        help="use this Python, which needs JAX (default: "
        + (
            "the Python that your command names, or else the first one with JAX of these: the Python of your shell, of "
            "$VIRTUAL_ENV and of jaxlint)"
            if command
            else "the Python of $VIRTUAL_ENV, or that of jaxlint if the first has no JAX)"
        ),
    )
    default = f"{seconds:g}s" if seconds is not None else "no limit"
    group.add_argument(
        "--timeout",
        type=duration,
        default=seconds,
        metavar="SECONDS",
        help=f"{late}: 90, 90s, 2m or 1h (default: {default})",
    )
    group.add_argument(
        "--memory",
        type=positive,
        metavar="MIB",
        help="limit the memory that the process may use for data, in MiB (default: no limit)",
    )
    group.add_argument(
        "--no-network",
        action="store_true",
        help="cut the process off from the network (only on Linux; has no effect if `unshare -rn` fails)",
    )


def add_enough_option(group: argparse._ArgumentGroup) -> None:
    """``--for`` of the commands that watch a command which need not come to its end."""
    group.add_argument(
        "--for", dest="enough", type=duration, metavar="TIME",
        help="stop your command after this time (90, 90s, 2m or 1h), and use what jaxlint saw until then (default: wait for "
        "its end)",
    )  # fmt: skip


def add_device_option(group: argparse._ArgumentGroup) -> None:
    """``--target`` of the commands that watch a command."""
    group.add_argument(
        "--target",
        type=_device,
        default=None,
        metavar="cpu|cuda|tpu",
        help="run on this platform (default: the one that JAX chooses)",
    )


def _device(text: str) -> str:
    """``cuda`` of ``cuda:h100``: which device it is makes no difference to what is traced."""
    platform = text.partition(":")[0]
    if platform not in PLATFORMS:
        raise argparse.ArgumentTypeError(f"unknown platform `{platform}`; known are {', '.join(PLATFORMS)}")
    return platform


def split_command(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Our own arguments, and the words after ``--``; None where there is no ``--``."""
    given = list(arguments)
    if "--" not in given:
        return given, None
    cut = given.index("--")
    return given[:cut], given[cut + 1 :]


def missing_command(example: str) -> ConfigError:
    return ConfigError(f"there is no command after `--`: give one, such as `jaxlint {example}`")


def find_python(named: str | None, command: Command | None = None) -> str:
    """The interpreter for the child: the one named, or that of the command. Else the first that has JAX: the one that a shell
    would take for the command, that of the active environment, ours."""
    from flake8_jax.runtime_checks.commands import default_interpreter, has_jax

    if named is not None:
        return named
    if command is not None and command.python:
        return command.python
    shell = default_interpreter(command.words) if command is not None and command.words else ""
    active = _active_interpreter()
    known = [python for python in (shell, active, sys.executable) if python]
    return next(filter(has_jax, known), active or shell or sys.executable)


def _active_interpreter() -> str:
    """That of ``$VIRTUAL_ENV``; empty if there is none."""
    folder = os.environ.get("VIRTUAL_ENV")
    found = Path(folder, "Scripts/python.exe" if os.name == "nt" else "bin/python") if folder else None
    return str(found) if found is not None and found.is_file() else ""


def understood(words: Sequence[str], cwd: str) -> Command:
    """What a command means. Raises ConfigError."""
    from flake8_jax.runtime_checks.commands import CommandError, parse_command

    try:
        return parse_command(words, cwd)
    except CommandError as error:
        raise ConfigError(str(error)) from error


def find_roots(cwd: str) -> list[str]:
    """The folder we are in, and the project's around it."""
    for folder in (Path(cwd), *Path(cwd).parents):
        if any((folder / sign).exists() for sign in _ROOT_SIGNS):
            return list(dict.fromkeys([cwd, str(folder)]))
    return [cwd]


def limits_of(args: argparse.Namespace) -> Limits:
    """What ``add_process_options`` lets the child use."""
    from flake8_jax.runtime_checks.sandbox import Limits

    enough = getattr(args, "enough", None)
    return Limits(seconds=args.timeout, memory=args.memory, network=not args.no_network, enough=enough)


def ask(args: argparse.Namespace, task: str, request: Mapping[str, Any], platform: str | None = None) -> Message:
    """Run a task in a child and return its result. The words of a ``command`` in the request are made plain.

    Raises RunError, ConfigError.
    """
    from flake8_jax.runtime_checks.sandbox import Launch, describe, run_child

    cwd = os.getcwd()
    limits = limits_of(args)
    command = understood(request.get("command") or (), cwd)
    python = find_python(args.python, command)
    if command.words:
        request = {**request, "command": list(command.words)}
    try:
        chosen = {"JAX_PLATFORMS": platform} if platform else {}
        launch = Launch(python, limits, {**command.variables, **chosen}, cwd, command.options)
        outcome = run_child(task, {"roots": find_roots(cwd), **request}, launch)
    except OSError as error:
        raise RunError(cannot_open(error, python)) from error
    refused = outcome.of("refused")
    if refused:
        raise RunError(refused[-1]["text"] + _about_python(args.python, python, refused[-1]["text"]))
    result = outcome.result()
    if result is None or outcome.state != "ok":
        tail = "".join(f"\n  {line}" for line in outcome.output.strip().splitlines()[-8:])
        raise RunError(f"the process that ran your code gave no answer: {describe(outcome, limits)}{tail}")
    return result


def _about_python(named: str | None, python: str, problem: str) -> str:
    """Which interpreter lacks a module, if the user named none: a profile does not say which one it was."""
    if named is not None or "ModuleNotFoundError" not in problem or "--python" in problem:
        return ""
    return f"; {python} ran it: name another interpreter with `--python`"


def converted(result: Mapping[str, Any], kind: type[_T]) -> _T:
    """A message as a struct."""
    return msgspec.convert({key: value for key, value in result.items() if key != "kind"}, kind)


def show_result(args: argparse.Namespace, result: _T, described: Callable[[_T], str]) -> None:
    """Print what was measured: as JSON, or described for readers."""
    if args.output_format == "json":
        print_json(result)
    else:
        say(described(result))


def fail(error: Exception) -> int:
    """Say it on standard error; the exit status of a wrong call."""
    tell(error, several_lines=True)
    return 2


def cannot_open(error: OSError, python: str) -> str:
    """What could not be started, read or written."""
    if error.filename in (None, python):
        return f"{python} cannot be started: {error.strerror or error}; `--python` names the interpreter"
    return f"{os.fspath(error.filename)}: {error.strerror}"


def finish(work: Callable[[], int], args: argparse.Namespace, *wrong: type[Exception]) -> int:
    """The exit status of a command that runs the user's: 2 with a message for a wrong call, which is a ConfigError or one of
    ``wrong``, and where something cannot be started, read or written."""
    refused: tuple[type[Exception], ...] = (ConfigError, *wrong)
    try:
        return work()
    except refused as error:
        tell(error)
    except OSError as error:
        tell(cannot_open(error, args.python))
    return 2


_STATUSES = {"enough": 0, "timeout": 124, "interrupted": 130}


def status_of(outcome: Outcome) -> int:
    """The exit status where we say that of the user's command: as a shell would, 0 where ``--for`` ended it, 124 where
    ``--timeout`` did, and 130 after Ctrl-C."""
    if outcome.state in _STATUSES:
        return _STATUSES[outcome.state]
    ended = outcome.of("ended")
    if ended:
        return int(ended[0]["status"])
    return 128 - outcome.code if outcome.code < 0 else outcome.code


def seconds(value: float) -> str:
    """A time for readers: ``12.3 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 999.5 * size else f"{value / size:.0f} {unit}"
    return f"{value / 1e-9:.3g} ns" if value else "0 s"


def size(number: float) -> str:
    """Bytes for readers: ``16 KiB``."""
    value = float(number)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.4g} {unit}"


def place(file: str, line: int) -> str:
    """``train.py:12``, relative to the folder we are in."""
    if not file:
        return ""
    shown = os.path.relpath(file) if file.startswith(os.path.join(os.getcwd(), "")) else file
    return f"{shown}:{line}" if line else shown


def columns(rows: Sequence[tuple[str, str]], indent: str = "  ") -> str:
    """Two columns, the first as wide as it needs to be."""
    width = max((len(name) for name, _ in rows), default=0)
    return "".join(f"{indent}{name:<{width}}  {text}".rstrip() + "\n" for name, text in rows)
