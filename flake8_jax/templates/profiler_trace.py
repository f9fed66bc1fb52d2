"""Profiler trace: record a few warm steps, with names that you recognize in the viewer.

Compile before the trace starts, or the trace shows little but the compiler. `StepTraceAnnotation` marks the
steps on the host, and `jax.named_scope` gives operations a name that stays visible in the compiled program.
`block_until_ready` is inside the trace, so that the trace contains the work of the last step.

Open the result with `tensorboard --logdir FOLDER` (package `tensorboard-plugin-profile`) or with
https://ui.perfetto.dev.
"""

import functools
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(weights, x):
    with jax.named_scope("forward"):
        hidden = jnp.tanh(x @ weights)
    with jax.named_scope("update"):
        return weights - 0.01 * (x.T @ hidden)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="trace-")
    weights_key, x_key = jax.random.split(jax.random.key(0))
    weights = jax.random.normal(weights_key, (128, 128)) / 12
    x = jax.random.normal(x_key, (64, 128))
    weights = step(weights, x).block_until_ready()  # compiles
    with jax.profiler.trace(folder):
        for number in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                weights = step(weights, x)
        weights.block_until_ready()
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    print(f"{len(files)} files in {folder}: " + ", ".join(sorted({path.suffix for path in files})))
    assert any(path.name.endswith(".xplane.pb") for path in files)


if __name__ == "__main__":
    main()
