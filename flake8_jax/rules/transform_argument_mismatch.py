"""JAX706: see the page of ``transform_argument_mismatch``."""

from __future__ import annotations

from collections.abc import Hashable

from flake8_jax.core import ir
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._key_walk import split_into_two
from flake8_jax.rules._keys import is_near, place
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._wording import located
from flake8_jax.semantics.events.events import FileRead, TransformMismatch


def report_once(candidates: list[Candidate]) -> list[Candidate]:
    """One report of the calls in a function whose arguments one function refuses in the same way."""
    return first_of_each(candidates, _cause)


def _cause(candidate: Candidate) -> Hashable:
    event = candidate.event
    if isinstance(event, TransformMismatch) and isinstance(event.at, ir.Call) and event.applied is None:
        return place_of(event.context, candidate.start), event.problem
    return candidate.path, candidate.start


@rule("JAX706", "error", raises="another error", settle=report_once)
def transform_argument_mismatch(event: TransformMismatch | FileRead) -> Report | list[Report] | None:
    """An option of a transform, such as `argnums`, does not fit the function, or the code unpacks the result wrongly.

    With `--preview`, the rule also reports `key, keys = jax.random.split(key, n + 1)`, which unpacks `n + 1` keys into two
    names.

    ## Why is this bad?

    The options of a transform must fit the function that it gets. `jax.grad(f, argnums=2)` needs a function `f` with
    at least three positional arguments. The function `jax.vmap(f, in_axes=(0, None))` must be called with two
    arguments. With `has_aux=True`, `f` must return a pair, and `jax.value_and_grad(f, has_aux=True)` returns
    `((value, aux), gradients)`. If the options do not fit, JAX or Python raises an error when the program calls the
    transformed function.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x, y):
        predicted = x @ w
        return jnp.mean((predicted - y) ** 2), predicted


    def update(w, x, y):
        value, predicted, grads = jax.value_and_grad(loss, has_aux=True)(w, x, y)  # expect: transform-argument-mismatch
        return w - 0.1 * grads, value, predicted


    def demonstrate():
        update(jnp.ones(2), jnp.ones((3, 2)), jnp.ones(3))  # raises: ValueError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x, y):
        predicted = x @ w
        return jnp.mean((predicted - y) ** 2), predicted


    def update(w, x, y):
        (value, predicted), grads = jax.value_and_grad(loss, has_aux=True)(w, x, y)
        return w - 0.1 * grads, value, predicted
    ```

    ## Not reported

    jaxlint does not report an `in_axes` that contains one axis for a whole pytree or a pytree of axes
    (`in_axes=({"w": 0, "b": None}, None)`), because JAX allows both. It does not report keyword arguments that
    `in_axes` does not name, because `vmap` maps them over axis 0.

    ```python
    import jax


    def apply(params, x, scale=1.0):
        return scale * (params["w"] * x + params["b"])


    def ensemble(params, x, scales):
        each = jax.vmap(apply, in_axes=({"w": 0, "b": None}, None))
        return each(params, x), each(params, x, scale=scales)
    ```

    ## Limitations

    The rule does not compare the lengths of the mapped axes, so it misses arguments of different lengths.

    ## Fix safety

    No fix. If the options and the function do not fit, only the author knows which of the two is wrong.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the call, or the assignment that
    unpacks its result, raises an error such as `TypeError` or `ValueError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX705 (`control-flow-signature`), JAX707 (`custom-rule-incomplete`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html>
    <https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html>
    """
    if isinstance(event, FileRead):
        return split_into_two(event)
    if event.context.presumed or event.context.caught:
        return None
    problem = event.problem
    if event.applied is not None and not is_near(event.applied, event.context, event.at):
        option, verb, rest = problem.partition(" has ")
        problem = f"{option} ({place(event.applied, event.context)}){verb}{rest}"
    return Report(event.at, located(event.context, event.at, problem, event.name))
