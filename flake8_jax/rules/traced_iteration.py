"""JAX104: Python iterates over the leading axis of a traced array. Not modelled: how long that axis is, if unknown."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, UnionValue, Value, is_traced_array
from flake8_jax.semantics.events.events import Iteration

SHORT_AXIS = 32
"""An axis known to be no longer than this unrolls into little code."""


@rule("JAX104", "warning", opt_in=True)
def traced_iteration(event: Iteration) -> Report | None:
    """Python iterates over a traced array, so the loop is unrolled into the program.

    Why it bites: iterating a tracer works: each element becomes a slice of its own, and the body is traced once for
    every row. The program grows with the axis, and so do the time to trace and the time to compile it. `jax.vmap`,
    `jax.lax.scan` and `jax.lax.map` trace the body once.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def energies(positions):
        return jnp.stack([jnp.sum(p**2) for p in jnp.sin(positions)])  # expect: traced-iteration


    def demonstrate():
        short = jax.make_jaxpr(energies)(jnp.ones((10, 3)))
        long = jax.make_jaxpr(energies)(jnp.ones((100, 3)))
        assert len(str(long)) > 5 * len(str(short))
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def energies(positions):
        return jax.vmap(lambda p: jnp.sum(p**2))(jnp.sin(positions))
    ```

    Also good: Python containers of arrays, keys, and axes known to be short.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def forward(layers, x):
        for w in jax.tree.leaves(layers):
            x = jnp.tanh(x @ w)
        return x


    @jax.jit
    def perturb(key, point, cells):
        first, second = jax.random.split(key)
        x, y = jnp.sin(point)
        x = x + cells[tuple(jnp.int32(point))]
        total = 0.0
        for term in jnp.stack([x, y, x * y]):
            total = total + term
        return total + jax.random.normal(first) + jax.random.normal(second)
    ```

    Fix: none. Which of `vmap`, `scan` and `map` fits depends on what the body carries along.

    Proof: the jaxpr grows in proportion to the axis.
    """
    context = event.context
    if context.presumed or not context.staged or not is_traced_array(event.value) or _is_short(event.value):
        return None
    if event.how == "index" or (event.count is not None and event.count <= SHORT_AXIS):
        return None
    subject = quote(context, event.at)
    return Report(
        event.at,
        f"Iterating over {subject}, which is traced, unrolls one copy of the code per row; use jax.vmap or jax.lax.scan",
    )


def _is_short(value: Value) -> bool:
    """Keys, or an axis known to be short."""
    if isinstance(value, UnionValue):
        return any(_is_short(member) for member in value.members)
    return isinstance(value, Array) and (
        value.dtype == "key" or (value.length is not None and value.length <= SHORT_AXIS)
    )
