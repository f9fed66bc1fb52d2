"""Two replacements of ``jax.pmap(f)`` without collectives, operation by operation, on eight virtual devices of the CPU.

    python benchmarks/pmap_forms.py

``jit``        ``jax.jit(jax.vmap(f), in_shardings=…, out_shardings=…)``: XLA partitions one program.
``shard_map``  ``jax.jit(jax.shard_map(jax.vmap(f), …))``: each device runs its own part. JAX601 writes this form.

Prints for each operation whether the results are those of ``jax.pmap`` to the last bit, and the communication between
devices in the compiled program. ``docs/pmap.md`` quotes the table. Runs on JAX 0.4.30 and newer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

_COMMUNICATION = re.compile(r"\b(all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)\b")


def convolve(images: Any, kernel: Any) -> Any:
    return jax.lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def train(weights: Any, inputs: Any) -> Any:
    value, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(inputs @ w) ** 2))(weights)
    return weights - 0.1 * gradient, value


def operations() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions of one device, and arguments with the mapped axis."""
    key = jax.random.key(0)
    keys = jax.random.split(key, 8)
    x = jax.random.normal(key, (8, 16, 16))
    positive = jnp.einsum("nij,nkj->nik", x, x) + jnp.eye(16)
    images, kernels = jax.random.normal(key, (8, 4, 12, 12, 3)), jax.random.normal(key, (8, 3, 3, 3, 5))
    numbers = jnp.arange(8)
    return {
        "arithmetic": (lambda a: jnp.sin(a) * 2 + 1, (x,)),
        "sums, means": (lambda a: (jnp.sum(a), jnp.mean(a, 0), jax.nn.softmax(a)), (x,)),
        "matrix product": (jnp.matmul, (x, positive)),
        "training step of a dense layer": (train, (x, positive)),
        "sort": (jnp.sort, (x,)),
        "random numbers": (lambda k: jax.random.normal(k, (100,)), (keys,)),
        "scan": (lambda a: jax.lax.scan(lambda c, v: (c * 0.9 + v, c), jnp.zeros(16), a), (x,)),
        "indexing with an array": (lambda a, i: a[jnp.array([0, 3]) + i], (x, numbers)),
        "dynamic_slice": (lambda a, i: jax.lax.dynamic_slice_in_dim(a, i, 3), (x, numbers)),
        "random.choice": (jax.random.choice, (keys, x)),
        "convolution": (convolve, (images, kernels)),
        "gradient of a convolution": (lambda i, w: jax.grad(lambda w: jnp.sum(convolve(i, w) ** 2))(w), (images, kernels)),
        "fft": (jnp.fft.fft, (x,)),
        "top_k": (lambda a: jax.lax.top_k(a, 3), (x,)),
        "cholesky": (jnp.linalg.cholesky, (positive,)),
        "solve": (jnp.linalg.solve, (positive, x)),
        "eigh": (lambda a: jnp.linalg.eigh(a)[0], (positive,)),
        "while_loop until a traced number": (
            lambda n: jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 1.1), (0, 1.0))[1],
            (numbers * 100,),
        ),
        "debug.callback": (lambda a: (jax.debug.callback(lambda v: None, a[0, 0]), a)[1], (x,)),
    }  # fmt: skip


def with_shardings(function: Callable[..., Any], mesh: Mesh) -> Any:
    split = NamedSharding(mesh, PartitionSpec("devices"))
    return jax.jit(jax.vmap(function), in_shardings=split, out_shardings=split)


def with_shard_map(function: Callable[..., Any], mesh: Mesh) -> Any:
    spec = PartitionSpec("devices")
    mapped = jax.vmap(function)
    if hasattr(jax, "shard_map"):
        return jax.jit(jax.shard_map(mapped, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
    from jax.experimental.shard_map import shard_map

    return jax.jit(shard_map(mapped, mesh=mesh, in_specs=spec, out_specs=spec, check_rep=False))


def compare(
    form: Callable[..., Any], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[bool, list[str]]:
    """Whether a form computes what ``pmap`` does, bit for bit, and how its devices communicate."""
    rewritten = form(function, Mesh(np.array(jax.devices()), ("devices",)))
    text = rewritten.lower(*arguments).compile().as_text()
    wanted, got = (jax.tree.leaves(f(*arguments)) for f in (jax.pmap(function), rewritten))
    same = all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(wanted, got, strict=True))
    return same, sorted(set(_COMMUNICATION.findall(text)))


def run(folder: Path, names: Iterable[str] = ()) -> dict[str, list[Any]]:
    """For some operations, or all: ``[same, communication]`` of ``jit``, then of ``shard_map``."""
    del folder
    known = operations()
    return {name: [compare(form, *known[name]) for form in (with_shardings, with_shard_map)] for name in names or known}


def main() -> None:
    print(f"JAX {jax.__version__}")
    for name, results in run(Path()).items():
        words = [f"{'same' if same else 'other'} {', '.join(ways) or 'none':24}" for same, ways in results]
        print(f"{name:34}{' | '.join(words)}")


if __name__ == "__main__":
    main()
