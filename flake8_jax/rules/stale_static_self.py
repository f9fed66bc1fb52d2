"""JAX511: see the page of ``stale_static_self``."""

from __future__ import annotations

from flake8_jax.core.findings import Positions, Step
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import as_parameter
from flake8_jax.semantics.events.events import StaleRead


@rule("JAX511", "error")
def stale_static_self(event: StaleRead) -> Report | None:
    """Compiled code reads an attribute or a captured variable that other code assigns again after the trace.

    The rule is on only with `--preview`. It reports an attribute or variable only if the project assigns it a new
    value and then calls the same compiled function again, on the same object.

    ## Why is this bad?

    A jitted method usually makes `self` static, and a captured variable (a variable of an enclosing function) is not
    an argument. JAX therefore reads an attribute or a captured variable once, at trace time, and makes its value a
    constant of the compiled program. If the program changes the value later, calls with arguments of the same shapes
    still use the old value. In reinforcement learning, for example, a target network that is an attribute keeps its
    first weights.

    ## Example

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

    ## Use instead

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

    ## Not reported

    jaxlint does not report a function that the code jits again after the change (`self.predict = jax.jit(…)`), because
    JAX then reads the new value. It does not report an attribute that the code sets only before the first call. JAX
    also traces a function again if a call passes another static argument or an array of another shape. And an
    attribute that the function itself changes, such as `self.traces += 1`, counts how often JAX traces it.

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

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    class Window:
        def __init__(self):
            self.width = 3
            self.traces = 0

        @partial(jax.jit, static_argnums=(0, 1))
        def first(self, width, x):
            self.traces += 1
            return x[: self.width]


    def main():
        window = Window()
        before = window.first(3, jnp.ones(10))
        window.width = 4
        window.traces = 0
        return before, window.first(4, jnp.ones(10))
    ```

    ## Limitations

    The rule misses changes that code outside the project makes. It also misses a Flax module that compiled code captures
    while an optimizer updates the module.

    ## Fix safety

    No fix. The attribute or the captured variable has to become an argument that every caller passes.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line that reads the value runs
    while JAX traces. It does not check whether the value changes afterwards.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX409 (`captured-constant`), JAX507 (`stale-global`), JAX501 (`global-write`), JAX502 (`captured-mutation`), JAX503
    (`self-write`), JAX508 (`cached-tracer`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/faq.html#how-to-use-jit-with-methods>
    """
    written = event.written
    row = Positions(written.scope.tree.line_starts).row(written.start)
    where = f"line {row}" if written.scope is event.context.scope else f"{written.scope.path}:{row}"
    problem = f"jit compiles `{event.name}` into a constant, so calls do not see the change in {where}"
    return Report(
        event.at,
        f"{problem}; {as_parameter(event.function)}",
        preview=True,
        unless=event.unless,
        uses=(Step(written.scope.path, written.start, row, "use", "", f"this rebinds `{event.name}`"),),
    )
