"""``jaxlint bench``: measure how long a function takes, alone or against another."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from flake8_jax.cli.plots import check_plot, draw_bench, save
from flake8_jax.cli.running import duration, place, positive, seconds, show_result, size
from flake8_jax.cli.said import tell
from flake8_jax.cli.subjects import (
    LOOPS,
    add_subject_options,
    measured,
    run_subject,
    said_inputs,
    said_left_out,
    subject_parser,
)
from flake8_jax.runtime_checks.child.timing import FEWEST
from flake8_jax.runtime_checks.measurements import Bench, BenchCase, Comparison, Peak, Side, peak

_BARS = 12
_BAR_WIDTH = 40
_CHATTY_TRANSFER = 0.5
_MUCH_DISPATCH = 0.2

_EPILOG = """
jaxlint waits for the result of each call, because JAX returns before the work is done. With --vs, it calls both functions in
turns, in short blocks, and compares lower quartiles. It measures until the noise is small, or until --seconds are over. It
says that a function is faster only if the difference is larger than the noise, which is the difference between two halves of
the calls of one function.

examples:
  jaxlint bench train.py:step --case 'f32[64,64], f32[32,64]'
  jaxlint bench train.py:step --vs train.py:step_scan --plot terminal
  jaxlint bench train.py:step --vs eager --case 'f32[64,64], f32[32,64]'
  jaxlint bench train.py:main.step -- python train.py --steps 30
  jaxlint bench model.py:decode --case 'f32[n,64], 4' --dim n=512 --static steps
"""


def parser() -> argparse.ArgumentParser:
    made = subject_parser(
        "bench", "Run a function on JAX and time the first call, moving inputs, and later calls.", _EPILOG
    )
    made.add_argument(
        "--vs", metavar="OTHER",
        help="compare with this other function on the same inputs; `eager` stands for the same function without jit",
    )  # fmt: skip
    made.add_argument(
        "--rounds",
        type=positive,
        default=400,
        metavar="N",
        help="measure at most N rounds, which are a few blocks of calls each (default: 400)",
    )
    made.add_argument(
        "--seconds", type=duration, default=20.0, metavar="S",
        help="measure each input for at most this time, even if the noise is still above 2 %% (default: 20)",
    )  # fmt: skip
    made.add_argument(
        "--eager",
        action="store_true",
        help="call the function without jit (default: jaxlint jits a function that is not jitted)",
    )
    made.add_argument(
        "--cores", type=positive, metavar="N", help="use N processors (default: all; 1 with --vs on a CPU)"
    )
    made.add_argument(
        "--plot", metavar="terminal|FILE.png|FILE.svg",
        help="draw a histogram of the times: in the terminal, or in a file together with the roofline of the device (a file "
        "needs matplotlib)",
    )  # fmt: skip
    add_subject_options(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint bench``; returns the exit status."""
    return run_subject(parser(), arguments, _run)


def _run(args: argparse.Namespace, command: list[str] | None) -> int:
    check_plot(args.plot if args.plot != "terminal" else None)
    more = {"vs": args.vs, "rounds": args.rounds, "seconds": args.seconds, "cores": args.cores, "limit": args.timeout}
    bench = measured(args, command, Bench, more, task="bench")
    show_result(args, bench, described)
    if args.plot == "terminal":
        if args.output_format == "text":
            for case in bench.cases:
                _print_histogram(case)
    elif args.plot:
        save(draw_bench(bench), args.plot)
        tell(f"wrote {args.plot}")
    return 0


def described(bench: Bench) -> str:
    """The benchmark for a reader."""
    cores = f"{bench.cores} processor{'s' if bench.cores != 1 else ''}"
    lines = [f"{bench.setting}, {cores}\n"]
    if bench.busy:
        lines.append(
            f"The machine is busy (load average {bench.load:.2f} for each processor): it takes longer to tell "
            "functions apart.\n"
        )
    for case in bench.cases:
        lines.append("\n" + _described_case(case, bench.peak))
    lines.append(said_left_out(bench.left_out))
    return "".join(lines)


def _described_case(case: BenchCase, most: Peak | None) -> str:
    lines = [f"inputs: {said_inputs(case)}"]
    if case.transfer.bytes:
        transfer = case.transfer
        lines.append(f"  host to device: {size(transfer.bytes)} in {seconds(transfer.seconds)}")
    for side in case.sides:
        lines += _described_side(side, case, most)
    if case.comparison is not None:
        lines += _verdict(case, case.comparison)
    if case.transfer.seconds > _CHATTY_TRANSFER * case.sides[0].run.median and case.transfer.bytes > 1 << 20:
        times = case.transfer.seconds / case.sides[0].run.median
        share = "about as long as" if times < 2 else f"{times:.2g} times as long as"
        lines.append(f"  Moving the inputs takes {share} the work: keep them on the device between calls.")
    return "\n".join(lines) + "\n"


def _described_side(side: Side, case: BenchCase, most: Peak | None) -> list[str]:
    first = side.first_call
    where = place(side.file, side.line)
    run = side.run
    lines = [
        f"  {side.name}" + (f" ({where}), {side.mode}" if where else f", {side.mode}"),
        f"    first call  {seconds(first.seconds)}: trace {seconds(first.trace)}, lower {seconds(first.lower)}, "
        f"compile {seconds(first.compile)}",
        f"    run         {seconds(run.quartiles[0])} (lower quartile of {len(side.samples)} calls; median "
        f"{seconds(run.median)}, upper quartile {seconds(run.quartiles[1])})",
    ]
    lines += _dispatch(side) + _work(side, most)
    if side.memory:
        lines.append(
            f"    memory      {size(peak(side.memory))} on the device: arguments {size(side.memory.get('argument', 0))}, "
            f"results {size(side.memory.get('output', 0))}, temporaries {size(side.memory.get('temp', 0))}"
        )
    if side.donates:
        lines.append("    donates its inputs: every call got fresh copies, whose making is not in these times")
    if side.recompiles.count > 0.001:
        lines.append(
            f"    compiles {side.recompiles.count:.3g} times in every call: {seconds(side.recompiles.seconds)} of each is "
            "tracing and compiling, not work"
        )
    return lines


def _dispatch(side: Side) -> list[str]:
    if side.returns is None:
        return []
    is_early = side.returns < side.run.quartiles[0]
    back = f"the call comes back after {seconds(side.returns)}" if is_early else "the call comes back with its result"
    if side.dispatch is None:
        return [f"    dispatch    {back}"]
    share = side.dispatch / side.run.quartiles[0]
    lines = [f"    dispatch    {seconds(side.dispatch)} for a jitted function that does nothing; {back}"]
    if share > _MUCH_DISPATCH:
        lines.append(
            f"                That is {share:.0%} of the run: give each call more work, or put the loop in jit."
        )
    return lines


def _work(side: Side, most: Peak | None) -> list[str]:
    """Operations and bytes a second, as the compiler counts them, beside what the device can do."""
    run = side.run.quartiles[0]
    flops, moved = side.cost.get("flops", 0.0) / run, side.cost.get("bytes accessed", 0.0) / run
    if not flops and not moved:
        return []
    limit = [f" of {rate(value, unit)}" if value else "" for value, unit in _limits(most)]
    source = f" ({most.source})" if most else ""
    beyond = any(value < done for (value, _), done in zip(_limits(most), (flops, moved)) if value)
    note = [
        "                That is above the maximum: the data is in a cache, or the machine was busy when it was measured."
    ]
    return [
        f"    work        {rate(flops, 'FLOP/s')}{limit[0]} and {rate(moved, 'B/s')}{limit[1]}{source}",
        *(note if beyond else []),
        *([f"                {LOOPS}"] if side.cost.get("loops") else []),
    ]


def _limits(most: Peak | None) -> list[tuple[float, str]]:
    return [(most.flops if most else 0.0, "FLOP/s"), (most.bytes if most else 0.0, "B/s")]


def rate(value: float, unit: str) -> str:
    """``1.23 GFLOP/s``."""
    for prefix, factor in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def claim_in_words(first: str, second: str, comparison: Comparison, *, tight: bool) -> str:
    """Which of two functions is the faster, or why that cannot be said."""
    band = f"two halves of the calls of one function differ by up to {comparison.band[1]:.3g}× in this run"
    if comparison.measure == "processor":
        band += ", by the time that they had the processor"
    apart = f"No difference can be claimed: {second} took {1 / comparison.ratio:.3g}× the time of {first}, but"
    if comparison.epochs < FEWEST:
        compiled = f"compiled only {comparison.epochs} of the {FEWEST} times that a claim needs"
        return f"{apart} within --timeout they were {compiled}."
    if comparison.claim == "none":
        more = "" if tight else "; more --seconds or a quieter machine may tell them apart"
        low, high = (1 / end for end in comparison.range[::-1])
        is_within = comparison.band[0] <= comparison.ratio <= comparison.band[1]
        why = band if is_within else f"the repetitions allow anything between {low:.3g}× and {high:.3g}×"
        return f"{apart} {why}{more}."
    factor = comparison.ratio if comparison.claim == "faster" else 1 / comparison.ratio
    ends = comparison.range if comparison.claim == "faster" else tuple(1 / end for end in comparison.range[::-1])
    between = f"between {ends[0]:.3g}× and {ends[1]:.3g}×; {band}"
    return f"{second} is {factor:.3g}× {comparison.claim} than {first} ({between})."


def _verdict(case: BenchCase, comparison: Comparison) -> list[str]:
    first, second = (side.name for side in case.sides)
    lines = [f"  {claim_in_words(first, second, comparison, tight=case.tight)}"]
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

    rows = _bins(case)
    most = max(count for _, counts in rows for count in counts) or 1
    table = Table(title=f"samples by time of one call: {case.inputs}", title_justify="left", box=None, pad_edge=False)
    table.add_column("from", justify="right")
    for side, style in zip(case.sides, ("cyan", "magenta")):
        table.add_column(side.name, style=style, min_width=_BAR_WIDTH // len(case.sides), no_wrap=True)
    longest = _BAR_WIDTH // len(case.sides)
    for start, counts in rows:
        bars = (f"{'█' * -(-count * longest // most)} {count or ''}".strip() for count in counts)
        table.add_row(seconds(start), *bars)
    console = Console(highlight=False)
    console.print()
    console.print(table)
