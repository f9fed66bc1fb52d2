"""JAX304: a constant seed in code that runs more than once.

Not modelled: seeds read from configuration; what code that nobody knows draws of a key.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import Context, LibraryCall
from flake8_jax.semantics.events.facts import DRAWN


@rule("JAX304", "warning", only=Subscription(where=frozenset({"staged", "loop"}), effects=frozenset({"make"})))
def constant_key(event: LibraryCall) -> Report | None:
    """A PRNG key is made from a constant seed inside of a staged function or a loop.

    Why it bites: the key is the same on every call and in every iteration, and so are all draws: dropout that always
    drops the same units, augmentation that never varies. Make the key once, outside, and pass it in.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def dropout(x):
        key = jax.random.key(0)  # expect: constant-key
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0.0)


    def demonstrate():
        assert jnp.array_equal(dropout(jnp.ones(64)), dropout(jnp.ones(64)))
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def dropout(key, x):
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0.0)


    def main():
        key = jax.random.key(0)
        steps = [dropout(jax.random.fold_in(key, step), jnp.ones(4)) for step in range(3)]
        print(jnp.stack(steps))


    if __name__ == "__main__":
        main()
    ```

    Also good: at module level, in tests, from a seed that is an argument, where only shapes are wanted, and where nothing
    is drawn of it: a key to begin with.

    ```python
    import jax
    import jax.numpy as jnp

    REFERENCE = jax.random.normal(jax.random.key(2024), (4,))


    def init(width):
        return jax.random.normal(jax.random.key(0), (width,))


    def shapes():
        return jax.eval_shape(lambda: jax.random.normal(jax.random.key(0), (8,)))


    @jax.jit
    def reset(n):
        return jax.random.key(0), jnp.zeros(3) + n


    def sample(seed, n):
        return jax.vmap(lambda s: jax.random.normal(jax.random.key(s), (n,)))(jnp.arange(3) + seed)


    def test_reference():
        for n in (1, 2):
            assert jax.random.normal(jax.random.key(1), (n,)).shape == (n,)
    ```

    Fix: none. The key has to come from the caller.

    Proof: two calls give equal draws.
    """
    context = event.context
    fact = event.fact
    if fact is None or fact.key_effect != "make" or not event.args or context.presumed or context.in_main:
        return None
    if not (context.staged or context.loop) or context.shapes_only or context.inner is None or is_test(context):
        return None
    if not isinstance(event.args[0], Const) or not _is_literal(event.nodes[0], context):
        return None
    each = "call of this traced code" if context.staged else "iteration"
    return Report(
        event.at,
        f"the seed is constant, so every {each} draws the same numbers; make the key outside and pass it in",
        given=DRAWN,
    )


def _is_literal(node: ir.Expr | None, context: Context) -> bool:
    """A literal, or a name of the module level: not an argument that happens to be constant, nor a loop's target.

    So is an attribute of such a name: ``settings.SEED``.
    """
    while isinstance(node, ir.Attribute):
        node = node.value
    if isinstance(node, ir.Name):
        return context.inner is not None and node.id not in context.inner.local_names
    return isinstance(node, ir.Constant)
