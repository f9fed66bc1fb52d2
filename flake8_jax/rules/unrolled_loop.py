"""JAX408: a Python loop in staged code is unrolled into the program. See ``semantics.unrolling`` for what is not modelled."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.events.events import UnrolledLoop
from flake8_jax.semantics.events.facts import IN_NEST


@rule("JAX408", "warning", fixable="sometimes")
def unrolled_loop(event: UnrolledLoop) -> Report | None:
    """A Python loop in compiled code runs 32 times or more, and every iteration becomes code of its own.

    Why it bites: Python loops are gone once JAX has traced them: what is compiled is the body, again and again. The time
    to trace and to compile grows with the number of iterations, faster than in proportion, and so does the program.
    `jax.lax.fori_loop` and `jax.lax.scan` trace the body once; where no iteration needs the one before, so does
    `jax.vmap`. Loops inside of one another multiply; the outermost one is reported. The number from which on a loop is
    reported is the option `unroll-threshold`.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def relax(u):
        for _ in range(100):  # expect: unrolled-loop
            u = 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1))
        return u


    @jax.jit
    def smooth(u):
        for _ in range(6):  # expect: unrolled-loop
            for weight in (0.1, 0.2, 0.4, 0.4, 0.2, 0.1):
                u = u + weight * (jnp.roll(u, 1) - u)
        return u


    def demonstrate():
        assert str(jax.make_jaxpr(relax)(jnp.ones(4))).count(" = mul ") == 100
        assert str(jax.make_jaxpr(smooth)(jnp.ones(4))).count(" = sub ") == 36
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def relax(u):
        def body_fun(_, u):
            return 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1))

        return jax.lax.fori_loop(0, 100, body_fun, u)
    ```

    Also good: few iterations, a list of layers that differ from one another, a loop that computes nothing but numbers of
    Python, and one outside of what is compiled.

    ```python
    import jax
    import jax.numpy as jnp

    BLOCKS = 40


    @jax.jit
    def forward(blocks, x):
        for i in range(BLOCKS):
            x = jnp.tanh(x @ blocks[i]["kernel"] + blocks[i]["bias"])
        for _ in range(4):
            x = x / jnp.linalg.norm(x)
        return x


    @jax.jit
    def window(x):
        weights = []
        for i in range(64):
            weights.append(0.5 - 0.5 * abs(i / 63 - 0.5))
        return x * jnp.array(weights)


    @jax.jit
    def step(x):
        return x - 0.1 * jnp.sin(x)


    def fit(x):
        for _ in range(1000):
            x = step(x)
        return x
    ```

    Fix: `for … in range(…)` becomes `jax.lax.fori_loop` where the body does nothing but compute the next values of its
    variables (unsafe: they have to keep their shapes and dtypes, and the counter is then an array).

    Proof: the jaxpr holds the body as often as the loop runs it.
    """
    if _is_in_handler(event):
        return None
    inside = "" if event.copies == event.trips else ", inner loops included"
    return Report(
        event.at,
        f"The loop over {quote(event.context, event.at)} unrolls into {event.copies} copies of its body{inside}, "
        "which slows compilation; use jax.lax.fori_loop, scan or vmap",
        "info" if is_test(event.context) else None,
        unless=IN_NEST,
    )


def _is_in_handler(event: UnrolledLoop) -> bool:
    """The loop runs where tracing the same by other means has failed: eagerly, then."""
    for node in nodes_around(event.context.scope.tree.body, event.at.start, event.at.start + 1):
        if isinstance(node, ir.Try) and any(
            handler.body and handler.body[0].start <= event.at.start < handler.body[-1].end for handler in node.handlers
        ):
            return True
    return False
