"""JAX420: see the page of ``eager_gather``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import earliest_of_each_function
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, HostArray, TupleValue, Value
from flake8_jax.semantics.events.events import Context, Indexing

_FEW = 20
"""So many operations are not worth a thought."""


# One report is enough: ``x[index], y[index]`` is one mistake.
@rule("JAX420", "info", settle=earliest_of_each_function)
def eager_gather(event: Indexing) -> Report | None:
    """A loop outside tracing indexes a JAX array by an array of indices in every iteration.

    The rule is on only with `--preview`, because the code gives the right result and only takes more time.

    ## Why is this bad?

    Outside `jit`, JAX works out in Python which elements an array of indices takes, in each call. On a CPU with JAX
    0.10.2, `x[index]` for 128 rows took 2.8 ms, and the same inside the jitted step 0.06 ms. NumPy took 0.002 ms. A
    small training step is faster than that, so most of the time goes into making the batches.

    Pass `index` to the jitted step and index there, or keep the data in NumPy arrays until the batch is made.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.1 * x.T @ (x @ w)


    def batches(x, size):
        while True:
            order = np.random.permutation(len(x))
            for start in range(0, len(x), size):
                yield x[order[start : start + size]]  # expect: eager-gather


    def fit(w, steps):
        x = jnp.ones((1000, 3))
        for _, batch in zip(range(steps), batches(x, 100)):
            w = train_step(w, batch)
        return w


    def demonstrate():
        assert fit(jnp.ones(3), 20).shape == (3,)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x, index):
        x = x[index]
        return w - 0.1 * x.T @ (x @ w)


    def fit(w, steps, size):
        x = jnp.ones((1000, 3))
        for _ in range(steps):
            w = train_step(w, x, np.random.permutation(len(x))[:size])
        return w
    ```

    ## Not reported

    jaxlint does not report an index that is a number, a slice or a mask, and an index that the loop does not change. It
    does not report a loop that is known to have at most 20 iterations, code that only some iterations run, and a loop
    over epochs that shuffles the data at the start of each epoch.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.1 * x.T @ (x @ w)


    def fit(w, x, epochs, size):
        rows = np.ones((1000, 3))
        for _ in range(epochs):
            order = np.random.permutation(len(rows))
            for start in range(0, len(rows), size):
                w = train_step(w, rows[order[start : start + size]])
        for start in range(0, 1000, size):
            w = train_step(w, x[start : start + size])
        return w
    ```

    ## Limitations

    The rule needs to know that the indexed array is a JAX array, and that the index is an array.

    ## Fix safety

    No fix. The step and its callers change.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that the operation takes depends on the machine.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX206 (`sync-in-loop`), JAX414 (`eager-step`), JAX418 (`repeated-transfer`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html>
    """
    context = event.context
    if not isinstance(event.base, Array) or event.mode != "load" or not _repeats(context) or is_test(context):
        return None
    parts = event.index.elts if isinstance(event.index, TupleValue) else (event.index,)
    place = next((i for i, part in enumerate(parts) if _is_of_indices(part)), None)
    if place is None:
        return None
    node = event.at.index.elts[place] if isinstance(event.at.index, ir.Tuple) else event.at.index
    base, index = quote(context, event.at.value, "a JAX array"), quote(context, node, "of indices")
    problem = f"Indexing {base} by the array {index} outside jit is slow, and is done in every iteration"
    advice = f"index inside the jitted function, or keep {base} in NumPy"
    return Report(event.at, f"{problem}; {advice}", preview=True)


def _repeats(context: Context) -> bool:
    """Eager code in a loop, in nearly every iteration, and no epoch."""
    if context.staged or context.presumed or context.guarded or context.first or context.epoch:
        return False
    return (context.inner is not None or context.loop > 0) and not 0 < context.iterations <= _FEW


def _is_of_indices(value: Value) -> bool:
    return isinstance(value, (Array, HostArray)) and value.ndim not in (None, 0) and value.dtype != "bool"
