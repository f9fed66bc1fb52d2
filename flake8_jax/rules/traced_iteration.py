"""JAX104: see the page of ``traced_iteration``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, UnionValue, Value, is_traced_array
from flake8_jax.semantics.events.events import Iteration

SHORT_AXIS = 32
"""An axis known to be no longer than this unrolls into little code."""


@rule("JAX104", "warning", opt_in=True)
def traced_iteration(event: Iteration) -> Report | None:
    """Python iterates over a traced array, which unrolls the loop into the program.

    ## Why is this bad?

    A Python loop over a tracer takes one slice for each element, and JAX traces the body once for each slice. The
    longer the axis, the larger the compiled program, and the longer JAX traces and compiles. `jax.vmap`,
    `jax.lax.scan` and `jax.lax.map` trace the body only once.

    ## Example

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

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def energies(positions):
        return jax.vmap(lambda p: jnp.sum(p**2))(jnp.sin(positions))
    ```

    ## Not reported

    jaxlint does not report a loop over a Python list or tuple of arrays, because its elements may have different
    shapes. It does not report a loop over keys that `jax.random.split` returned, or over an axis that is known to
    have at most 32 elements, because such a loop adds little to the program.

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

    ## Limitations

    The rule also reports an axis whose length jaxlint cannot infer, although the axis may have at most 32 elements.

    ## Fix safety

    No fix. Whether `vmap`, `scan` or `map` fits depends on which values one iteration passes to the next.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if Python iterates over a tracer at the
    line of the finding, or runs the body of the loop at least twice in one trace.

    ## Since

    0.2.0.

    ## Related rules

    JAX408 (`unrolled-loop`), JAX103 (`traced-range`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/control-flow.html>
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
