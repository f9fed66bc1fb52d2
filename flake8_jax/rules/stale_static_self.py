"""JAX511: compiled code reads an attribute, or a variable of an enclosing function, that is rebound after the trace.

Limitations: changes that nothing in the project makes; a call with other shapes, which JAX traces anew; Flax modules that
compiled code captures and an optimizer updates.
"""

from __future__ import annotations

from flake8_jax.core.findings import Positions, Step
from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import StaleRead


@rule("JAX511", "error")
def stale_static_self(event: StaleRead) -> Report | None:
    """Compiled code reads an attribute or an enclosing variable that other code rebinds after the trace.

    Why it bites: `self` is static in a jitted method, and a closure is no argument, so JAX reads their values once, while it
    traces. They are constants of the compiled program. A later assignment has no effect on calls with the same shapes: a
    target network stays at its first weights, without a word. jaxlint reports a reading only if the project calls the same
    compiled function again after the assignment, on the same object.

    Bad:

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    class Agent:
        def __init__(self):
            self.target = jnp.ones(3)

        @partial(jax.jit, static_argnums=0)
        def value(self, observation):
            return observation @ self.target  # expect: stale-static-self

        def sync(self, params):
            self.target = params


    def demonstrate():
        agent = Agent()
        before = agent.value(jnp.ones(3))
        agent.sync(10.0 * jnp.ones(3))
        assert agent.value(jnp.ones(3)) == before
    ```

    Good:

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    class Agent:
        def __init__(self):
            self.target = jnp.ones(3)

        @partial(jax.jit, static_argnums=0)
        def value(self, target, observation):
            return observation @ target

        def sync(self, params):
            self.target = params


    def main():
        agent = Agent()
        before = agent.value(agent.target, jnp.ones(3))
        agent.sync(10.0 * jnp.ones(3))
        return before, agent.value(agent.target, jnp.ones(3))
    ```

    Also good: a function that is compiled anew after the change, and an attribute that is set before the first call alone.

    ```python
    import jax
    import jax.numpy as jnp


    class Regression:
        def __init__(self, scale):
            self.weights = jnp.zeros(3)
            self.scale = scale
            self.compile()

        def compile(self):
            self.predict = jax.jit(lambda x: self.scale * (x @ self.weights))

        def fit(self, x, y):
            self.weights = jnp.linalg.lstsq(x, y)[0]
            self.compile()


    def main(x, y):
        model = Regression(2.0)
        before = model.predict(x)
        model.fit(x, y)
        return before, model.predict(x)
    ```

    Fix: none. The value has to become an argument, through every caller.

    Proof: the reading runs only while JAX traces, so a later value never reaches the compiled program.
    """
    written = event.written
    row = Positions(written.scope.tree.line_starts).row(written.start)
    where = f"line {row}" if written.scope is event.context.scope else f"{written.scope.path}:{row}"
    return Report(
        event.at,
        f"jit compiles `{event.name}` into a constant, so calls ignore that {where} changes it later; pass it as an argument",
        preview=True,
        unless=event.unless,
        uses=(Step(written.scope.path, written.start, row, "use", "", f"this rebinds `{event.name}`"),),
    )
