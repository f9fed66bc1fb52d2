"""Devices that are not here, as their compilers want them described: generations of TPUs, and kinds of GPUs.

The facts of GPUs are those of XLA's own descriptions (``xla/backends/gpu/target_config/specs``); the names of TPUs are those
that libtpu 0.0.45 knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MiB = 1 << 20
TPUS = {"v2": "2x2", "v3": "2x2", "v4": "2x2x1", "v5e": "2x2", "v5p": "2x2x1", "v6e": "2x2", "tpu7x": "2x2x1"}
"""Generations, and the smallest shape of each."""
TPU_TOPOLOGY = "v5e:2x2"
GPU_KIND = "h100"
_SHAPE = re.compile(r"\d+x\d+(x\d+)?")


@dataclass(frozen=True)
class Gpu:
    """The facts of a GPU that its compiler asks for. Sizes in bytes, bandwidth in bytes a second, clock in GHz. threads: the
    most of a core."""

    name: str
    capability: tuple[int, int]
    cores: int
    fpus: int
    memory: int
    bandwidth: int
    shared_block: int
    shared_core: int
    cache: int
    clock: float
    threads: int = 2048

    def configuration(self) -> str:
        """As XLA's text of a target."""
        facts = {
            "threads_per_block_limit": 1024, "threads_per_warp": 32, "shared_memory_per_block": 48 << 10,
            "shared_memory_per_core": self.shared_core, "threads_per_core_limit": self.threads, "core_count": self.cores,
            "fpus_per_core": self.fpus, "block_dim_limit_x": 2**31 - 1, "block_dim_limit_y": 2**16 - 1,
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
    "h100-pcie": Gpu("NVIDIA H100 PCIe", (9, 0), 114, 128, 84_942_979_072, 2_039_040_000_000,
                     227 << 10, 228 << 10, 50 * _MiB, 1.755),
    "h200": Gpu("NVIDIA H200 141GB HBM3e", (9, 0), 132, 128, 151_397_597_184, 4_800_000_000_000,
                227 << 10, 228 << 10, 50 * _MiB, 1.98),
    "b200": Gpu("NVIDIA B200", (10, 0), 148, 128, 191_514_411_008, 7_672_320_000_000,
                227 << 10, 228 << 10, 132_644_864, 1.965),
    "gb200": Gpu("NVIDIA GB200", (10, 0), 152, 128, 197_897_748_480, 7_928_064_000_000,
                 227 << 10, 228 << 10, 135_528_448, 2.062),
    "a100": Gpu("NVIDIA A100-SXM4-40GB", (8, 0), 108, 64, 42_331_013_120, 1_555_200_000_000,
                163 << 10, 164 << 10, 40 * _MiB, 1.41),
    "a100-80gb": Gpu("NVIDIA A100-SXM4-80GB", (8, 0), 108, 64, 85_100_068_864, 2_039_040_000_000,
                     163 << 10, 164 << 10, 40 * _MiB, 1.41),
    "a6000": Gpu("NVIDIA RTX A6000", (8, 6), 84, 128, 51_041_271_808, 768_096_000_000,
                 99 << 10, 100 << 10, 6 * _MiB, 1.8, 1536),
    "rtx6000pro": Gpu("NVIDIA RTX PRO 6000 Blackwell", (12, 0), 188, 128, 103_079_215_104, 1_792_000_000_000,
                      99 << 10, 128 << 10, 128 * _MiB, 2.6, 1536),
    "v100": Gpu("Tesla V100-SXM2-16GB", (7, 0), 80, 64, 16_935_682_048, 898_048_000_000,
                96 << 10, 96 << 10, 6 * _MiB, 1.53),
}  # fmt: skip


def platform_of(topology: str) -> str:
    """``tpu`` or ``cuda``. Raises ValueError, with what is known, for another name."""
    generation, colon, shape = topology.partition(":")
    if topology in GPUS:
        return "cuda"
    if generation not in TPUS or (colon and not _SHAPE.fullmatch(shape)):
        raise ValueError(
            f"--topology {topology}: it is unknown; TPUs are {', '.join(TPUS)}, with a shape such as v5e:2x2, "
            f"and GPUs are {', '.join(GPUS)}"
        )
    return "tpu"


def whole(topology: str) -> str:
    """``v5e:2x2`` for ``v5e``."""
    return topology if ":" in topology else f"{topology}:{TPUS[topology]}"
