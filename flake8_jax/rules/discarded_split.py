"""JAX307: new keys are made and dropped. Not modelled: keys bound to names that nobody reads."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.events.events import Discarded

_MAKING = frozenset({"jax.random.split", "jax.random.fold_in", "jax.random.clone"})


@rule("JAX307", "warning", only=Subscription(names=_MAKING))
def discarded_split(event: Discarded) -> Report | None:
    """The result of `jax.random.split`, `fold_in` or `clone` is not used.

    Why it bites: these functions are pure. They do not advance the key that they are given, they return new ones, so
    the statement does nothing, and whoever wrote it believes that the key has changed.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def draw(key):
        jax.random.fold_in(key, 1)  # expect: discarded-split
        return jax.random.normal(key, (3,))


    def demonstrate():
        assert jnp.array_equal(draw(jax.random.key(0)), jax.random.normal(jax.random.key(0), (3,)))
    ```

    Good:

    ```python
    import jax


    def draw(key):
        key = jax.random.fold_in(key, 1)
        return jax.random.normal(key, (3,))
    ```

    Also good: other functions of these names.

    ```python
    import re


    class Tree:
        def __init__(self):
            self.parts = []

        def split(self, text):
            self.parts = re.split(",", text)


    def grow(text):
        tree = Tree()
        tree.split(text)
        return tree.parts
    ```

    Fix: none. Remove the statement, or use its result.

    Proof: the draws are those of the key itself.
    """
    if event.call_name not in _MAKING or event.context.presumed:
        return None
    function = spelled(event.context, event.at, event.call_name)
    return Report(
        event.at, f"{function}() returns new keys and changes nothing else; use its result or remove the call"
    )
