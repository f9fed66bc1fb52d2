"""Says what the JAX of the running interpreter has: run by ``jax_versions.py``, with names on standard input.

Prints one JSON object: its version, the state of every name asked for, its public names, the modules that ``import jax``
makes reachable, and the transforms that may be called without their function. Works on every release since 0.4.20.
"""

import importlib
import json
import pkgutil
import sys
import types
import warnings

warnings.simplefilter("ignore")
import jax  # noqa: E402

SKIPPED = [
    "pallas",
    "mosaic",
    "jax2tf",
    "array_serialization",
    "colocated_python",
    "export.shape",
    "tools",
    "example",
    "collect_profile",
    "serialize_executable",
    "sparse",
    "cloud_tpu",
    "version",
    "interpreters",
    "jax.lib",
    "jax.core",
    "rnn",
    "compilation_cache",
    "test_util",
    "transfer",
    "fused",
    "scheduling",
    "buffer_callback",
    "host_callback",
    "xla_metadata",
    "jet",
    "ode",
    "key_reuse",
    "multihost",
    "hijax",
    "extend",
    "proxy",
    "_src",
    "abstract_arrays",
    "linear_util",
    "util",
    "custom_d",
    "array_api",
    "mesh_utils",
    "topologies",
    "x64_context",
    "source_mapper",
    "roofline",
    "checkify",
    "profiler",
    "monitoring",
    "experimental.attrs",
    "custom_dce",
    "custom_partitioning",
    "layout",
]
"""Modules whose new names are not listed: unstable, private in all but name, or slow to import."""
TRANSFORMS = ("jax.jit", "jax.checkpoint", "jax.custom_jvp", "jax.custom_vjp", "jax.shard_map")
FOREIGN = ("typing", "collections.abc", "functools", "enum", "abc", "dataclasses")


def reachable() -> list[str]:
    loaded = sorted(n for n in sys.modules if n == "jax" or (n.startswith("jax.") and "._" not in n))
    return [n for n in loaded if n == "jax" or hasattr(sys.modules[n.rpartition(".")[0]], n.rpartition(".")[2])]


def resolve(name: str) -> object:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:cut]))
        except (ImportError, AttributeError, TypeError, RuntimeError):
            continue
        for part in parts[cut:]:
            value = getattr(value, part)
        return value
    raise AttributeError(name)


def state(name: str) -> str:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = resolve(name)
        except AttributeError:
            return "absent"
    if any(issubclass(w.category, DeprecationWarning) and "jax" in str(w.message) for w in seen):
        return "deprecated"
    return "module" if isinstance(value, types.ModuleType) else "present"


def public_names() -> list[str]:
    found = []
    names = [m.name for m in pkgutil.walk_packages(jax.__path__, "jax.")]
    for module in ["jax", *[n for n in names if "._" not in n and not any(s in n for s in SKIPPED)]]:
        try:
            held = vars(importlib.import_module(module))
        except ImportError:
            continue
        for name, value in held.items():
            inner = isinstance(value, types.ModuleType) and value.__name__.startswith(module + ".")
            if name.startswith("_") or (isinstance(value, types.ModuleType) and not inner):
                continue
            if getattr(value, "__module__", "") not in FOREIGN:
                found.append(f"{module}.{name}")
    return sorted(found)


def factories() -> list[str]:
    found = []
    for name in TRANSFORMS:
        try:
            resolve(name)()  # type: ignore[operator]
            found.append(name)
        except (TypeError, AttributeError):
            pass
    return found


loaded = reachable()
states = {name: state(name) for name in json.load(sys.stdin)}
print(
    json.dumps(
        {
            "version": jax.__version__,
            "states": states,
            "public": public_names(),
            "reachable": loaded,
            "factories": factories(),
        }
    )
)
