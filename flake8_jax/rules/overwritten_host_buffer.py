"""JAX516: see the page of ``overwritten_host_buffer``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Positions, Step
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import OverwrittenBuffer


@rule("JAX516", "error", fixable="sometimes")
def overwritten_host_buffer(event: OverwrittenBuffer) -> Report | None:
    """The code writes to a NumPy array that JAX may still read.

    The rule is on only with `--preview`.

    ## Why is this bad?

    A JAX call returns before the computation is done. On the CPU, JAX reads the memory of a NumPy argument during the
    computation, and `jax.device_put(buf)` may use the memory of `buf` for the new array. If the code then writes to
    `buf`, JAX sometimes computes with the new values. `jnp.array(buf)` does not help, because JAX may make this copy
    only after the write. Pass `buf.copy()`, or wait for the result before the write.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def score(batch):
        return jnp.sum(batch @ batch)


    def stream(values, n=1400):
        buffer = np.zeros((n, n), np.float32)
        scores = []
        for value in values:
            buffer[:] = value  # expect: overwritten-host-buffer
            scores.append(score(buffer))
        return scores


    def demonstrate():
        wrong = 0
        for _ in range(5):
            wrong += sum(float(s) < 1.0 for s in stream([1.0, 0.0] * 6)[::2])
            wrong += sum(float(s) > 1.0 for s in stream([1.0, 0.0] * 6)[1::2])
        assert wrong > 0
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def score(batch):
        return jnp.sum(batch @ batch)


    def stream(values, n=1400):
        buffer = np.zeros((n, n), np.float32)
        scores = []
        for value in values:
            buffer[:] = value
            scores.append(score(buffer.copy()))
        return scores
    ```

    ## Not reported

    jaxlint does not report a write to the NumPy array after the program has waited for the result of the computation,
    because JAX no longer reads the array. It does not report a 64-bit NumPy array: unless `jax_enable_x64` is set, JAX
    converts such an array to 32 bits before the call returns, and computes with the converted copy.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def score(batch):
        return jnp.sum(batch @ batch)


    def stream(values, n=1400):
        buffer, wide = np.zeros((n, n), np.float32), np.zeros((n, n))
        scores = []
        for value in values:
            buffer[:] = value
            wide[:] = value
            total = score(buffer) + score(wide)
            scores.append(jax.block_until_ready(total))
        return scores
    ```

    ## Limitations

    The rule misses NumPy arrays whose dtype jaxlint cannot infer, and arrays that the project does not make itself. The
    rule reports nothing if the code calls an unknown function between the JAX call and the write, because this function
    may wait for the result.

    ## Fix safety

    Unsafe. If the argument of the JAX call is the NumPy array `x` itself, jaxlint writes `x.copy()`. JAX then
    computes with the values at the time of the call, so results may change, and the copy takes time and memory. If
    the argument is an expression that uses the array, such as `{"x": x}`, there is no fix.

    ## How it is verified

    jaxlint cannot confirm the finding by a run, because the result depends on whether JAX reads the array before or
    after the write, and a run that jaxlint observes has another timing.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX411 (`donated-reuse`), JAX412 (`missing-donation`).

    ## Further reading

    <https://github.com/jax-ml/jax/issues/37830>
    """
    taker = event.taker
    row = Positions(taker.scope.tree.line_starts).row(taker.start)
    where = f"on line {row}" if taker.scope is event.context.scope else f"at {taker.scope.path}:{row}"
    why = "uses without a copy" if event.kept else "may still read"
    write = quote(event.context, event.at)
    changed = write if isinstance(event.at, ir.Call) else f"Writing {write}"
    return Report(
        event.at,
        f"{changed} changes an array that JAX got {where} and {why}; pass a `.copy()` to JAX",
        preview=True,
        uses=(Step(taker.scope.path, taker.start, row, "use", "", "JAX gets the array here"),),
    )
