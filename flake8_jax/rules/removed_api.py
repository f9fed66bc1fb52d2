"""JAX801: names that JAX, or a library around it, removed.

Not modelled: attributes of arrays, names put together at run time.
"""

from __future__ import annotations

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, rule
from flake8_jax.knowledge.history import show
from flake8_jax.rules._versions import elsewhere, history_of, instead, needed, subject
from flake8_jax.semantics.events.events import ApiUse, Span


@rule("JAX801", "error", fixable="sometimes")
def removed_api(event: ApiUse) -> Report | None:
    """A name or an argument is used that JAX, or a library around it, has removed, or an argument is missing that it now needs.

    Why it bites: the import or the call raises as soon as it is reached, perhaps long after an upgrade and deep in a
    run. (In an annotation that Python does not evaluate it is a note.) Which releases count is said by `target-jax`,
    or by what the project requires of `jax`: the newest release that it allows, and without an upper bound the newest
    known one. The table of JAX was made from its [change log](https://docs.jax.dev/en/latest/changelog.html) and checked
    against its releases; smaller ones, of what is certain, are there for Flax, optax, Orbax, chex, Haiku and NumPyro.
    A project that holds JAX back and says nothing of such a library is not told of that library. A release of such a
    library does not count if it requires a newer JAX than the project allows. A name that no release of a module ever had is
    named, too, if another module of JAX has it; else in preview, because a release that the tables do not know yet may.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def norm(params):
        squares = jax.tree_map(lambda p: jnp.sum(p * p), params)  # expect: removed-api
        return jnp.sqrt(jax.tree.reduce(jnp.add, squares))


    def demonstrate():  # raises: AttributeError
        norm({"w": jnp.ones(3)})
    ```

    Bad:

    ```python
    import jax.numpy as jnp


    def gate(x):
        return x * jnp.sigmoid(x)  # expect: removed-api


    def demonstrate():  # raises: AttributeError
        gate(jnp.ones(3))
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def norm(params):
        squares = jax.tree.map(lambda p: jnp.sum(p * p), params)
        return jnp.sqrt(jax.tree.reduce(jnp.add, squares))
    ```

    Also good: the old name where the new one is missing.

    ```python
    import jax

    if hasattr(jax, "tree"):
        tree_map = jax.tree.map
    else:
        tree_map = jax.tree_map

    try:
        from jax import shard_map
    except ImportError:
        from jax.experimental.shard_map import shard_map
    ```

    Fix: safe where another name does the same and every supported release has it: `jax.tree.map`, in place or by its
    import.

    Proof: reaching the line raises AttributeError, ImportError or (an argument) TypeError.
    """
    change = event.change
    if event.verdict == "never-there":
        home = elsewhere(event)
        message = f"{history_of(event).title} has no {subject(event)}{home}"
        level: Level | None = "info" if event.postponed else None if home else "warning"
        return Report(Span(event.start, event.end), message, level=level, preview=not home)
    if event.verdict != "removed" or change is None or change.removed is None:
        return None
    title = history_of(event).title
    when = f"{title} {show(change.removed)} removed" if change.removed else f"{title} no longer has"
    said = f"Since {title} {show(change.removed)}, {needed(event)}" if needed(event) else f"{when} {subject(event)}"
    message = f"{said}{instead(event, change)}"
    return Report(Span(event.start, event.end), message, level="info" if event.postponed else None)
