"""JAX307: see the page of ``discarded_split``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.events.events import Discarded

_MAKING = frozenset({"jax.random.split", "jax.random.fold_in", "jax.random.clone"})


@rule("JAX307", "warning", only=Subscription(names=_MAKING))
def discarded_split(event: Discarded) -> Report | None:
    """The result of `jax.random.split`, `fold_in` or `clone` is not used.

    ## Why is this bad?

    `split`, `fold_in` and `clone` are pure functions: they return new keys and do not change the key that they get. A
    statement that drops the new keys does nothing: later draws from the old key give the same numbers as without this
    statement.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def draw(key):
        jax.random.fold_in(key, 1)  # expect: discarded-split
        return jax.random.normal(key, (3,))


    def demonstrate():
        assert jnp.array_equal(draw(jax.random.key(0)), jax.random.normal(jax.random.key(0), (3,)))
    ```

    ## Use instead

    ```python
    import jax


    def draw(key):
        key = jax.random.fold_in(key, 1)
        return jax.random.normal(key, (3,))
    ```

    ## Not reported

    jaxlint does not report functions and methods with these names that do not belong to `jax.random`, such as
    `jnp.split`.

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

    ## Limitations

    The rule misses new keys that the code assigns to a name but never reads.

    ## Fix safety

    No fix. Only the author knows whether to use the result or to remove the statement.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the statement runs, because
    the source code shows that the program drops the new keys.

    ## Since

    0.2.0.

    ## Related rules

    JAX301 (`key-reuse`), JAX302 (`key-reuse-in-loop`), JAX303 (`key-used-after-split`), JAX309 (`same-constant-key`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/random-numbers.html>
    """
    if event.call_name not in _MAKING or event.context.presumed:
        return None
    function = spelled(event.context, event.at, event.call_name)
    return Report(
        event.at, f"{function}() returns new keys and changes nothing else; use its result or remove the call"
    )
