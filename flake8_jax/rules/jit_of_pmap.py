"""JAX605: see the page of ``jit_of_pmap``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import is_method_of_element, made_of
from flake8_jax.semantics.domain.values import PartialValue, TransformedValue, Value
from flake8_jax.semantics.events.events import Repetition, RootMet

_PMAPS = frozenset({"jax.pmap", "equinox.filter_pmap"})
_JITS = frozenset({"jax.jit", "equinox.filter_jit"})


@rule("JAX605", "warning")
def jit_of_pmap(event: RootMet | Repetition) -> Report | None:
    """A pmapped function is jitted, or a loop applies `pmap` to a new function in every iteration.

    ## Why is this bad?

    `pmap` already compiles its function for every device. A `jit` around it makes XLA gather all arguments on one
    device and scatter them again in every call, and JAX warns that this is slow. Remove the `jit`. In a loop, `pmap`
    of a new function compiles again in every iteration, because JAX finds compiled code only for the same function
    object. Apply `pmap` once, before the loop.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def advance(x):
        return 0.9 * x


    step = jax.jit(jax.pmap(advance))  # expect: jit-of-pmap, pmap


    def run(x, rates):
        for rate in rates:
            x = jax.pmap(lambda x: rate * x)(x)  # expect: jit-of-pmap, pmap
        return x


    def demonstrate():
        n = jax.local_device_count()
        run(jnp.ones(n), [0.5])
        assert "pmap" in str(jax.make_jaxpr(step)(jnp.ones(n)))
    ```

    ## Use instead

    On several devices, write `step = jax.pmap(advance)` without `jit`. On one device, `jax.jit` of `jax.vmap` computes the
    same:

    ```python
    import jax


    @jax.jit
    def advance(x):
        return 0.9 * x


    step = jax.jit(jax.vmap(advance))
    ```

    ## Limitations

    The rule misses a `pmap` in the code of a library that the project calls.

    ## Fix safety

    No fix. If the jitted function does more than call the pmapped function, only the author knows where the rest
    should run. In a loop, the author has to decide which captured values become arguments.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the line of the finding runs,
    because the source code shows that a `pmap` is inside the `jit` or the loop.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX401 (`jit-in-loop`), JAX402 (`jit-per-call`), JAX410 (`transform-in-loop`), JAX601 (`pmap`), JAX604
    (`missing-gradient-sync`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html>
    """
    if isinstance(event, Repetition):
        compiled = event.how == "compiled" and event.name in _PMAPS and not event.slight
        if not compiled or not event.own or is_test(event.context) or is_method_of_element(event):
            return None
        wrong = f"Each iteration passes {made_of(event.operand)} to `pmap`, so JAX recompiles it"
        # Of four such loops in unseen repositories one was worth a minute: most run once for a checkpoint or an epoch.
        return Report(
            event.at, f"{wrong}; apply `pmap` before the loop", "info", given=event.given, unless=event.unless
        )
    if event.name not in _JITS or event.context.presumed or not _is_pmapped(event.operand):
        return None
    return Report(
        event.at,
        "`jit` gathers the arguments of this pmapped function on one device; remove `jit`, because pmap already compiles",
    )


def _is_pmapped(value: Value) -> bool:
    while isinstance(value, (TransformedValue, PartialValue)):
        if isinstance(value, TransformedValue) and value.name in _PMAPS:
            return True
        value = value.operand if isinstance(value, TransformedValue) else value.func
    return False
