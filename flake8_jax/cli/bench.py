"""``jaxlint bench``: how long a function takes, alone or against another."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

from flake8_jax.cli.running import (
    INPUTS_HELP,
    TARGET_HELP,
    RunError,
    add_input_options,
    add_run_options,
    ask,
    command_parser,
    converted,
    duration,
    fail,
    fill_inputs,
    names_list,
    place,
    positive,
    seconds,
    size,
)
from flake8_jax.cli.said import print_json, say, tell
from flake8_jax.runtime_checks.measurements import Bench, BenchCase, Comparison, Side

_BARS = 12
_BAR_WIDTH = 40
_CHATTY_TRANSFER = 0.5

_EPILOG = f"""\
{INPUTS_HELP}
Every call is waited for (JAX returns before the work is done). With --vs, both functions are timed in turn, in
alternating order; the ratio is the median over the rounds, and it counts only if it is larger than what two
measurements of the same function differ by in this run, and at least 1.1 (1.25 when the machine is busy).

examples:
  jaxlint bench train.py:step --case 'f32[64,64], f32[32,64]'
  jaxlint bench train.py:step --vs train.py:step_scan --plot terminal
  jaxlint bench model.py:decode --case 'f32[n,64], 4' --dim n=512 --static steps
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "bench",
        "Run a function on JAX and time it: the first call, moving inputs, and the calls after that.",
        _EPILOG,
    )
    made.add_argument("function", metavar="TARGET", help=TARGET_HELP)
    made.add_argument("--vs", metavar="OTHER", help="another function, to be compared with on the same inputs")
    made.add_argument("--rounds", type=positive, default=30, metavar="N", help="rounds of samples (default: 30)")
    made.add_argument(
        "--seconds", type=duration, default=20.0, metavar="S",
        help="do fewer rounds (at least 5) if they would take longer than this, for each case (default: 20)",
    )  # fmt: skip
    made.add_argument(
        "--eager", action="store_true", help="call it as it is; a function that is not jitted gets jitted else"
    )
    made.add_argument(
        "--donate", type=names_list, default=[], metavar="NAMES", help="parameters to donate, if it is not jitted yet"
    )
    made.add_argument(
        "--cores", type=positive, metavar="N", help="keep to N processors (default: all; 1 with --vs on a CPU)"
    )
    made.add_argument(
        "--plot", metavar="terminal|FILE.png", help="a histogram of the times, here or in a file (needs matplotlib)"
    )
    add_input_options(made)
    add_run_options(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint bench``; returns the exit status."""
    args = parser().parse_args(arguments)
    try:
        _check_plot(args.plot)
        result = ask(args, "bench", _request(args), args.platform)
    except RunError as error:
        return fail(error)
    if args.output_format == "json":
        print_json({key: value for key, value in result.items() if key != "kind"})
    bench = converted(result, Bench)
    if args.output_format == "text":
        say(described(bench))
    if args.plot == "terminal":
        if args.output_format == "text":
            for case in bench.cases:
                _print_histogram(case)
    elif args.plot:
        _write_png(bench, args.plot)
        tell(f"wrote {args.plot}")
    return 0


def _request(args: argparse.Namespace) -> dict[str, Any]:
    return {
        **fill_inputs(args),
        "target": args.function,
        "vs": args.vs,
        "rounds": args.rounds,
        "seconds": args.seconds,
        "eager": args.eager,
        "donate": args.donate,
        "cores": args.cores,
    }


def _check_plot(plot: str | None) -> None:
    """Before anything is run: whether the plot can be made. Raises RunError."""
    if plot is None or plot == "terminal":
        return
    if not plot.endswith(".png"):
        raise RunError(f"--plot {plot}: write `terminal`, or a file that ends in .png")
    folder = os.path.dirname(plot)
    if folder and not os.path.isdir(folder):
        raise RunError(f"--plot {plot}: there is no folder {folder}")
    if importlib.util.find_spec("matplotlib") is None:
        raise RunError(
            f"--plot {plot}: a PNG needs matplotlib, which {sys.executable} does not have: "
            "`pip install matplotlib`, or use --plot terminal"
        )


def described(bench: Bench) -> str:
    """The benchmark for a reader."""
    cores = f"{bench.cores} processor{'s' if bench.cores != 1 else ''}"
    lines = [f"{bench.setting}, {cores}\n"]
    if bench.busy:
        lines.append(
            f"The machine is busy (load average {bench.load:.2f} for each processor): "
            "only differences of 1.25× and more are claimed.\n"
        )
    for case in bench.cases:
        lines.append("\n" + _described_case(case))
    return "".join(lines)


def _described_case(case: BenchCase) -> str:
    made_up = " (made up; --case says others)" if case.source == "made up" else ""
    lines = [f"inputs: {case.inputs or 'none'}{made_up}"]
    if case.transfer.bytes:
        transfer = case.transfer
        lines.append(f"  host to device: {size(transfer.bytes)} in {seconds(transfer.seconds)}")
    for side in case.sides:
        lines += _described_side(side, case)
    if case.comparison is not None:
        lines += _verdict(case, case.comparison)
    if case.transfer.seconds > _CHATTY_TRANSFER * case.sides[0].run.median and case.transfer.bytes > 1 << 20:
        lines.append("  Moving the inputs takes about as long as the work: keep them on the device between calls.")
    return "\n".join(lines) + "\n"


def _described_side(side: Side, case: BenchCase) -> list[str]:
    first = side.first_call
    where = place(side.file, side.line)
    run = side.run
    lines = [
        f"  {side.name}" + (f" ({where}), {side.mode}" if where else f", {side.mode}"),
        f"    first call  {seconds(first.seconds)}: trace {seconds(first.trace)}, lower {seconds(first.lower)}, "
        f"compile {seconds(first.compile)}",
        f"    run         {seconds(run.median)} (half of the samples: {seconds(run.quartiles[0])} to "
        f"{seconds(run.quartiles[1])}); {case.rounds} rounds of {side.calls} call{'s' if side.calls != 1 else ''}",
    ]
    if case.rounds < case.asked_rounds and side is case.sides[0]:
        lines.append(f"                {case.asked_rounds} rounds would have taken too long (--seconds)")
    if side.donates:
        lines.append("    donates its inputs: every call got fresh copies, whose making is not in these times")
    if side.recompiles.count > 0.001:
        lines.append(
            f"    compiles {side.recompiles.count:.3g} times in every call: {seconds(side.recompiles.seconds)} of each is "
            "tracing and compiling, not work"
        )
    return lines


def _verdict(case: BenchCase, comparison: Comparison) -> list[str]:
    first, second = case.sides[0].name, case.sides[1].name
    band = f"two measurements of {first} differ by up to {comparison.band[1]:.2f}× in this run"
    if comparison.claim == "none":
        lines = [
            f"  No difference can be claimed: {second} took {1 / comparison.ratio:.2f}× the time of {first}, but {band}, "
            f"and {comparison.least:g}× is the least that counts."
        ]
    else:
        factor = comparison.ratio if comparison.claim == "faster" else 1 / comparison.ratio
        ends = comparison.range if comparison.claim == "faster" else tuple(1 / end for end in comparison.range[::-1])
        lines = [
            f"  {second} is {factor:.2f}× {comparison.claim} than {first} "
            f"(most rounds: {ends[0]:.2f}× to {ends[1]:.2f}×; {band})."
        ]
    agreement = case.agreement
    if agreement is not None and not agreement.same:
        why = agreement.reason or f"they differ by {agreement.difference:.2g} of the largest number"
        lines.append(f"  But the results are not the same: {why}.")
    elif agreement is not None:
        apart = f"the same up to {agreement.difference:.1g} of the largest number" if agreement.difference else "equal"
        lines.append(f"  The results are {apart}.")
    return lines


def _bins(case: BenchCase) -> list[tuple[float, list[int]]]:
    """Lower ends of equal ranges, and how many samples of each side lie in them; the slowest 2 % count to the last."""
    every = sorted(sample for side in case.sides for sample in side.samples)
    low, high = every[0], every[min(len(every) - 1, int(0.98 * len(every)))]
    width = (high - low) / _BARS or max(low, 1e-9) / _BARS
    found: list[tuple[float, list[int]]] = [(low + number * width, [0] * len(case.sides)) for number in range(_BARS)]
    for place_, side in enumerate(case.sides):
        for sample in side.samples:
            found[min(_BARS - 1, int((sample - low) / width))][1][place_] += 1
    return found


def _print_histogram(case: BenchCase) -> None:
    from rich.console import Console
    from rich.table import Table

    bins = _bins(case)
    most = max(count for _, counts in bins for count in counts) or 1
    table = Table(title=f"samples by time of one call: {case.inputs}", title_justify="left", box=None, pad_edge=False)
    table.add_column("from", justify="right")
    for side, style in zip(case.sides, ("cyan", "magenta")):
        table.add_column(side.name, style=style, min_width=_BAR_WIDTH // len(case.sides), no_wrap=True)
    longest = _BAR_WIDTH // len(case.sides)
    for start, counts in bins:
        bars = (f"{'█' * -(-count * longest // most)} {count or ''}".strip() for count in counts)
        table.add_row(seconds(start), *bars)
    console = Console(highlight=False)
    console.print()
    console.print(table)


def _write_png(bench: Bench, path: str) -> None:
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, plots = pyplot.subplots(len(bench.cases), 1, figsize=(7, 3 * len(bench.cases)), squeeze=False)
    for row, case in zip(plots[:, 0], bench.cases):
        slowest = _bins(case)[-1][0]
        for side in case.sides:
            times = [1e3 * min(sample, slowest) for sample in side.samples]
            row.hist(times, bins=30, alpha=0.6, label=side.name)
            row.axvline(1e3 * side.run.median, linestyle="--", linewidth=1)
        row.set(title=case.inputs, xlabel="time of one call [ms]", ylabel="samples")
        row.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
