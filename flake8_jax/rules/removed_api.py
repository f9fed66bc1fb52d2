"""JAX801: see the page of ``removed_api``."""

from __future__ import annotations

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, rule
from flake8_jax.knowledge.history import show
from flake8_jax.rules._versions import elsewhere, history_of, instead, needed, subject, unreplaced
from flake8_jax.semantics.events.events import ApiUse, Span


@rule("JAX801", "error", fixable="sometimes")
def removed_api(event: ApiUse) -> Report | None:
    """The code uses a name or an argument that JAX or a related library has removed, or omits a now required one.

    In an annotation that Python does not evaluate the finding is a warning. A name that no release of a module ever had is
    reported too, if another module of JAX has it; otherwise only in preview, because a newer release may have it.

    ## Why is this bad?

    The import or the call raises when Python reaches it, perhaps long after an upgrade and deep in a run. `target-jax`, or
    what the project requires of `jax`, decides which releases count: the newest allowed release, or the newest known one if
    there is no upper bound. The table for JAX comes from its change log and was checked against its releases. Smaller tables
    exist for Flax, optax, Orbax, chex, Haiku and NumPyro. If a project pins JAX but not such a library, jaxlint does not
    report that library. A release of such a library does not count if it requires a newer JAX than the project allows.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def norm(params):
        squares = jax.tree_map(lambda p: jnp.sum(p * p), params)  # expect: removed-api
        return jnp.sqrt(jax.tree.reduce(jnp.add, squares))


    def demonstrate():  # raises: AttributeError
        norm({"w": jnp.ones(3)})
    ```

    ```python
    import jax.numpy as jnp


    def gate(x):
        return x * jnp.sigmoid(x)  # expect: removed-api


    def demonstrate():  # raises: AttributeError
        gate(jnp.ones(3))
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def norm(params):
        squares = jax.tree.map(lambda p: jnp.sum(p * p), params)
        return jnp.sqrt(jax.tree.reduce(jnp.add, squares))
    ```

    ## Not reported

    The old name, if the new one is missing.

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

    ## Limitations

    The rule does not model attributes of arrays, or names built at run time. For a project that ends below JAX 0.4.20 it
    reports only the 13 older names whose release is known.

    ## Fix safety

    Safe if another name does the same and every supported release has it: `jax.tree.map`, in place or by its import.

    ## How it is verified

    Reaching the line raises AttributeError, ImportError or (for an argument) TypeError.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX802 (`deprecated-api`), JAX803 (`too-new-api`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/changelog.html>
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
    message = f"{said}{instead(event, change) or unreplaced(event)}"
    return Report(Span(event.start, event.end), message, level="info" if event.postponed else None)
