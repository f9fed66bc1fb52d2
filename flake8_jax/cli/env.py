"""``jaxlint env``: show devices, versions and what is missing."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flake8_jax.cli.running import (
    RunError,
    add_run_options,
    ask,
    columns,
    command_parser,
    converted,
    fail,
    seconds,
    show_result,
    size,
)
from flake8_jax.cli.said import tell
from flake8_jax.runtime_checks.measurements import Environment, Smoke

_EPILOG = """\
Exit status: 0 if JAX could compile and run a product of two matrices, 1 if not, 2 for a usage error.

examples:
  jaxlint env
  jaxlint env --target cuda
  jaxlint env --python .venv/bin/python --output-format json
  jaxlint env --all --output environment.txt
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "env",
        "Show the Python and the JAX that the other commands would use: versions, devices, settings, and whether JAX works.",
        _EPILOG,
    )
    made.add_argument("--all", action="store_true", help="show every setting of JAX, not only those that were changed")
    made.add_argument("-o", "--output", metavar="FILE", help="write the report to this file (default: standard output)")
    add_run_options(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint env``; returns the exit status."""
    args = parser().parse_args(arguments)
    if args.output is not None and not Path(args.output).parent.is_dir():
        tell(f"--output {args.output}: there is no folder {Path(args.output).parent}")
        return 2
    try:
        result = dict(ask(args, "env", {"all": args.all}, args.platform))
    except RunError as error:
        return fail(error)
    result["sandbox"] = {**result["sandbox"], "unshare": _unshares()}
    environment = converted(result, Environment)
    shown = functools.partial(described, platform=args.platform, all_settings=args.all)
    if not _show(args, environment, shown):
        return 2
    return 0 if environment.smoke is not None and environment.smoke.ok else 1


def _unshares() -> bool:
    from flake8_jax.runtime_checks.sandbox import can_unshare

    return can_unshare()


def _show(args: argparse.Namespace, environment: Environment, shown: Callable[[Environment], str]) -> bool:
    """Print the environment or write it to the file that was named; returns whether that was possible."""
    if args.output is None:
        show_result(args, environment, shown)
        return True
    is_json = args.output_format == "json"
    text = (
        msgspec.json.format(msgspec.json.encode(environment), indent=2).decode() + "\n"
        if is_json
        else shown(environment)
    )
    try:
        Path(args.output).write_text(text, encoding="utf-8")
    except OSError as error:
        tell(f"--output {args.output}: {error.strerror}; name a file that can be written")
        return False
    return True


def described(environment: Environment, platform: str | None, all_settings: bool = False) -> str:
    """The environment for a reader."""
    python = environment.python
    rows = [
        ("Python", f"{python['version']} ({python['implementation']}), {python['executable']}"),
        ("platform", f"{python['platform']}, {python['processors']} processors"),
        ("jax", environment.jax or "not installed"),
        ("packages", ", ".join(f"{name} {version}" for name, version in environment.packages.items()) or "none"),
    ]
    if environment.problem:
        rows.append(("problem", environment.problem))
    if environment.devices:
        rows.append(("backend", environment.backend))
        rows.append(("process", f"{environment.process_index} of {environment.process_count}"))
        rows += [
            (
                f"device {device.id}",
                f"{device.platform}: {device.kind}" + (f", {size(device.memory)}" if device.memory else ""),
            )
            for device in environment.devices
        ]
    if environment.smoke is not None:
        rows.append(("test", _smoke(environment.smoke)))
    text = columns(rows, "")
    text += _section(
        "settings of JAX" if all_settings else "settings of JAX that differ from their defaults",
        [(name, _setting(entry)) for name, entry in environment.config.items()],
    )
    text += _section("environment variables", list(environment.variables.items()))
    targets = [(name, _target(name, facts)) for name, facts in environment.targets.items() if platform in (None, name)]
    text += _section("targets", targets)
    return text + _section("sandbox", _sandbox(environment.sandbox))


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    return f"\n{title}:\n" + (columns(rows) if rows else "  none\n")


def _setting(entry: dict[str, Any]) -> str:
    notes = [f"default: {entry['default']!r}"] if entry["default"] is not None else []
    notes += ["set by the environment"] if entry["from_environment"] else []
    return repr(entry["value"]) + (f" ({', '.join(notes)})" if notes else "")


def _smoke(smoke: Smoke) -> str:
    if not smoke.ok:
        return f"a product of matrices failed: {smoke.problem}"
    return (
        f"a product of matrices on {smoke.platform}: compiled in {seconds(smoke.compile or 0)}, "
        f"run in {seconds(smoke.run or 0)}, {smoke.error:.1g} from NumPy's"
    )


def _target(name: str, facts: dict[str, Any]) -> str:
    wheels = ", ".join(f"{wheel} {version}" for wheel, version in facts["installed"].items())
    if facts["present"]:
        return f"here ({wheels})" if wheels else "here"
    install = f"`pip install 'flake8-jax[{facts['extra']}]'`"
    if not facts["missing"]:
        return f"no device, but its compiler is installed ({wheels}): `jaxlint probe --target {name}` compiles for it"
    lacks = " and ".join(facts["missing"])
    return f"no device, no compiler (it would need {lacks}): {install}, in an environment of its own"


def _sandbox(facts: dict[str, Any]) -> list[tuple[str, str]]:
    limits = facts.get("limits", {})
    said = [f"{name} {size(limit << 20)}" for name, limit in limits.items() if limit >= 0]
    return [
        (
            "network",
            "--no-network works" if facts["unshare"] else "`unshare -rn` does not work: --no-network does nothing",
        ),
        (
            "limits",
            ", ".join(said) or ("none; --memory and --timeout set them" if limits else "--memory does nothing here"),
        ),
    ]
