"""JAX605: ``pmap`` and ``jit`` in the wrong order. Not modelled: pmaps inside functions of other libraries."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import made_of
from flake8_jax.semantics.domain.values import PartialValue, TransformedValue, Value
from flake8_jax.semantics.events.events import Repetition, RootMet

_PMAPS = frozenset({"jax.pmap", "equinox.filter_pmap"})
_JITS = frozenset({"jax.jit", "equinox.filter_jit"})


@rule("JAX605", "warning")
def jit_of_pmap(event: RootMet | Repetition) -> Report | None:
    """A pmapped function is jitted, or a loop pmaps a new function in every iteration.

    Why it bites: `pmap` compiles its function already, for every device. A `jit` around it makes XLA move all
    arguments to one device and back at every call, and JAX warns that this is slow
    (<https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html>). Put the `jit` inside, or leave it out.
    And `pmap` keeps what it compiled by the identity of the function: apply it once, before the loop.

    Bad:

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

    Good:

    ```python
    import jax


    @jax.jit
    def advance(x):
        return 0.9 * x


    step = jax.jit(jax.vmap(advance))
    ```

    Fix: none. The `jit` can go, but the shapes of the arguments stay those of `pmap`.

    Proof: the jaxpr of the jitted function nests a `pmap`.
    """
    if isinstance(event, Repetition):
        compiled = event.how == "compiled" and event.name in _PMAPS and not event.slight
        if not compiled or not event.own or is_test(event.context):
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
