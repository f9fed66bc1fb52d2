"""``jaxlint hotspots``: where the time and the memory of a program go, by the user's lines and compiled functions."""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.cli.arguments import refuse_unwritable
from flake8_jax.cli.linted import add_lint_options, lint, parse, understand
from flake8_jax.cli.running import (
    add_device_option,
    add_enough_option,
    add_process_options,
    command_parser,
    converted,
    duration,
    fail,
    finish,
    missing_command,
    positive,
    seconds,
    size,
    status_of,
)
from flake8_jax.cli.said import print_json, say, tell
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.core.writing import write_whole
from flake8_jax.runtime_checks.flame import svg
from flake8_jax.runtime_checks.hotspots import (
    ACTIVITIES,
    FunctionCost,
    Hotspots,
    LineCost,
    by_activity,
    by_function,
    by_line,
    cost_at,
    trees,
)
from flake8_jax.runtime_checks.measurements import peak
from flake8_jax.runtime_checks.sandbox import AS_IT_IS, describe, run_child
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.pipeline.backend import Backend

FOLDER = os.path.join(".jaxlint", "hotspots")
_TEXT = 46
_SMALLEST = 0.002  # of the whole, to be listed

_EPILOG = """\
Your command runs unchanged. jaxlint samples its main thread, and jax.profiler traces the device. jaxlint assigns compilations
and live arrays to the lines of your code that caused them. It also lints PATH and marks the findings on lines that cost time.

Written into --output: flame.svg (a flame graph), and plugins/profile/…: open the .trace.json.gz at https://ui.perfetto.dev,
or the folder by `tensorboard --logdir FOLDER` with its profile plug-in.

examples:
  jaxlint hotspots -- python train.py --steps 100
  jaxlint hotspots src --for 60 --top 20 -- python -m project.train

Exit status: that of the command; 0 if --for stopped the command, 124 if --timeout did, 130 after Ctrl-C; 2 for a usage error.
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "hotspots",
        "Run your command, and show where its time and memory go: by lines, compiled functions and findings.",
        _EPILOG,
        "[options] [PATH ...] -- COMMAND ...",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="the files or directories with your code (default: .)")
    run = made.add_argument_group("running")
    add_enough_option(run)
    run.add_argument(
        "--top", type=positive, default=10, metavar="N", help="print at most N rows of each list (default: 10)"
    )
    run.add_argument(
        "--output",
        default=FOLDER,
        metavar="FOLDER",
        help=f"write the flame graph and the trace to this folder (default: {FOLDER})",
    )
    run.add_argument(
        "--interval",
        type=duration,
        default=0.005,
        metavar="SECONDS",
        help="look at your program each time this many seconds are over (default: 0.005)",
    )
    run.add_argument(
        "--trace-seconds", type=float, default=60.0, metavar="S",
        help="record the first S seconds of the computations on the device; 0 records none (default: 60)",
    )  # fmt: skip
    add_device_option(run)
    add_process_options(run, seconds=None)
    add_lint_options(made, fixes=False)
    return made


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint hotspots``; returns the exit status."""
    args, command, output_format = parse(parser(), arguments)
    args.output = os.path.abspath(args.output)
    if not command:
        return fail(missing_command("hotspots -- python train.py"))
    if output_format not in ("full", "json"):
        return fail(ConfigError(f"--output-format {output_format}: hotspots writes text or json"))
    return finish(functools.partial(_run, args, output_format, backend), args)


def _run(args: argparse.Namespace, output_format: str, backend: Backend | None) -> int:
    cwd = os.getcwd()
    refuse_unwritable(args.output, "--output")
    understand(args, cwd)
    linted = lint(args, cwd, backend)
    if linted.report.missing:
        return 2
    folder = _folder(args.output)
    workload = linted.workload
    request = {
        "roots": list(workload.roots), "command": list(args.command.words), "cells": workload.cells,
        "interval": args.interval, "stop": args.enough, "folder": folder, "traced": max(args.trace_seconds, 0.0),
    }  # fmt: skip
    limits = msgspec.structs.replace(workload.limits, enough=None)  # the child ends it, and the trace with it
    launch = msgspec.structs.replace(workload.launch(), limits=limits, stdin=AS_IT_IS)
    # The command's own output goes where it would go, but for readers of JSON.
    output = (None, None) if output_format == "full" else (sys.stderr, None)
    sys.stdout.flush()
    outcome = run_child("hotspots", request, launch, output=output, keep=True)
    refused = outcome.of("refused")
    if refused:
        raise ConfigError(refused[0]["text"])
    result = outcome.result()
    if result is None:
        raise ConfigError(f"nothing was measured: {describe(outcome, limits)}")
    if outcome.partial:
        tell(f"{describe(outcome, limits)}; there is what was sampled until then")
    found = converted(result, Hotspots)
    costs = _findings(found, linted.report)
    title = f"{shlex.join(args.given)}: {seconds(found.seconds)}"
    picture = os.path.join(folder, "flame.svg")
    marks = _marks(linted.report)
    write_whole(picture, svg(trees(found.stacks), title, marks, cwd).encode())
    if output_format == "json":
        print_json(_data(found, costs))
    else:
        say(described(found, costs, marks, args.given, args.top))
        trace = f" and the trace in {os.path.relpath(folder)}/plugins" if found.traced else ""
        tell(f"wrote {os.path.relpath(picture)}{trace}")
    for trouble in filter(None, (found.trouble, found.failure and f"the command ended with {found.failure}")):
        tell(trouble)
    return status_of(outcome)


def _folder(name: str) -> str:
    folder = os.path.abspath(name)
    os.makedirs(folder, exist_ok=True)
    top = os.path.join(os.path.dirname(folder), ".gitignore")
    if os.path.basename(os.path.dirname(folder)) == ".jaxlint" and not os.path.exists(top):
        write_whole(top, b"*\n")
    return folder


def _marks(report: RunReport) -> dict[tuple[str, int], str]:
    """The codes of the findings of each line."""
    found: dict[tuple[str, int], dict[str, None]] = {}
    for item in report.diagnostics:
        for row in range(item.row, max(item.row, item.end_row) + 1):
            found.setdefault((item.path, row), {})[item.code] = None
    return {place: " ".join(codes) for place, codes in found.items()}


def _findings(found: Hotspots, report: RunReport) -> list[tuple[Diagnostic, float, float]]:
    """Findings on lines that cost anything, with the seconds on host and device, most first."""
    costs = [(item, *cost_at(found, item.path, item.row, max(item.row, item.end_row))) for item in report.diagnostics]
    return sorted((cost for cost in costs if cost[1] or cost[2]), key=lambda cost: -max(cost[1:]))


def _data(found: Hotspots, costs: list[tuple[Diagnostic, float, float]]) -> dict[str, Any]:
    return {
        "wall": found.wall, "samples": found.samples, "activities": dict(by_activity(found)), "lines": by_line(found),
        "functions": by_function(found), "traced": found.traced, "live_bytes": found.live_bytes,
        "findings": [
            {"code": item.code, "name": item.finding.name, "path": item.path, "row": item.row, "host": host,
             "share": host / found.seconds, "device": device}
            for item, host, device in costs
        ],
        "status": found.status, "versions": found.versions,
    }  # fmt: skip


def described(
    found: Hotspots,
    costs: list[tuple[Diagnostic, float, float]],
    marks: dict[tuple[str, int], str],
    command: Sequence[str],
    top: int,
) -> str:
    """The result for a reader."""
    whole = found.seconds
    versions = ", ".join(f"{name} {found.versions[name]}" for name in ("jax", "backend") if name in found.versions)
    versions = versions or "it did not import JAX"
    parts = [f"{ACTIVITIES[name]} {took / whole:.0%}" for name, took in by_activity(found) if took >= 0.005 * whole]
    out = [f"{shlex.join(command)}: {seconds(whole)} ({versions})", "  " + ", ".join(parts)]
    lines = by_line(found)
    busiest = [cost for cost in lines if cost.own >= _SMALLEST * whole][:top]
    out += _titled(
        "lines by time on the host, without your functions that they call",
        [_host(cost, whole, marks) for cost in busiest],
    )
    if not busiest:
        out += ["", "jaxlint saw no line of your code run. Check PATH, which says where your code is."]
    work = sorted(lines, key=lambda cost: -cost.device)
    total = sum(operation.seconds for operation in found.device)
    rows = [_device(cost, total, marks) for cost in work if cost.device > _SMALLEST * total][:top]
    known = sum(cost.device for cost in lines)
    rest = f"; {(total - known) / total:.0%} is of no line of yours" if total and known < 0.995 * total else ""
    out += _titled(
        f"lines by time on the device ({seconds(total)} in the {seconds(found.traced)} that the profiler recorded{rest})",
        rows,
    )
    if found.traced and not total:
        out += ["", "The trace of this JAX names no operations on this device."]
    functions = [cost for cost in by_function(found) if cost.name and (cost.device or cost.compiling >= 0.01 * whole)]
    out += _titled("compiled functions", [_function(cost) for cost in functions[:top]])
    kept = sorted((cost for cost in lines if cost.live), key=lambda cost: -cost.live)[:top]
    out += _titled(
        f"lines by memory, when arrays took most: {size(found.live_bytes)}",
        [f"{size(cost.live):>11}  {_place(cost)}  {_source(cost)}" for cost in kept],
    )
    out += _titled("findings of the linter on lines that cost", [_finding(*cost, whole) for cost in costs[:top]])
    return "\n".join(out) + "\n"


def _titled(title: str, rows: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {row}".rstrip() for row in rows)] if rows else []


def _host(cost: LineCost, whole: float, marks: dict[tuple[str, int], str]) -> str:
    compiled = f"; compiled {cost.compiled} times in {seconds(cost.compiling)}" if cost.compiled > 1 else ""
    mark = marks.get((cost.path, cost.row), "")
    note = ", ".join(filter(None, (mark, ACTIVITIES.get(cost.activity, "") + compiled)))
    return f"{seconds(cost.own):>8}  {cost.own / whole:>4.0%}  {_place(cost)}  {_source(cost):<{_TEXT}}  {note}"


def _device(cost: LineCost, total: float, marks: dict[tuple[str, int], str]) -> str:
    mark = marks.get((cost.path, cost.row), "")
    return f"{seconds(cost.device):>8}  {cost.device / total:>4.0%}  {_place(cost)}  {_source(cost):<{_TEXT}}  {mark}"


def _function(cost: FunctionCost) -> str:
    compiled = f"compiled {cost.compiled} time{'s' if cost.compiled != 1 else ''} in {seconds(cost.compiling)}"
    parts = [f"on the device {seconds(cost.device)}" if cost.device else "", compiled if cost.compiled else ""]
    parts.append(f"memory {size(peak(cost.memory))}" if peak(cost.memory) else "")
    return f"{cost.name}: {', '.join(filter(None, parts))}"


def _finding(item: Diagnostic, host: float, device: float, whole: float) -> str:
    on_device = f", and {seconds(device)} on the device" if device else ""
    place = f"{os.path.relpath(item.path)}:{item.row}"
    return f"{item.code} {item.finding.name} at {place}: {host / whole:.0%} of the wall time{on_device}"


def _place(cost: LineCost) -> str:
    inside = cost.path.startswith(os.path.join(os.getcwd(), ""))
    return f"{os.path.relpath(cost.path) if inside else cost.path}:{cost.row}"


@functools.lru_cache(maxsize=256)
def _lines(path: str) -> tuple[str, ...]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return tuple(file.read().splitlines())
    except OSError:
        return ()


def _source(cost: LineCost) -> str:
    text = _lines(cost.path)[cost.row - 1 : cost.row]
    shown = text[0].strip() if text else ""
    return shown if len(shown) <= _TEXT else shown[: _TEXT - 1] + "…"
