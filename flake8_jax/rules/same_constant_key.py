"""JAX309: two keys of one constant seed.

Limitations: seeds that are computed, ``fold_in`` with equal data, results that meet in an object alone.
"""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._keys import OUTCOMES, place
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.scopes import is_test_file
from flake8_jax.semantics.events.events import EqualKeys


@rule("JAX309", "warning")
def same_constant_key(event: EqualKeys) -> Report | None:
    """Two PRNG keys are made from one constant seed, and both are used for one result.

    Why it bites: `jax.random.key(0)` is the same key wherever it is written, so two layers start with the same weights, and
    noise is a copy of the signal. A shorter draw is the head of a longer one, and `normal` and `uniform` make their
    numbers of the same random bits. JAX's key checker is silent, because it takes them for two keys. Make one key, split it,
    and use each part once (<https://docs.jax.dev/en/latest/random-numbers.html>).

    This rule is a preview: in 8 of the 13 places that it names in 282 repositories, a change is worth the effort.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def init(width):
        return {
            "hidden": jax.random.normal(jax.random.key(0), (width, width)),
            "output": jax.random.normal(jax.random.key(0), (width, width)),  # expect: same-constant-key
        }


    def demonstrate():
        params = init(4)
        assert jnp.array_equal(params["hidden"], params["output"])
    ```

    Good:

    ```python
    import jax


    def init(width):
        hidden_key, output_key = jax.random.split(jax.random.key(0))
        return {
            "hidden": jax.random.normal(hidden_key, (width, width)),
            "output": jax.random.normal(output_key, (width, width)),
        }
    ```

    Also good: other seeds, other data in `fold_in`, branches of which one runs, results that are compared, shapes, and
    results that never meet.

    ```python
    import jax
    import jax.numpy as jnp


    def init(width, small):
        w = jax.random.normal(jax.random.fold_in(jax.random.key(0), 0), (width,))
        v = jax.random.normal(jax.random.fold_in(jax.random.key(0), 1), (width,))
        if small:
            scale = jax.random.uniform(jax.random.key(7))
        else:
            scale = 10.0 * jax.random.uniform(jax.random.key(7))
        return w, v, scale * jax.random.normal(jax.random.key(1), (width,))


    def is_reproducible(width):
        first = jax.random.normal(jax.random.key(0), (width,))
        second = jax.random.normal(jax.random.key(0), (width,))
        return jnp.array_equal(first, second)


    def shapes(width):
        abstract = jax.eval_shape(lambda: jax.random.normal(jax.random.key(1), (width,)))
        return jnp.zeros(abstract.shape), jax.random.normal(jax.random.key(1), (width,))


    def show(width):
        print(jax.random.normal(jax.random.key(3), (width,)))
        print(jax.random.uniform(jax.random.key(3), (width,)))
    ```

    Fix: none. Which of the two seeds may change, only the author knows.

    Proof: both lines run.
    """
    context = event.context
    if context.presumed or context.caught or is_test(context) or is_test_file(context.scope.path):
        return None
    if any(part.startswith("test") for part in event.function.split(".")):
        return None
    return Report(
        event.at,
        f"{quote(context, event.at, 'This key')} equals the key from {place(event.earlier, context)}, because both have seed "
        f"{event.seed}{OUTCOMES[event.shares]}; make one key and split it",
        preview=True,
    )
