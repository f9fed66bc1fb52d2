"""What there is to run on: the interpreter, JAX and its plug-ins, devices, settings, and whether a product of matrices works.

Request: ``all`` (whether to list every setting of JAX).
Result: see ``Environment`` in ``flake8_jax.runtime_checks.measurements``.

Values of environment variables are reported only for names that concern JAX; those of others may be secrets.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

from flake8_jax.runtime_checks.child.jitting import forget_linter
from flake8_jax.runtime_checks.child.main import Channel, summary

_PACKAGE = re.compile(
    r"(jax|jaxlib|jax[-_].+|libtpu.*|numpy|scipy|ml[-_]dtypes|opt[-_]einsum|nvidia-.+|flax|optax|equinox|haiku|dm-haiku"
    r"|orbax.*|jaxtyping|chex)$",
    re.IGNORECASE,
)
_VARIABLE = re.compile(
    r"(JAX|XLA|TF(?!_(CLI|VAR|TOKEN|LOG|WORKSPACE))|TPU|LIBTPU|NCCL|PJRT|CUDA)_\w+$|(CUDA_VISIBLE_DEVICES|LD_LIBRARY_PATH|OMP_NUM_THREADS|PYTHONPATH)$"
)
"""Those that JAX, XLA and the drivers read; some ``TF_`` ones belong to Terraform."""
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|CREDENTIAL|APIKEY|API_KEY", re.IGNORECASE)
_OWN = frozenset({"XLA_PYTHON_CLIENT_PREALLOCATE"})
_SIZE = 256
_WHEELS = {
    "cpu": (("jaxlib",),),
    "cuda": (("jax-cuda12-plugin", "jax-cuda13-plugin"), ("jax-cuda12-pjrt", "jax-cuda13-pjrt")),
    "tpu": (("libtpu", "libtpu-nightly"),),
}
"""For each target, groups of wheels of which one is needed."""
_EXTRAS = {"cpu": "runtime", "cuda": "runtime-cuda", "tpu": "runtime-tpu"}


def run(request: dict[str, Any], channel: Channel) -> None:
    """Look and tell."""
    forget_linter()
    packages = _packages()
    found: dict[str, Any] = {
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
            "platform": platform.platform(),
            "machine": platform.machine(),
            "processors": str(os.cpu_count() or 1),
        },
        "jax": None,
        "packages": packages,
        "problem": "",
        "backend": "",
        "process_index": None,
        "process_count": None,
        "devices": [],
        "config": {},
        "variables": _variables(),
        "smoke": None,
        "sandbox": _sandbox(),
    }
    try:
        import jax
    except Exception as error:  # an import of mismatched packages may fail in any way
        found["problem"] = f"jax cannot be imported: {summary(error)}"
    else:
        found["jax"] = jax.__version__
        found.update(_backend(jax, request["all"]))
    found["targets"] = {name: _needs(name, packages, found["devices"]) for name in _WHEELS}
    channel.send("result", **found)


def _packages() -> dict[str, str]:
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"] or ""
        if _PACKAGE.match(name):
            found.setdefault(name.lower().replace("_", "-"), distribution.version)
    return dict(sorted(found.items()))


def _variables() -> dict[str, str]:
    return {
        name: "(not shown)" if _SECRET.search(name) else value
        for name, value in sorted(os.environ.items())
        if _VARIABLE.match(name) and name not in _OWN
    }


def _sandbox() -> dict[str, Any]:
    """Limits of this process in MiB, -1 for none; empty where the platform has no such limits."""
    try:
        import resource
    except ImportError:  # not on Windows
        return {"limits": {}}
    limits = {}
    for label, which in (("data", resource.RLIMIT_DATA), ("address space", resource.RLIMIT_AS)):
        soft = resource.getrlimit(which)[0]
        limits[label] = -1 if soft == resource.RLIM_INFINITY else soft >> 20
    return {"limits": limits}


def _backend(jax: Any, all_settings: bool) -> dict[str, Any]:
    config = dict(_settings(jax, all_settings))
    try:
        devices = jax.devices()
    except Exception as error:  # plug-ins fail in ways of their own
        return {"problem": f"no backend can be started: {summary(error)}", "config": config}
    return {
        "backend": jax.default_backend(),
        "process_index": jax.process_index(),
        "process_count": jax.process_count(),
        "devices": [_device(device) for device in devices],
        "config": config,
        "smoke": _smoke(jax),
    }


def _device(device: Any) -> dict[str, Any]:
    try:
        statistics = device.memory_stats() or {}
    except Exception:  # not every backend counts its memory
        statistics = {}
    memory = statistics.get("bytes_limit")
    return {"id": device.id, "kind": device.device_kind, "platform": device.platform, "memory": memory}


def _settings(jax: Any, all_settings: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings of JAX: those that are not at their defaults, or all of them."""
    holders = getattr(jax.config, "_value_holders", None) or {}  # private; no public list of defaults exists
    for name, holder in sorted(holders.items()):
        # Most settings of recent versions do not keep their default.
        default, value = getattr(holder, "_default_value", None), getattr(holder, "value", None)
        from_environment = bool(os.environ.get(name.upper()))
        if all_settings or from_environment or (hasattr(holder, "_default_value") and value != default):
            yield name, {"value": _plain(value), "default": _plain(default), "from_environment": from_environment}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)[:60]


def _smoke(jax: Any) -> dict[str, Any]:
    """A small product of matrices, jitted, against NumPy."""
    import numpy as np

    random = np.random.default_rng(0)
    left, right = (random.standard_normal((_SIZE, _SIZE)).astype(np.float32) for _ in range(2))
    try:
        on_device = jax.device_put((left, right))
        product = jax.jit(lambda a, b: a @ b)
        started = time.perf_counter()
        compiled = product.lower(*on_device).compile()
        compile_seconds = time.perf_counter() - started
        compiled(*on_device).block_until_ready()
        started = time.perf_counter()
        result = compiled(*on_device).block_until_ready()
        run_seconds = time.perf_counter() - started
        expected = left.astype(np.float64) @ right.astype(np.float64)
        error = float(np.max(np.abs(np.asarray(result) - expected)) / np.max(np.abs(expected)))
    except Exception as trouble:  # whatever the backend cannot do
        return {"ok": False, "problem": summary(trouble)}
    # Accelerators multiply float32 with fewer bits by default: bfloat16 keeps about 3 digits.
    return {
        "ok": error < 2e-2,
        "problem": "" if error < 2e-2 else "the product differs from NumPy's",
        "error": error,
        "compile": compile_seconds,
        "run": run_seconds,
        "platform": next(iter(result.devices())).platform,
    }


def _needs(target: str, packages: dict[str, str], devices: list[dict[str, Any]]) -> dict[str, Any]:
    """What a target has and lacks. compiles: whether its compiler is installed; present: whether a device is there."""
    installed = {name: packages[name] for group in _WHEELS[target] for name in group if name in packages}
    missing = [group[0] for group in _WHEELS[target] if not any(name in packages for name in group)]
    platforms = {"cuda": {"gpu", "cuda"}}.get(target, {target})
    return {
        "present": any(device["platform"] in platforms for device in devices),
        "installed": installed,
        "missing": missing,
        "extra": _EXTRAS[target],
    }
