"""JAX713: see the page of ``root_at_zero``."""

from __future__ import annotations

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.facts import GUARDED
from flake8_jax.semantics.events.roots import root_at_zero as root_of


def report_first(candidates: list[Candidate]) -> list[Candidate]:
    """One report in a function: its roots have one cause as a rule."""
    return first_of_each(candidates, lambda candidate: place_of(candidate.event.context, candidate.start))


@rule("JAX713", "warning", settle=report_first)
def root_at_zero(event: Computation) -> Report | None:
    """The code differentiates a square root or a norm at zero, where the gradient is NaN or infinite.

    The rule is on only with `--preview`, because it does not know which values occur. The finding is a warning if the
    code itself makes the operand zero, and otherwise a note:

    - It is a warning for the root of a value that the code clamps at zero (`sqrt(maximum(x, 0))`), and for the
      distances between all pairs of points, because the distance of a point to itself is zero.
    - It is a note for the norm of a difference, for the norm of an argument, and for the square of a norm.

    ## Why is this bad?

    The derivative of `sqrt(x)` at zero is infinite. The derivative of the clamp or of the sum of squares inside is zero
    there, and infinity times zero is NaN. One such element makes the gradients of all parameters NaN, because a gradient
    is a sum over all elements.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def outflow(height):
        return jnp.sum(jnp.sqrt(jnp.maximum(height, 0.0)))  # expect: root-at-zero


    def ridge(w, x, y):
        return jnp.mean((x @ w - y) ** 2) + jnp.linalg.norm(w) ** 2  # expect: root-at-zero


    def demonstrate():
        assert jnp.isnan(jax.grad(outflow)(jnp.array([-1.0, 4.0]))).any()
        assert jnp.isnan(jax.grad(ridge)(jnp.zeros(2), jnp.ones((3, 2)), jnp.ones(3))).all()
    ```

    ## Use instead

    Choose a positive operand where the root is not needed, or add a small number inside the root. Write the square of a
    norm as the sum of the squares.

    ```python
    import jax
    import jax.numpy as jnp


    def outflow(height):
        safe = jnp.where(height > 0.0, height, 1.0)
        return jnp.sum(jnp.where(height > 0.0, jnp.sqrt(safe), 0.0))


    def ridge(w, x, y):
        return jnp.mean((x @ w - y) ** 2) + jnp.sum(w**2)


    def train(w, x, y):
        return jax.grad(ridge)(w, x, y), jax.grad(outflow)(w)
    ```

    ## Not reported

    jaxlint does not report the root of a mean of squares (`jnp.sqrt(jnp.mean((x - y) ** 2))`), which is zero only for a
    perfect prediction. It does not report a root whose operand contains a small positive number, or a root that a
    `where` guards (JAX702 reports a `where` that guards only the value).

    ```python
    import jax
    import jax.numpy as jnp


    @jax.grad
    def loss(w, x, y):
        error = x @ w - y
        return jnp.sqrt(jnp.mean(error**2)) + jnp.sqrt(jnp.sum(w**2) + 1e-12)
    ```

    ## Limitations

    The rule sees only roots in code that the project differentiates. It does not know whether two points or vectors are
    ever equal.

    ## Fix safety

    No fix. Only the author knows what the value and the gradient should be at zero.

    ## How it is verified

    jaxlint cannot confirm the finding, because a run does not show the gradients, and the operand may be zero for some
    inputs only.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX702 (`where-nan-grad`), JAX703 (`unstable-expression`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where>
    """
    if event.context.scope.is_test:
        return None
    found = root_of(event)
    if found is None:
        return None
    level: Level | None = None if found.certain else "info"
    return Report(event.at, f"{quote(event.context, event.at)} {found.wrong}; {found.remedy}", level, True, GUARDED)
