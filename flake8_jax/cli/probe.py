"""``jaxlint probe``: show what a function compiles to, also for absent accelerators."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from flake8_jax.cli.running import PLATFORMS, RunError, names_list, place, positive, seconds, show_result, size
from flake8_jax.cli.subjects import (
    LOOPS,
    add_subject_options,
    measured,
    run_subject,
    said_inputs,
    said_left_out,
    subject_parser,
)
from flake8_jax.runtime_checks.child.described import GPUS, TPUS, platform_of
from flake8_jax.runtime_checks.measurements import Collective, Probe, ProbeCase, Stage

_MOST_PRIMITIVES = 8
DIALECTS = ("jaxpr", "stablehlo", "hlo", "unoptimized-hlo")

_EPILOG = """
jaxlint does not run the function and creates no arrays, so inputs may be larger than this machine's memory. To compile
for a platform that this machine does not have, make a virtual environment with its compiler (`pip install
'flake8-jax[runtime-tpu]'` or `[runtime-cuda]`) and name its Python with --python (mode topology). Without the compiler, JAX
only lowers the function for the platform (mode lower), which shows operations that the platform does not support.

Exit status: 0 if the function compiles for every platform and every input, 1 if it fails for one of them, 2 if JAX cannot trace
the function.

examples:
  jaxlint probe train.py:step --case 'f32[4096,4096], f32[64,4096]'
  jaxlint probe train.py:step --case 'bf16[n,n]' --dim n=65536 --target cpu,cuda,tpu
  jaxlint probe kernel.py:matmul --topology v5e:2x2 --write build/hlo
  jaxlint probe sharded.py:step --devices 8 --cases sharded.py --dialect hlo
"""


def parser() -> argparse.ArgumentParser:
    made = subject_parser(
        "probe", "Trace, lower and compile a function without running it, and show the result.", _EPILOG
    )
    made.add_argument(
        "--target", dest="platforms", action="extend", type=_platforms, metavar="cpu,cuda,tpu",
        help="compile for these platforms, separated by commas (default: those of the installed JAX)",
    )  # fmt: skip
    made.add_argument(
        "--topology", metavar="NAME",
        help=f"compile for this device, which this machine need not have: {', '.join(TPUS)} with a shape such as v5e:2x2, or "
        f"{', '.join(GPUS)}",
    )  # fmt: skip
    made.add_argument(
        "--devices", type=positive, metavar="N",
        help="compile for N virtual CPU devices, and show how much memory each needs and what they send each other",
    )  # fmt: skip
    made.add_argument(
        "--dialect", dest="dialects", action="extend", type=_dialects, metavar="NAMES",
        help=f"print the first lines of these texts, separated by commas: {', '.join(DIALECTS)} (hlo is the optimized HLO); "
        "with --write, write these and no others",
    )  # fmt: skip
    made.add_argument(
        "--lines", type=positive, default=40, metavar="N", help="print at most N lines of each text (default: 40)"
    )
    made.add_argument(
        "--write",
        metavar="DIR",
        help="write the whole texts to files in this directory: jaxpr, StableHLO and optimized HLO, or those of --dialect",
    )
    add_subject_options(made, platform=False)
    return made


def _dialects(text: str) -> list[str]:
    names = names_list(text)
    unknown = [name for name in names if name not in DIALECTS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"{text!r}: texts are {', '.join(DIALECTS)}, separated by commas")
    return names


def _platforms(text: str) -> list[str]:
    names = ["cuda" if name == "gpu" else name for name in names_list(text)]
    unknown = [name for name in names if name not in PLATFORMS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"{text!r}: platforms are {', '.join(PLATFORMS)}, separated by commas")
    return names


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint probe``; returns the exit status."""
    return run_subject(parser(), arguments, _run)


def _run(args: argparse.Namespace, command: list[str] | None) -> int:
    more = {
        "platforms": _chosen(args),
        "topology": args.topology,
        "devices": args.devices,
        "dialects": args.dialects or [],
        "lines": args.lines,
        "write": _folder(args.write),
    }
    probe = measured(args, command, Probe, more, task="probe")
    show_result(args, probe, lambda found: described(found, args.devices))
    return 1 if any(stage.state == "failed" for case in probe.cases for stage in case.stages) else 0


def _chosen(args: argparse.Namespace) -> list[str]:
    """The platforms; with a topology alone, the one that it is of. Raises RunError."""
    asked = list(dict.fromkeys(args.platforms or ()))
    if args.devices is not None and (args.topology is not None or asked not in ([], ["cpu"])):
        raise RunError("--devices: virtual devices are of the processor; leave out --topology, and --target but cpu")
    if args.topology is None:
        return asked
    try:
        platform = platform_of(args.topology)
    except ValueError as error:
        raise RunError(str(error)) from error
    if asked and platform not in asked:
        raise RunError(f"--topology {args.topology}: this is for {platform}, and --target says {', '.join(asked)}")
    return asked or [platform]


def _folder(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        os.makedirs(name, exist_ok=True)
    except OSError as error:
        raise RunError(f"--write {name}: {error.strerror}") from error
    return os.path.abspath(name)


def described(probe: Probe, devices: int | None = None) -> str:
    """The result for a reader. devices: how many virtual ones there were."""
    where = place(probe.file, probe.line)
    out = f"{probe.name}" + (f" ({where})" if where else "") + f", {probe.mode}; {probe.setting}\n"
    for case in probe.cases:
        out += "\n" + _described_case(case)
    out += said_left_out(probe.left_out)
    used = max((stage.devices for case in probe.cases for stage in case.stages if stage.state == "ok"), default=devices)
    if devices is not None and used is not None and used < devices:
        out += f"\nIt runs on {used} of {devices} devices: no sharding of the function or its inputs uses the others.\n"
    if probe.files:
        out += "\nwritten:\n" + "".join(f"  {place(file, 0)}\n" for file in probe.files)
    return out


def _described_case(case: ProbeCase) -> str:
    common = ", ".join(f"{name} {count}" for name, count in list(case.primitives.items())[:_MOST_PRIMITIVES])
    lines = [
        f"inputs:  {said_inputs(case)}",
        f"output:  {case.output}",
        f"jaxpr:   {case.equations} equation{'s' if case.equations != 1 else ''}" + (f" ({common})" if common else ""),
    ]
    lines += _shown("jaxpr", case.preview)
    for stage in case.stages:
        lines += _described_stage(stage)
    return "\n".join(lines) + "\n"


_MODES = {
    "device": "compiled on the device here",
    "topology": "compiled for a description of the device, which is not here",
    "lower": "lowered only, not compiled",
}


def _described_stage(stage: Stage) -> list[str]:
    device = f" ({stage.device})" if stage.device and stage.device != stage.platform else ""
    verdict = {"ok": _MODES[stage.mode], "failed": "FAILS", "inconclusive": "inconclusive"}[stage.state]
    lines = [f"{stage.platform}{device}: {verdict} [mode {stage.mode}]"]
    if stage.problem:
        lines.append(f"  {stage.problem}")
    took = ", ".join(f"{step} {seconds(value)}" for step, value in stage.seconds.items())
    sizes = ", ".join(f"{kind} {count} lines" for kind, count in stage.texts.items())
    lines += [f"  {label:<7} {text}" for label, text in (("times", took), ("texts", sizes)) if text]
    if stage.cost:
        lines.append(f"  {'cost':<7} {_cost(stage.cost)}")
        lines += [f"  {'':<7} {LOOPS}"] * bool(stage.cost.get("loops"))
    if stage.memory:
        each = "each device: " if stage.devices > 1 else ""
        memory = ", ".join(f"{name} {size(value)}" for name, value in _memory(stage.memory))
        lines.append(f"  {'memory':<7} {each}{memory}")
    lines += _sent(stage)
    for kind, text in stage.previews.items():
        lines += _shown(kind, text)
    return lines


def _sent(stage: Stage) -> list[str]:
    """What the devices send each other."""
    if stage.devices == 1 and not stage.collectives:
        return []
    if stage.devices == 1:
        lines = [f"  {'split':<7} over 1 device, so these send nothing:"]
        return lines + [_collective(one) for one in stage.collectives]
    head = f"  {'split':<7} over {stage.devices} devices, "
    if not stage.collectives:
        return [f"{head}which send each other nothing"]
    return [f"{head}which send each other:", *map(_collective, stage.collectives)]


def _collective(one: Collective) -> str:
    among = f" among {one.group}" if one.group else ""
    return f"          {one.count} {one.kind} of {size(one.bytes)}{among}"


def _shown(kind: str, text: str) -> list[str]:
    return [f"  {kind}:", *(f"    {line}" for line in text.splitlines())] if text else []


def _memory(memory: dict[str, int]) -> list[tuple[str, int]]:
    names = {"argument": "arguments", "output": "results", "temp": "temporaries", "alias": "shared by both"}
    return [(names[name], value) for name, value in memory.items() if name in names and (value or name != "alias")]


def _cost(cost: dict[str, float]) -> str:
    parts = []
    if "flops" in cost:
        parts.append(f"{_big(cost['flops'])} floating-point operations")
    if "bytes accessed" in cost:
        parts.append(f"{size(cost['bytes accessed'])} read and written")
    if cost.get("optimal_seconds"):
        parts.append(f"at least {seconds(cost['optimal_seconds'])}, says the compiler")
    return ", ".join(parts)


def _big(number: float) -> str:
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= factor:
            return f"{number / factor:.3g} {unit}"
    return f"{number:.0f}"
