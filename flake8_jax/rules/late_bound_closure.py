"""JAX515: see the page of ``late_bound_closure``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import LateBinding


@rule("JAX515", "error", fixable="sometimes")
def late_bound_closure(event: LateBinding) -> Report | None:
    """A function made in a loop reads the loop variable after the loop has continued.

    The rule is on only with `--preview`.

    ## Why is this bad?

    Python looks up a variable of an enclosing function when the inner function runs, not when it is made. JAX runs the
    branches of `lax.switch` when it traces the `switch`, after the loop that made the branches has ended. The loop
    variable then holds its last value, so all branches compute the same, and JAX raises no error. Jitted functions
    that a loop stores in a dict have the same problem. Bind the value with a default argument, with
    `functools.partial` or in a function that makes the inner function.

    ## Example

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

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def moment(order, x):
        branches = [lambda v, p=p: jnp.mean(v**p) for p in (1, 2, 3)]
        return jax.lax.switch(order, branches, x)
    ```

    ## Not reported

    jaxlint does not report a function that runs, or that JAX traces, in the iteration that made it, because the loop
    variable still has the right value. It does not report a function that another function makes and returns
    (`make(i)`), because each call has its own variable.

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

    ## Limitations

    The rule misses functions that a generator makes (`yield lambda x: x * i`), and functions that no code of the
    project calls.

    ## Fix safety

    Unsafe. The fix makes the loop variable the default value of a new last parameter: `lambda x: x * i` becomes
    `lambda x, i=i: x * i`. A call with one more argument would replace this value. jaxlint offers no fix if a
    parameter cannot be added at the end, for example after `**options`.

    ## How it is verified

    jaxlint cannot confirm the finding: a run shows the value that the function reads, but not the value that the
    variable had in the iteration that made the function.

    ## Since

    0.3.0, not released yet.

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html>
    """
    return Report(
        event.at,
        f"All functions that the loop makes here use the last `{event.name}`, because Python looks it up at call time; "
        f"bind it as a default: `{event.name}={event.name}`",
        preview=True,
    )
