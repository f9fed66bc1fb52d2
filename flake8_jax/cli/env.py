"""``jaxlint env``: what there is to run on, and what is missing."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import Any

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
from flake8_jax.runtime_checks.measurements import Environment, Smoke

_EPILOG = """\
The exit status is 0 if a product of matrices could be compiled and run, and 1 if not.

examples:
  jaxlint env
  jaxlint env --target cuda
  jaxlint env --python .venv/bin/python --output-format json
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "env",
        "Show the JAX that the other commands would run: versions, devices, settings, and whether it works.",
        _EPILOG,
    )
    add_run_options(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint env``; returns the exit status."""
    args = parser().parse_args(arguments)
    try:
        result = dict(ask(args, "env", {}, args.platform))
    except RunError as error:
        return fail(error)
    result["sandbox"] = {**result["sandbox"], "unshare": _unshares()}
    environment = converted(result, Environment)
    show_result(args, environment, functools.partial(described, platform=args.platform))
    return 0 if environment.smoke is not None and environment.smoke.ok else 1


def _unshares() -> bool:
    from flake8_jax.runtime_checks.sandbox import can_unshare

    return can_unshare()


def described(environment: Environment, platform: str | None) -> str:
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
        "settings of JAX that differ from their defaults",
        [(name, _setting(entry)) for name, entry in environment.config.items()],
    )
    text += _section("environment variables", list(environment.variables.items()))
    targets = [(name, _target(name, facts)) for name, facts in environment.targets.items() if platform in (None, name)]
    text += _section("targets", targets)
    return text + _section("sandbox", _sandbox(environment.sandbox))


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    return f"\n{title}:\n" + (columns(rows) if rows else "  none\n")


def _setting(entry: dict[str, Any]) -> str:
    default = f"default: {entry['default']!r}" if entry["default"] is not None else "set by the environment"
    return f"{entry['value']!r} ({default})"


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
