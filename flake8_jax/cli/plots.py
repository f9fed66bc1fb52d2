"""Plots of measurements, in files: PNG or SVG, made by matplotlib where it is installed.

Vocabulary
----------
roofline   the most operations a second that a device can do, by how many operations there are for each byte that is moved:
           few, and the memory is the limit (the slope); many, and the units that compute are (the flat part).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

from flake8_jax.cli.running import RunError
from flake8_jax.runtime_checks.measurements import Bench, BenchCase, Peak, Recompiles, Side, peak

_STEPS = ("trace", "lower", "compile")
_SUFFIXES = (".png", ".svg")
_BINS = 40
_COLORS = ("#4c72b0", "#dd8452", "#55a868")


def check_plot(path: str | None) -> None:
    """Before anything is run: whether the plot can be made. Raises RunError."""
    if path is None:
        return
    if not path.endswith(_SUFFIXES):
        raise RunError(f"--plot {path}: write a file that ends in .png or .svg (`bench` also draws in the terminal)")
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise RunError(f"--plot {path}: there is no folder {folder}")
    if importlib.util.find_spec("matplotlib") is None:
        raise RunError(
            f"--plot {path}: this needs matplotlib, which {sys.executable} does not have: `pip install matplotlib`"
        )


def save(figure: Any, path: str) -> None:
    """Write a figure. Raises RunError."""
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise RunError(f"--plot {path}: {error.strerror}") from error


def _figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, plots = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
    for plot in plots.flat:
        plot.spines[["top", "right"]].set_visible(False)
    return figure, plots


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def draw_bench(bench: Bench) -> Any:
    """A histogram for each case, and beside it where the functions lie under the roofline of the device."""
    roofs = bench.peak is not None and any(side.cost.get("flops") for case in bench.cases for side in case.sides)
    figure, plots = _figure(len(bench.cases), 2 if roofs else 1, 11 if roofs else 7, 3.2 * len(bench.cases))
    for row, case in zip(plots, bench.cases):
        _histogram(row[0], case)
        if roofs and bench.peak is not None:
            _roofline(row[1], case.sides, bench.peak, str(bench.setting))
    return figure


def _histogram(plot: Any, case: BenchCase) -> None:
    every = sorted(sample for side in case.sides for sample in side.samples)
    low, high = every[0], every[min(len(every) - 1, int(0.95 * len(every)))]
    for side, color in zip(case.sides, _COLORS):
        times = [1e3 * min(sample, high) for sample in side.samples]
        share = [100 / len(times)] * len(times)
        plot.hist(
            times, weights=share, bins=_BINS, range=(1e3 * low, 1e3 * max(high, low * 1.01)), alpha=0.6, label=side.name,
            color=color,
        )  # fmt: skip
        plot.axvline(1e3 * side.run.quartiles[0], linestyle="--", linewidth=1, color=color)
    plot.set(xlabel="time of one call [ms] (slowest 5 % in the last bar)", ylabel="share of the calls [%]")
    plot.set_title(_short(case.inputs), fontsize=9)
    plot.legend(fontsize=8)


def _roofline(plot: Any, sides: Sequence[Side], most: Peak, device: str) -> None:
    knee = most.flops / most.bytes
    points = []
    for side in sides:
        flops, moved, run = side.cost.get("flops", 0), side.cost.get("bytes accessed", 0), side.run.quartiles[0]
        if flops and moved:
            points.append((flops / moved, flops / run, side.name))
    left = min([knee / 30, *(x / 3 for x, _, _ in points)])
    right = max([knee * 30, *(3 * x for x, _, _ in points)])
    plot.plot([left, knee, right], [left * most.bytes, most.flops, most.flops], color="black", linewidth=1.2)
    for (x, y, name), color, size in zip(points, _COLORS, (10, 6, 4)):  # smaller ones lie on top
        plot.plot(
            [x],
            [y],
            "o",
            markersize=size,
            color=color,
            label=f"{name}: {y / min(most.flops, x * most.bytes):.0%} of the roof",
        )
    plot.set(xscale="log", yscale="log", xlabel="operations for each byte moved", ylabel="FLOP/s")
    plot.set_title(f"roofline, {most.source}: {_short(device, 45)}", fontsize=9)
    if points:
        plot.legend(fontsize=8, loc="lower right")


def draw_recompiles(recompiles: Recompiles) -> Any:
    """Bars of compile time and of memory for every case; those from the cache have none."""
    cases = recompiles.cases
    figure, plots = _figure(1, 2, 11, max(2.2, 0.35 * len(cases) + 1.4))
    times, memory = plots[0]
    rows = range(len(cases))
    labels = [f"{case.label}: {_short(case.inputs, 34)}" for case in cases]
    left = [0.0] * len(cases)
    for step, color in zip(_STEPS, _COLORS):
        widths = [1e3 * case.steps.get(step, 0.0) if case.compiled else 0.0 for case in cases]
        times.barh(rows, widths, left=left, label=step, color=color)
        left = [start + width for start, width in zip(left, widths)]
    for row, case in zip(rows, cases):
        if not case.compiled:
            times.text(0, row, " from the cache", va="center", fontsize=8, color="gray")
    largest = max((peak(case.memory) for case in cases), default=0)
    unit, factor = next(
        (u, f) for u, f in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("bytes", 1)) if largest >= f or f == 1
    )
    kept = [(peak(case.memory) - case.memory.get("temp", 0)) / factor for case in cases]
    memory.barh(rows, kept, label="arguments and results", color=_COLORS[0])
    memory.barh(
        rows, [case.memory.get("temp", 0) / factor for case in cases], left=kept, label="temporaries", color=_COLORS[1]
    )
    times.set(xlabel="compile time [ms]", yticks=list(rows))
    times.set_yticklabels(labels, fontsize=8)
    memory.set(xlabel=f"device memory of the program [{unit}]", yticks=[])
    for plot in (times, memory):
        plot.invert_yaxis()
        plot.legend(fontsize=8, frameon=False, ncol=3, loc="lower left", bbox_to_anchor=(0, 1))
    figure.suptitle(f"{recompiles.name}, {recompiles.mode}", fontsize=10)
    return figure
