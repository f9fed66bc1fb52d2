"""JAX402: see the page of ``jit_per_call``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import made_of, per_call, short, this_function
from flake8_jax.rules._wording import listed
from flake8_jax.semantics.events.events import Repetition
from flake8_jax.semantics.events.per_call import CompiledPerCall


@rule("JAX402", "info")
def jit_per_call(event: Repetition | CompiledPerCall) -> Report | None:
    """A function that runs many times applies `jit` to a new function object and calls the result.

    The findings are notes: of 26 findings in public repositories, 8 were worth a change. In the other findings,
    the function captured values that differ from call to call, or each call did far more work than the compilation.

    By default, the rule reports functions that a loop calls. With `--preview`, it also reports functions for which a
    change saves less time, or which may run only once:

    - A function that a loop calls only once in many iterations (`if step % evaluate_every == 0`).
    - A function that applies `pmap` to a function which only calls a collective such as `jax.lax.pmean`.
    - A function that the project calls in several places, without a loop.
    - A public function of a package, with parameters, that the project itself does not call. The users of the package
      may call it many times. If the name of the function says so (`generate`), scripts that call it once do not count.
    - A function or a method that no code of the project calls, but whose name says that programs call it often, such as
      `predict`, `act` or `train_step`.

    ## Why is this bad?

    JAX caches compiled code by function identity: it finds the code only for the same function object. If a function
    makes a lambda, a local `def`, a `partial` or the result of `grad` or `vmap`, each call of the function makes a new
    object, so `jit` traces and compiles it again. Apply `jit` at module level, in the constructor or in a cached
    function.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def normalise(x, eps):
        return jax.jit(lambda v: (v - v.mean(0)) / (v.std(0) + eps))(x)  # expect: jit-per-call


    def preprocess(frames):
        return jnp.stack([normalise(frame, 1e-6) for frame in frames])


    def demonstrate():
        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration") and details.get("fun_name") == "jit(<lambda>)":
                compiled.append(seconds)

        jax.monitoring.register_event_duration_secs_listener(listen)
        preprocess([jnp.ones((4, 2))] * 5)
        assert len(compiled) == 5
    ```

    With `--preview`, jaxlint also reports a function that several places call, each outside a loop:

    ```python
    import jax
    import jax.numpy as jnp


    def solve(matrix, weight):
        @jax.jit  # expect: jit-per-call
        def step(x):
            return x - 0.01 * (matrix.T @ (matrix @ x) + weight * x)

        x = jnp.ones(matrix.shape[1])
        for _ in range(100):
            x = step(x)
        return x


    def compare(matrix):
        return solve(matrix, 0.1) - solve(matrix, 0.2)


    def demonstrate():
        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration") and details.get("fun_name") == "jit(step)":
                compiled.append(seconds)

        jax.monitoring.register_event_duration_secs_listener(listen)
        compare(jnp.eye(3))
        assert len(compiled) == 2
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def normalise(x, eps):
        return (x - x.mean(0)) / (x.std(0) + eps)


    def preprocess(frames):
        return jnp.stack([normalise(frame, 1e-6) for frame in frames])
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(x, matrix, weight):
        return x - 0.01 * (matrix.T @ (matrix @ x) + weight * x)


    def solve(matrix, weight):
        x = jnp.ones(matrix.shape[1])
        for _ in range(100):
            x = step(x, matrix, weight)
        return x
    ```

    ## Not reported

    jaxlint does not report code that runs once. It does not report a function that returns the jitted function, if the
    caller keeps the result (`step = make_step(model)` before a loop), because the function is then compiled only once.

    ```python
    import functools

    import jax
    import jax.numpy as jnp


    def scale(w, x):
        return x * w


    class Model:
        def __init__(self, w):
            self.w = w
            self.apply = jax.jit(functools.partial(scale, w))

        def run(self, batches):
            return [self.apply(x) for x in batches]


    @functools.cache
    def power(n):
        return jax.jit(lambda x: x**n)


    def main():
        shift = jax.jit(lambda x: x - 1.0)
        x = jnp.ones(3)
        for n in range(4):
            x = shift(power(n)(x))
        return Model(2.0).run([x, x])
    ```

    ## Limitations

    The rule sees only calls inside the project. It does not know how often the users of a library call a function, so
    it may report one that they call once, such as a function that trains a network for hours.

    ## Fix safety

    No fix. If `jit` moves out of the function, the author has to decide which captured values become arguments.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX compiles the same function again
    in a later call.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX401 (`jit-in-loop`), JAX410 (`transform-in-loop`), JAX605 (`jit-of-pmap`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching>
    """
    if isinstance(event, CompiledPerCall):
        return _report_repeated(event)
    if event.how != "compiled" or event.own or is_test(event.context):
        return None
    jit = short(event.name)
    advice = f"apply `{jit}` once, outside {this_function(event)}"
    return Report(
        event.at,
        f"{per_call(event)} passes {made_of(event.operand)} to `{jit}`, so JAX recompiles it; {advice}",
        preview=event.slight,
        given=event.given,
        unless=event.unless,
    )


_NAMED = 3


def _report_repeated(event: CompiledPerCall) -> Report | None:
    """A function that the program, or the users of a library, call again."""
    if is_test(event.context):
        return None
    jit, arguments = short(event.name), ""
    if event.captured:
        names = listed(event.captured[:_NAMED])
        arguments = f", and pass {names} as argument{'s' if len(event.captured) > 1 else ''}"
    problem = f"Each call of `{event.function.name}` passes {made_of(event.operand)} to `{jit}`, so JAX recompiles it"
    advice = f"apply `{jit}` once, outside `{event.function.name}`{arguments}"
    return Report(event.at, f"{problem}; {advice}", preview=True, given=event.given, unless=event.unless)
