"""JAX515: a function made in a loop reads the loop's variable after the loop has moved on.

Limitations: generators, functions that nothing in the project calls.
"""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import LateBinding


@rule("JAX515", "error", fixable="sometimes")
def late_bound_closure(event: LateBinding) -> Report | None:
    """A function made in a loop reads the loop's variable after the loop has moved on.

    Why it bites: Python looks a variable of an enclosing function up when the function runs, not when it is made. JAX runs a
    branch of `lax.switch`, or a jitted function of a table, when it traces it: by then the variable holds its last value, so
    all functions compute the same. No error says so. Bind the value with a default, with `functools.partial` or in a factory.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def moment(order, x):
        branches = [lambda v: jnp.mean(v**p) for p in (1, 2, 3)]  # expect: late-bound-closure
        return jax.lax.switch(order, branches, x)


    def demonstrate():
        x = jnp.array([1.0, 2.0])
        assert moment(0, x) == moment(2, x)
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def moment(order, x):
        branches = [lambda v, p=p: jnp.mean(v**p) for p in (1, 2, 3)]
        return jax.lax.switch(order, branches, x)
    ```

    Also good: a function that runs in the iteration that made it, or that JAX traces there, and one from a factory.

    ```python
    import jax
    import jax.numpy as jnp


    def power(p):
        return lambda v: jnp.mean(v**p)


    def moments(x):
        made = [power(p) for p in (1, 2, 3)]
        total = 0.0
        for p in (1, 2, 3):
            total += jax.tree.map(lambda v: jnp.mean(v**p), x)
        return total, [f(x) for f in made]
    ```

    Fix: unsafe. The variable becomes the default of a new last parameter, where the parameters leave room for one. A caller
    that passes more arguments than before would replace it.

    Proof: the reading runs after the iteration that made the function.
    """
    return Report(
        event.at,
        f"Every function made in this loop uses the last value of `{event.name}`, because Python looks it up at call time; "
        f"bind it as a default: `{event.name}={event.name}`",
        preview=True,
    )
