"""Compiling for an accelerator: the one that is here, or the description of one that is not.

Vocabulary
----------
mode       ``device``: compiled on what is here. ``topology``: compiled by the real compiler for a description of the
           device. ``lower``: lowered to StableHLO only, by ``jax.export``; shows operations that the platform lacks.
topology   of a TPU: its generation and shape, as ``v5e:2x2``. For a GPU: its kind, as ``h100``.

Several devices are those that JAX has here, or so many virtual ones of the processor (``--devices``): the program is split by
the user's shardings. Limitations: a description of several devices, whose meshes the user's code cannot make.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flake8_jax.runtime_checks.child.collectives import collectives, devices_of
from flake8_jax.runtime_checks.child.described import GPU_KIND, GPUS, TPU_TOPOLOGY, Gpu, platform_of, whole
from flake8_jax.runtime_checks.child.jitting import (
    Function,
    Inputs,
    Refusal,
    devices,
    import_jax,
    loops_in,
    memory_of,
    peak,
)
from flake8_jax.runtime_checks.child.main import summary
from flake8_jax.runtime_checks.child.wrappers import traceable

_AWAY = ("ptxas", "nvlink", "libdevice", "libtpu_lockfile", "already in use", "No space left", "Unable to initialize backend",
         "No such file or directory", "cannot open shared object", "DNN library", "Unknown backend")  # fmt: skip
"""What compilers say where something is missing around them, which says nothing of the program."""
_DEVICES = "--xla_force_host_platform_device_count"
_MISSING = (ImportError, OSError, MemoryError)


@dataclass
class Stage:
    """What became of a function on one platform; see ``Stage`` in ``measurements``. texts: kind to text."""

    platform: str
    mode: str
    state: str = "ok"
    device: str = ""
    problem: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    devices: int = 1
    collectives: list[dict[str, Any]] = field(default_factory=list)


def prepare(count: int | None) -> None:
    """Before JAX is imported: let the plug-in for GPUs start if there is none, to compile for a description.

    count: of virtual devices of the processor, which is then the platform.
    """
    if count is not None:
        os.environ["JAX_PLATFORMS"] = "cpu"
        kept = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if not flag.startswith(_DEVICES)]
        os.environ["XLA_FLAGS"] = " ".join([*kept, f"{_DEVICES}={count}"])
    if not glob.glob("/dev/nvidia[0-9]*") and not os.path.exists("/dev/dxg"):
        os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")  # else libtpu asks the network what machine this is


def own_platform() -> str:
    """The platform that JAX uses here, by the name that ``--target`` has for it."""
    name = devices()[0].platform
    return "cuda" if name == "gpu" else str(name)


def stage(function: Function, inputs: Inputs, platform: str, topology: str | None) -> Stage:
    """Compile for a platform in the best mode there is. topology: of what is not here."""
    import jax

    try:
        here: list[Any] = jax.devices(platform)
    except (RuntimeError, AssertionError):  # an assertion: jax 0.10 where a plug-in is missing
        here = []
    if here:
        return _compiled(function, inputs, here[0], Stage(platform, "device"))
    if topology is not None and platform_of(topology) != platform:
        topology = None  # it is meant for another platform
    described, problem = _described(platform, topology)
    if described is not None:
        found = Stage(platform, "topology")
        _compiled(function, inputs, described, found)
        return _fits(found, GPUS[topology or GPU_KIND]) if platform == "cuda" else found
    return _lowered(function, inputs, Stage(platform, "lower", problem=problem))


def _described(platform: str, topology: str | None) -> tuple[Any, str]:
    """A device that exists on paper, or why there is none."""
    plugins = {"tpu": ("libtpu",), "cuda": ("jax_cuda12_plugin", "jax_cuda13_plugin")}.get(platform, ())
    if not any(importlib.util.find_spec(plugin) for plugin in plugins):
        return None, f"its compiler is not installed: `pip install 'flake8-jax[runtime-{platform}]'`"
    from jax.experimental import topologies

    make: Callable[..., Any] = topologies.get_topology_desc
    try:
        if platform == "tpu":
            return make(whole(topology or TPU_TOPOLOGY), "tpu").devices[0], ""
        kind = topology or GPU_KIND
        return make(kind, "cuda", target_config=GPUS[kind].configuration(), topology="1x1x1").devices[0], ""
    except Exception as error:  # the plug-ins fail in ways of their own
        if topology is not None and "INVALID_ARGUMENT" in str(error):
            raise Refusal(f"--topology {topology}: its compiler refuses it: {summary(error)}") from error
        return None, f"its compiler takes no description of a device: {summary(error)}"


def _compiled(function: Function, inputs: Inputs, device: Any, found: Stage) -> Stage:
    jax = import_jax()
    found.device = device.device_kind
    try:
        with jax.default_device(device):
            call, args, kwargs = traceable(function.call, inputs)
            jax.clear_caches()  # else JAX finds the trace that was made for the jaxpr, or for another platform
            started = time.perf_counter()
            if hasattr(call, "trace"):  # JAX 0.4.31
                traced = call.trace(*args, **kwargs)
                found.seconds["trace"] = time.perf_counter() - started
                started = time.perf_counter()
                lowered = traced.lower()
            else:
                lowered = call.lower(*args, **kwargs)
            found.seconds["lower"] = time.perf_counter() - started
            found.texts["stablehlo"] = lowered.as_text()
            found.texts["unoptimized-hlo"] = lowered.as_text(dialect="hlo")
            started = time.perf_counter()
            compiled = lowered.compile()
            found.seconds["compile"] = time.perf_counter() - started
    except Exception as error:  # compilers fail in ways of their own
        # What asks for the backend itself, as callbacks do, cannot be compiled for a description of it.
        around = isinstance(error, _MISSING) or any(sign in str(error) for sign in _AWAY)
        found.state, found.problem = "inconclusive" if around else "failed", _problem(error)
        return found
    found.texts["hlo"] = text = compiled.as_text() or ""
    found.devices, found.collectives = devices_of(text), collectives(text)
    found.cost, found.memory = _cost(compiled), memory_of(compiled)
    found.cost |= loops_in(text) if found.cost else {}
    return found


def _lowered(function: Function, inputs: Inputs, found: Stage) -> Stage:
    started = time.perf_counter()
    try:
        from jax import export

        exporter: Any = export.export
        call, args, kwargs = traceable(function.call, inputs)
        exported = exporter(call, platforms=[found.platform])(*args, **kwargs)
        found.texts["stablehlo"] = str(exported.mlir_module())
    except NotImplementedError as error:  # an operation that the platform lacks
        found.state, found.problem = "failed", _problem(error)
    except Exception as error:  # what cannot be lowered elsewhere, such as callbacks, says nothing of the platform
        found.state, found.problem = "inconclusive", f"it cannot be lowered without the platform: {_problem(error)}"
    found.seconds["lower"] = time.perf_counter() - started
    return found


def _fits(found: Stage, gpu: Gpu) -> Stage:
    """The compiler for GPUs does not complain of what is too large; so we do."""
    needed = peak(found.memory)
    if found.state == "ok" and needed > gpu.memory:
        found.state = "failed"
        found.problem = f"it needs {needed / 2**30:.1f} GiB, and {gpu.name} has {gpu.memory / 2**30:.1f} GiB"
    return found


def _problem(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: " + " ".join(lines[:3])[:400] if lines else type(error).__name__


def _cost(compiled: Any) -> dict[str, float]:
    try:
        said = compiled.cost_analysis()
    except Exception:  # not every compiler counts
        return {}
    facts = (said[0] if said else {}) if isinstance(said, (list, tuple)) else said or {}  # a list before jax 0.5
    wanted = ("flops", "transcendentals", "bytes accessed", "optimal_seconds")
    return {name: float(facts[name]) for name in wanted if facts.get(name, -1) >= 0}
