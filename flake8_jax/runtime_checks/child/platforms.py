"""Compiling for an accelerator: the one that is here, or the description of one that is not.

Vocabulary
----------
mode       ``device``: compiled on what is here. ``topology``: compiled by the real compiler for a description of the
           device. ``lower``: lowered to StableHLO only, by ``jax.export``; shows operations that the platform lacks.
topology   of a TPU: its generation and shape, as ``v5e:2x2``. For a GPU: its kind, as ``h100``.

Not modelled: several devices and what they send each other.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flake8_jax.runtime_checks.child.jitting import Function, Inputs, devices, import_jax, memory_of, peak
from flake8_jax.runtime_checks.child.main import summary

TPU_TOPOLOGY = "v5e:2x2"
GPU_KIND = "h100"
_MiB = 1 << 20


@dataclass(frozen=True)
class Gpu:
    """The facts of a GPU that its compiler asks for. Sizes in bytes, bandwidth in bytes a second."""

    name: str
    capability: tuple[int, int]
    cores: int
    lanes: int
    memory: int
    bandwidth: int
    shared_block: int
    shared_core: int
    cache: int
    clock: float

    def configuration(self) -> str:
        """As XLA's text of a target."""
        facts = {
            "threads_per_block_limit": 1024, "threads_per_warp": 32, "shared_memory_per_block": 48 << 10,
            "shared_memory_per_core": self.shared_core, "threads_per_core_limit": 2048, "core_count": self.cores,
            "fpus_per_core": self.lanes, "block_dim_limit_x": 2**31 - 1, "block_dim_limit_y": 2**16 - 1,
            "block_dim_limit_z": 2**16 - 1, "memory_bandwidth": self.bandwidth, "l2_cache_size": self.cache,
            "clock_rate_ghz": self.clock, "device_memory_size": self.memory,
            "shared_memory_per_block_optin": self.shared_block, "registers_per_core_limit": 1 << 16,
            "registers_per_block_limit": 1 << 16,
        }  # fmt: skip
        major, minor = self.capability
        return (
            "gpu_device_info { "
            + " ".join(f"{name}: {value}" for name, value in facts.items())
            + f" cuda_compute_capability {{ major: {major} minor: {minor} }} }} "
            + 'platform_name: "CUDA" runtime_version { major: 12 minor: 9 } dnn_version_info { major: 9 minor: 7 } '
            + f'device_description_str: "{self.name}"'
        )


GPUS = {
    "h100": Gpu("NVIDIA H100 80GB HBM3", (9, 0), 132, 128, 84_929_347_584, 3_352_320_000_000,
                227 << 10, 228 << 10, 50 * _MiB, 1.98),
    "a100": Gpu("NVIDIA A100-SXM4-40GB", (8, 0), 108, 64, 42_331_013_120, 1_555_200_000_000,
                163 << 10, 164 << 10, 40 * _MiB, 1.41),
}  # fmt: skip


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


def prepare() -> None:
    """Before JAX is imported: let the plug-in for GPUs start where there is none, to compile for a description."""
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
    if (topology in GPUS) != (platform == "cuda"):
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
            return make(topology or TPU_TOPOLOGY, "tpu").devices[0], ""
        kind = topology or GPU_KIND
        return make(kind, "cuda", target_config=GPUS[kind].configuration(), topology="1x1x1").devices[0], ""
    except Exception as error:  # the plug-ins fail in ways of their own
        return None, f"its compiler takes no description of a device: {summary(error)}"


def _compiled(function: Function, inputs: Inputs, device: Any, found: Stage) -> Stage:
    jax = import_jax()
    call: Any = function.call
    found.device = device.device_kind
    try:
        with jax.default_device(device):
            started = time.perf_counter()
            if hasattr(call, "trace"):  # a jitted function has it; wrappers of other libraries may not
                traced = call.trace(*inputs.args, **inputs.kwargs)
                found.seconds["trace"] = time.perf_counter() - started
                started = time.perf_counter()
                lowered = traced.lower()
            else:
                lowered = call.lower(*inputs.args, **inputs.kwargs)
            found.seconds["lower"] = time.perf_counter() - started
            found.texts["stablehlo"] = lowered.as_text()
            started = time.perf_counter()
            compiled = lowered.compile()
            found.seconds["compile"] = time.perf_counter() - started
    except Exception as error:  # compilers fail in ways of their own
        # What asks for the backend itself, as callbacks do, cannot be compiled for a description of it.
        elsewhere = found.mode == "topology" and "Unknown backend" in str(error)
        found.state, found.problem = "inconclusive" if elsewhere else "failed", _problem(error)
        return found
    found.texts["hlo"] = compiled.as_text() or ""
    found.cost, found.memory = _cost(compiled), memory_of(compiled)
    return found


def _lowered(function: Function, inputs: Inputs, found: Stage) -> Stage:
    started = time.perf_counter()
    try:
        from jax import export

        exporter: Any = export.export
        exported = exporter(function.call, platforms=[found.platform])(*inputs.args, **inputs.kwargs)
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
